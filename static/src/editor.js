// The editor: CodeMirror over one text of a yjs document. It lives below a shadow root, where its styles need no
// exception from the page's security policy.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, indentLess, indentMore } from "@codemirror/commands";
import { go } from "@codemirror/lang-go";
import { java } from "@codemirror/lang-java";
import { javascript } from "@codemirror/lang-javascript";
import { python } from "@codemirror/lang-python";
import { PostgreSQL, sql } from "@codemirror/lang-sql";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { Annotation, Compartment, EditorState } from "@codemirror/state";
import {
  Decoration, drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers, ViewPlugin, WidgetType,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { yCollab, yUndoManagerKeymap } from "y-codemirror.next";
import * as Y from "yjs";

const LANGUAGES = {
  python: () => python(),
  javascript: () => javascript(),
  typescript: () => javascript({ typescript: true }),
  sql: () => sql({ dialect: PostgreSQL }),
  java: () => java(),
  go: () => go(),
  bash: () => StreamLanguage.define(shell),
};

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "var(--syntax-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--syntax-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--syntax-number)" },
  { tag: [tags.comment], color: "var(--syntax-comment)", fontStyle: "italic" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.definition(tags.function(tags.variableName))], color: "var(--syntax-function)" },
  { tag: [tags.typeName, tags.className, tags.standard(tags.name)], color: "var(--syntax-type)" },
]);

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
  ".cm-tooltip": { backgroundColor: "var(--sheet)", color: "var(--ink)", border: "1px solid var(--line-strong)" },
  ".cm-other": { position: "relative", borderLeft: "2px solid var(--other)", marginLeft: "-1px" },
  ".cm-other-name": {
    position: "absolute", bottom: "100%", left: "-2px", zIndex: "3", padding: "0 .35em", borderRadius: "4px 4px 4px 0", fontFamily: "system-ui, sans-serif",
    fontSize: ".72rem", lineHeight: "1.5", whiteSpace: "nowrap", color: "var(--sheet)", backgroundColor: "var(--other)", pointerEvents: "none",
  },
  ".cm-other-selection": { backgroundColor: "color-mix(in srgb, var(--other) 25%, transparent)" },
});

class OthersCursor extends WidgetType {
  constructor(name) { super(); this.name = name; }
  eq(other) { return other.name === this.name; }
  toDOM() {
    const mark = document.createElement("span");
    mark.className = "cm-other";
    mark.setAttribute("aria-hidden", "true");
    const name = document.createElement("span");
    name.className = "cm-other-name";
    name.textContent = this.name;
    mark.append("\u2060", name, "\u2060");
    return mark;
  }
  ignoreEvent() { return true; }
}

const moved = Annotation.define();

// Where the others' cursors stand, as the awareness says.
function cursors(text, name, awareness) {
  return ViewPlugin.fromClass(class {
    constructor(view) {
      this.decorations = Decoration.none;
      this.heard = ({ added, updated, removed }, origin) => {
        if (origin !== "local") queueMicrotask(() => view.dispatch({ annotations: moved.of([added, updated, removed]) }));
      };
      awareness.on("change", this.heard);
      this.decorations = this.draw(view);
    }
    destroy() { awareness.off("change", this.heard); }
    update(update) {
      if (update.selectionSet || update.docChanged || update.focusChanged) this.tell(update);
      this.decorations = this.draw(update.view);
    }
    tell(update) {
      const range = update.state.selection.main;
      const here = update.view.hasFocus && {
        text: name,
        anchor: Y.relativePositionToJSON(Y.createRelativePositionFromTypeIndex(text, range.anchor)),
        head: Y.relativePositionToJSON(Y.createRelativePositionFromTypeIndex(text, range.head)),
      };
      const before = awareness.getLocalState()?.cursor ?? null;
      if (here && JSON.stringify(before) !== JSON.stringify(here)) {
        queueMicrotask(() => awareness.setLocalStateField("cursor", here));
      }
    }
    draw(view) {
      const marks = [];
      const length = view.state.doc.length;
      for (const [id, state] of awareness.getStates()) {
        if (id === awareness.clientID || state.cursor?.text !== name) continue;
        const place = (json) => Y.createAbsolutePositionFromRelativePosition(Y.createRelativePositionFromJSON(json), text.doc)?.index;
        const [anchor, head] = [place(state.cursor.anchor), place(state.cursor.head)];
        if (anchor == null || head == null || Math.max(anchor, head) > length) continue;
        if (anchor !== head) marks.push(Decoration.mark({ class: "cm-other-selection" }).range(Math.min(anchor, head), Math.max(anchor, head)));
        marks.push(Decoration.widget({ widget: new OthersCursor(String(state.name ?? "")), side: head < anchor ? -1 : 1 }).range(head));
      }
      return Decoration.set(marks, true);
    }
  }, { decorations: (plugin) => plugin.decorations });
}

// Tab indents; whoever works with the keyboard leaves the editor with Escape, then Tab.
function indenting() {
  let leaving = false;
  return [
    EditorView.domEventHandlers({ keydown(event) { if (!["Escape", "Tab", "Shift"].includes(event.key)) leaving = false; }, blur() { leaving = false; } }),
    keymap.of([
      { key: "Escape", run: () => { leaving = true; return false; } },
      { key: "Tab", run: (view) => !leaving && indentMore(view) },
      { key: "Shift-Tab", run: (view) => !leaving && indentLess(view) },
    ]),
  ];
}

/** Make an editor in an element, over a text; `plain` shows it without a document, for a replay. */
export function makeEditor(parent, { text = null, name = "code", awareness = null, language = "python", label = "Code", plain = null }) {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: "open" });
  root.replaceChildren();
  const spoken = new Compartment();
  const locked = new Compartment();
  const state = (doc, more) => EditorState.create({
    doc,
    extensions: [
      lineNumbers(), highlightSpecialChars(), drawSelection(), indentOnInput(), bracketMatching(), highlightActiveLine(),
      syntaxHighlighting(colours), look, indentUnit.of("    "), EditorState.tabSize.of(4),
      EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", spellcheck: "false", autocapitalize: "off", autocorrect: "off" }),
      spoken.of((LANGUAGES[language] ?? LANGUAGES.python)()),
      locked.of([]),
      ...more,
    ],
  });
  const together = () => [
    closeBrackets(), autocompletion({ activateOnTyping: false }), indenting(),
    yCollab(text, null), cursors(text, name, awareness), // its own cursors have styles that the page's policy forbids
    keymap.of([...yUndoManagerKeymap, ...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap]),
  ];
  const alone = () => [EditorState.readOnly.of(true), keymap.of(defaultKeymap)];
  const view = new EditorView({
    root, parent: root,
    state: plain === null ? state(text.toString(), together()) : state(plain, alone()),
  });
  return {
    view,
    focus: () => view.focus(),
    speak: (next) => view.dispatch({ effects: spoken.reconfigure((LANGUAGES[next] ?? LANGUAGES.python)()) }),
    lock: (is) => view.dispatch({ effects: locked.reconfigure(is ? [EditorState.readOnly.of(true), EditorView.editable.of(false)] : []) }),
    show: (code) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: code } }),
    text: () => view.state.doc.toString(),
    end: () => view.destroy(),
  };
}
