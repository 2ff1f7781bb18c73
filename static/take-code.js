// The field for a program: the editor, once its script is there; before that, and without it, a plain field that indents.

import { element } from "./take-dom.js";
import { _ } from "./words.js";

const INDENT = "    ";
const LONGEST = 65536;
export const LANGUAGES = { python: "Python", javascript: "JavaScript", typescript: "TypeScript", sql: "SQL", bash: "Bash", java: "Java", go: "Go" };
export const COMMAND = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl+";

let loading = null;
export function loadEditor() {
  loading ??= import("./editor.js").catch(() => null);
  return loading;
}

export function coding(one, { onInput, onRun, kept }) {
  const control = element("textarea", { id: "answer", dir: "ltr", rows: 16, maxLength: LONGEST, className: "code", spellcheck: false, wrap: "off", autocapitalize: "off" });
  control.setAttribute("autocorrect", "off");
  control.setAttribute("aria-describedby", "answer-hint case-fault");
  const label = element("label", { htmlFor: "answer", textContent: _("Your code") });
  const hint = element("p", { className: "hint", id: "answer-hint", textContent: _("Tab indents; to leave the field, press Escape, then Tab. %(key)s runs the tests.", { key: `${COMMAND}Enter` }) });
  const body = element("div", { className: "field" }, label, control, hint);
  let editor = null;
  let language = one.language;

  control.addEventListener("input", () => onInput(control.value));
  indentsAndRuns(control, onRun);
  loadEditor().then((made) => {
    if (!made) return;
    const wasHere = document.activeElement === control;
    const selection = { anchor: control.selectionStart, head: control.selectionEnd };
    const host = element("div", { className: "editor", dir: "ltr" });
    control.replaceWith(host);
    label.removeAttribute("for");
    label.addEventListener("click", () => editor.focus());
    hint.textContent += " " + _("%(search)s searches, %(comment)s makes a comment.", { search: `${COMMAND}F`, comment: `${COMMAND}/` });
    editor = made.makeCode(host, { text: control.value, language, label: `${_("Your code")}. ${hint.textContent}`, longest: LONGEST, kept, onInput, onRun });
    if (!wasHere) return;
    editor.select(selection);
    editor.focus();
  });

  const text = () => (editor ? editor.text() : control.value);
  return {
    body,
    text,
    set: (value) => {
      const shown = value === undefined ? one.starter_code : (value ?? "");
      if (editor) editor.show(shown);
      else if (control.value !== shown) control.value = shown;
    },
    speak: (name) => {
      language = name;
      editor?.speak(name);
    },
    // A step that can be undone.
    replace: (value) => {
      if (editor) return editor.replace(value);
      control.select();
      insert(control, value);
    },
    focus: () => (editor ?? control).focus(),
    back: () => editor?.back(),
    keep: () => editor?.keep(),
  };
}

// Goes through the browser's own editing, so that undo knows of it.
function insert(control, text) {
  control.focus();
  if (document.execCommand(text ? "insertText" : "delete", false, text)) return;
  control.setRangeText(text, control.selectionStart, control.selectionEnd, "end");
  control.dispatchEvent(new Event("input"));
}

function indentsAndRuns(control, onRun) {
  let leaving = false;
  control.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      onRun();
    }
    if (event.key === "Tab" && !leaving) {
      event.preventDefault();
      shift(control, event.shiftKey);
    }
    if (event.key !== "Shift") leaving = event.key === "Escape";
  });
  control.addEventListener("focus", () => {
    leaving = false;
  });
}

// Indent at the cursor, or every line of the selection; back takes one indent off.
function shift(control, back) {
  const { value, selectionStart, selectionEnd } = control;
  if (selectionStart === selectionEnd && !back) return insert(control, INDENT);
  const from = value.lastIndexOf("\n", selectionStart - 1) + 1;
  const last = selectionEnd > selectionStart && value[selectionEnd - 1] === "\n" ? selectionEnd - 1 : value.indexOf("\n", selectionEnd);
  const to = last < 0 ? value.length : last;
  const lines = value.slice(from, to).split("\n");
  const shifted = lines.map((line) => (back ? line.replace(/^( {1,4}|\t)/, "") : line && INDENT + line)).join("\n");
  if (shifted === value.slice(from, to)) return;
  control.setSelectionRange(from, to);
  insert(control, shifted);
  control.setSelectionRange(from, from + shifted.length);
}
