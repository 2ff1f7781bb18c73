// The editor of a case's code in the candidate's page: with search, and an undo that is kept.

import { history, historyField, historyKeymap } from "@codemirror/commands";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Annotation, EditorState, Prec, Transaction } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { makeEditor, writing } from "./editor.js";

export { learn } from "./editor.js";

const FIELDS = { history: historyField };
const fromElsewhere = Annotation.define();

const look = EditorView.theme({
  ".cm-panels": { backgroundColor: "var(--sheet)", color: "var(--ink)", zIndex: "1" },
  ".cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: ".4rem 2.25rem .4rem .5rem", fontFamily: "system-ui, sans-serif" },
  ".cm-panel.cm-search label": { fontSize: ".85rem" },
  ".cm-panel.cm-search [name=close]": { padding: "0 .6rem", color: "var(--ink)", fontSize: "1.2rem" },
  ".cm-textfield": { backgroundColor: "var(--sheet)", border: "1px solid var(--line-strong)", borderRadius: "5px", padding: ".25rem .4rem", fontSize: ".85rem" },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--code)", border: "1px solid var(--line-strong)", borderRadius: "5px", padding: ".25rem .6rem", fontSize: ".85rem" },
  ".cm-button:active": { backgroundImage: "none", backgroundColor: "var(--accent-tint)" },
  ".cm-searchMatch": { backgroundColor: "var(--warn-tint)", outline: "1px solid var(--warn)" },
  ".cm-searchMatch-selected": { backgroundColor: "color-mix(in srgb, var(--warn) 35%, transparent)" },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--accent) 14%, transparent)" },
  ":focus-visible": { outline: "2px solid var(--accent)" },
  "&.cm-focused :focus-visible": { outline: "none" },
});

/** Make an editor that reads like the field it takes the place of; `kept` is what `keep` gave before the page was loaded again. */
export function makeCode(parent, { text, language, label, longest, kept, onInput, onRun }) {
  const changed = EditorView.updateListener.of((update) => {
    if (update.docChanged && !update.transactions.some((one) => one.annotation(fromElsewhere))) onInput(update.state.doc.toString());
  });
  const bounded = EditorState.changeFilter.of((one) => (
    one.newDoc.length <= longest || one.newDoc.length <= one.startState.doc.length || Boolean(one.annotation(fromElsewhere))
  ));
  const run = { key: "Mod-Enter", run: () => { onRun(); return true; } };
  const more = [
    look, history(), search({ top: true }), highlightSelectionMatches(), changed, bounded,
    EditorView.contentAttributes.of({ id: "answer" }),
    Prec.high(keymap.of([run, ...searchKeymap, ...historyKeymap])), ...writing(),
  ];
  const make = (state) => makeEditor(parent, { doc: text, language, label, more, kept: state, fields: FIELDS });
  const editor = (kept && attempt(() => make(kept))) || make(null);
  const { view } = editor;

  // What another tab or device wrote is no step of one's own to undo.
  function show(next) {
    const wanted = next.replace(/\r\n?/g, "\n"), now = view.state.doc.toString();
    if (wanted === now) return;
    let from = 0, tail = 0;
    const most = Math.min(wanted.length, now.length);
    while (from < most && wanted[from] === now[from]) from += 1;
    while (tail < most - from && wanted.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
    view.dispatch({
      changes: { from, to: now.length - tail, insert: wanted.slice(from, wanted.length - tail) },
      annotations: [fromElsewhere.of(true), Transaction.addToHistory.of(false)],
    });
  }
  show(text);

  return {
    show,
    text: editor.text,
    focus: editor.focus,
    select: (selection) => view.dispatch({ selection, scrollIntoView: true }),
    speak: editor.speak,
    /** Put a text in the place of what there is, as a step that can be undone. */
    replace: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next }, selection: { anchor: 0 }, userEvent: "input.reset" }),
    /** Look at where one was, after the editor was away from the page. */
    back: () => view.dispatch({ effects: EditorView.scrollIntoView(view.state.selection.main, { y: "center" }) }),
    keep: () => view.state.toJSON(FIELDS),
  };
}

// What was kept may be of another version.
function attempt(work) {
  try {
    return work();
  } catch {
    return null;
  }
}
