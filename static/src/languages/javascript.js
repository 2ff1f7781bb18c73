export { javascript as support } from "@codemirror/lang-javascript";
