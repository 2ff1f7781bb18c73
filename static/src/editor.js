// The editor of every page that has one. It lives below a shadow root, where its styles need no exception from the
// page's security policy.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, indentLess, indentMore } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { Compartment, countColumn, EditorSelection, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { _ } from "../words.js";

// Each comes when it is first spoken; without network a program has no colours until then.
const LANGUAGES = {
  python: () => import("./languages/python.js").then(({ support }) => support()),
  javascript: () => import("./languages/javascript.js").then(({ support }) => support()),
  typescript: () => import("./languages/javascript.js").then(({ support }) => support({ typescript: true })),
  sql: () => import("./languages/sql.js").then(({ support }) => support()),
  java: () => import("./languages/java.js").then(({ support }) => support()),
  go: () => import("./languages/go.js").then(({ support }) => support()),
  bash: () => import("./languages/bash.js").then(({ support }) => support()),
};

export const learn = (name) => (LANGUAGES[name] ?? LANGUAGES.python)().catch(() => []);

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "var(--syntax-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--syntax-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--syntax-number)" },
  { tag: [tags.comment], color: "var(--syntax-comment)", fontStyle: "italic" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.definition(tags.function(tags.variableName))], color: "var(--syntax-function)" },
  { tag: [tags.typeName, tags.className, tags.standard(tags.name)], color: "var(--syntax-type)" },
]);

// What the editor itself says.
const SAID = Object.fromEntries(
  [
    ["Find", _("Find")], ["Replace", _("Replace")], ["next", _("next")], ["previous", _("previous")], ["all", _("all")],
    ["match case", _("match case")], ["regexp", _("regexp")], ["by word", _("by word")], ["replace", _("replace")],
    ["replace all", _("replace all")], ["close", _("close")], ["current match", _("current match")], ["on line", _("on line")],
    ["replaced $ matches", _("replaced $ matches")], ["replaced match on line $", _("replaced match on line $")],
    ["Go to line", _("Go to line")], ["go", _("go")], ["Completions", _("Completions")], ["Selection deleted", _("Selection deleted")],
  ],
);

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--code)", fontSize: ".925rem" },
  "&.cm-focused": { outline: "none" }, // it is around the whole of it (style.css): inside, the gutter would cover it
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--ink)", minHeight: "12rem" },
  ".cm-cursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--code)", color: "var(--soft)", border: "none", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 8%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  ".cm-matchingBracket": { backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent)", outline: "1px solid var(--accent)" },
  // Where the system's colours are forced upon the page, grounds vanish: what is selected has to be seen.
  "@media (forced-colors: active)": {
    ".cm-selectionLayer .cm-selectionBackground": {
      forcedColorAdjust: "none", backgroundColor: "color-mix(in srgb, Highlight 40%, transparent) !important",
    },
  },
  ".cm-tooltip": { backgroundColor: "var(--sheet)", color: "var(--ink)", border: "1px solid var(--line-strong)" },
});

// Tab indents what is selected, else it goes on to the next stop; whoever works with the keyboard leaves the editor with
// Escape, then Tab.
function indent(view) {
  if (view.state.selection.ranges.some((one) => !one.empty)) return indentMore(view);
  const unit = view.state.facet(indentUnit);
  view.dispatch(view.state.changeByRange(({ head }) => {
    const before = countColumn(view.state.doc.lineAt(head).text.slice(0, head - view.state.doc.lineAt(head).from), view.state.tabSize);
    const insert = unit.slice(before % unit.length);
    return { changes: { from: head, insert }, range: EditorSelection.cursor(head + insert.length) };
  }), { scrollIntoView: true, userEvent: "input.indent" });
  return true;
}

function indenting() {
  let leaving = false;
  return [
    EditorView.domEventHandlers({ keydown(event) { if (!["Escape", "Tab", "Shift"].includes(event.key)) leaving = false; }, blur() { leaving = false; } }),
    keymap.of([
      { key: "Escape", run: () => { leaving = true; return false; } },
      { key: "Tab", run: (view) => !leaving && indent(view) },
      { key: "Shift-Tab", run: (view) => !leaving && indentLess(view) },
    ]),
  ];
}

/** Make what writing needs beside the text: brackets that close, completion when asked for, indenting by Tab. */
export const writing = () => [
  closeBrackets(), autocompletion({ activateOnTyping: false }), indenting(),
  keymap.of([...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap]),
];

/** Make what reading needs. */
export const reading = () => [EditorState.readOnly.of(true), keymap.of(defaultKeymap)];

/** Make an editor in an element; `more` are its page's own extensions, `kept` a state that was kept, by the fields that it has. */
export function makeEditor(parent, { doc, language = "python", label = _("Code"), more, kept = null, fields = {} }) {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: "open" });
  root.replaceChildren();
  const spoken = new Compartment();
  const extensions = [
    lineNumbers(), highlightSpecialChars(), drawSelection(), indentOnInput(), bracketMatching(), highlightActiveLine(),
    syntaxHighlighting(colours), look, indentUnit.of("    "), EditorState.tabSize.of(4),
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", spellcheck: "false", autocapitalize: "off", autocorrect: "off" }),
    spoken.of([]),
    EditorState.phrases.of(SAID),
    ...more,
  ];
  const state = kept ? EditorState.fromJSON(kept, { extensions }, fields) : EditorState.create({ doc, extensions });
  const view = new EditorView({ root, parent: root, state });
  let asked = null;
  async function speak(name) {
    if (asked === name) return;
    asked = name;
    const support = await learn(name);
    if (asked === name) view.dispatch({ effects: spoken.reconfigure(support) });
  }
  speak(language);
  return {
    view,
    focus: () => view.focus(),
    speak,
    show: (code) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: code } }),
    text: () => view.state.doc.toString(),
    end: () => {
      asked = null;
      view.destroy();
    },
  };
}
