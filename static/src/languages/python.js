export { python as support } from "@codemirror/lang-python";
