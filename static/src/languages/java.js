export { java as support } from "@codemirror/lang-java";
