export { go as support } from "@codemirror/lang-go";
