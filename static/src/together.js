// What several people at one text need: the text of a yjs document in the editor, and where the others' cursors stand.

import { Annotation } from "@codemirror/state";
import { Decoration, EditorView, keymap, ViewPlugin, WidgetType } from "@codemirror/view";
import { yCollab, yUndoManagerKeymap } from "y-codemirror.next";
import * as Y from "yjs";
import { writing } from "./editor.js";

const look = EditorView.theme({
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

/** Make the extensions for writing into a text of a document together; its own cursors have styles that the page's policy forbids. */
export const together = (text, name, awareness) => [
  look, keymap.of(yUndoManagerKeymap), ...writing(), yCollab(text, null), cursors(text, name, awareness),
];
