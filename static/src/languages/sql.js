import { PostgreSQL, sql } from "@codemirror/lang-sql";

export const support = () => sql({ dialect: PostgreSQL });
