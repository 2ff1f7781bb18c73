// Two parts side by side, with a divider between them that moves by mouse, finger and keyboard.

import { element } from "./take-dom.js";
import { _ } from "./words.js";

const [LEAST, MOST, STEP, USUAL] = [20, 70, 2, 40]; // percent of the width for the first part
const KEY = "take:divider";

// In languages that are written to the left the first part stands on the right.
const isToLeft = () => document.documentElement.dir === "rtl";
const ahead = (step) => (isToLeft() ? -step : step);

export function sideBySide(first, second) {
  const divider = element("div", { className: "divider", role: "separator", tabIndex: 0 });
  const box = element("div", { className: "split" }, first, divider, second);
  const place = (percent) => {
    const at = Math.round(Math.min(MOST, Math.max(LEAST, percent)));
    box.style.setProperty("--first", `${at}%`);
    divider.setAttribute("aria-valuenow", at);
    return at;
  };
  const move = (percent) => remember(place(percent));
  const now = () => Number(divider.getAttribute("aria-valuenow"));
  for (const [name, value] of Object.entries({ label: _("Width of the task beside your code"), orientation: "vertical", valuemin: LEAST, valuemax: MOST })) {
    divider.setAttribute(`aria-${name}`, value);
  }
  divider.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: now() - ahead(STEP), ArrowRight: now() + ahead(STEP), Home: LEAST, End: MOST }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    move(to);
  });
  divider.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    divider.focus();
    divider.setPointerCapture(event.pointerId);
  });
  divider.addEventListener("pointermove", (event) => {
    if (!divider.hasPointerCapture(event.pointerId)) return;
    const { left, width } = box.getBoundingClientRect();
    move(((isToLeft() ? left + width - event.clientX : event.clientX - left) / width) * 100);
  });
  divider.addEventListener("dblclick", () => move(USUAL));
  const again = () => place(remembered());
  again();
  return { body: box, again };
}

function remembered() {
  try {
    return Number(localStorage.getItem(KEY)) || USUAL;
  } catch {
    return USUAL;
  }
}

function remember(percent) {
  try {
    localStorage.setItem(KEY, percent);
  } catch {
    // It is only as wide as usual the next time.
  }
}
