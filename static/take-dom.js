// What the page is built of.

import { _ } from "./words.js";

export function element(tag, properties = {}, ...children) {
  const { dataset, ...rest } = properties;
  const made = Object.assign(document.createElement(tag), rest);
  Object.assign(made.dataset, dataset);
  made.append(...children);
  return made;
}

// What may scroll sideways has to be reached by keyboard, too.
export function scrollable(made, label) {
  made.tabIndex = 0;
  made.setAttribute("role", "group");
  made.setAttribute("aria-label", label);
  return made;
}

export const block = (label, content) => scrollable(element("pre", { dir: "ltr", textContent: content || _("(nothing)") }), label);
