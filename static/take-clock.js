// The server owns the time: this only counts down to its deadline, on its clock.

import { attempt } from "./take-storage.js";
import { _ } from "./words.js";

const WARNINGS = [
  { seconds: 60, level: "last", text: _("Less than one minute left.") },
  { seconds: 300, level: "soon", text: _("Less than five minutes left.") },
  { seconds: 900, level: "later", text: _("Less than fifteen minutes left.") },
];

const OFFSET = "take:clock";

// `allowed` is the time there was, in seconds: nobody is warned of what was never more.
export function makeClock({ allowed, onWarning, onLastSeconds, onZero }) {
  const warnings = WARNINGS.filter((one) => allowed === null || one.seconds < allowed);
  let offset = 0;
  let deadline = null;
  let level = "";
  let flushed = false;
  let timer = null;
  const text = document.getElementById("clock-text");
  const box = document.getElementById("clock");

  const now = () => Date.now() + offset;

  // The server's moment lies between sending and receiving; the middle is off by half of that at most.
  function sync(serverTime, sentAt, receivedAt) {
    offset = Date.parse(serverTime) - (sentAt + receivedAt) / 2;
    attempt(() => localStorage.setItem(OFFSET, offset));
  }

  // Without a word of the server's: what its clock and this device's last differed by.
  function recall() {
    offset = Number(attempt(() => localStorage.getItem(OFFSET))) || 0;
  }

  function run(deadlineAt) {
    deadline = deadlineAt ? Date.parse(deadlineAt) : null;
    flushed = false;
    clearTimeout(timer);
    if (deadline === null) text.textContent = _("No time limit");
    else tick();
  }

  // Extra time may be given while the session runs: every save tells the deadline.
  function follow(deadlineAt) {
    if (deadlineAt && Date.parse(deadlineAt) !== deadline) run(deadlineAt);
  }

  function tick() {
    const left = deadline - now();
    text.textContent = written(Math.max(0, Math.ceil(left / 1000)));
    warn(left / 1000);
    if (left <= 3000 && !flushed) {
      flushed = true;
      onLastSeconds();
    }
    if (left <= 0) return onZero();
    // Wake just after the shown second changes.
    timer = setTimeout(tick, Math.min(left, left % 1000 || 1000) + 5);
  }

  function warn(seconds) {
    const reached = warnings.find((one) => seconds <= one.seconds);
    if ((reached?.level ?? "") === level) return;
    level = reached?.level ?? "";
    box.dataset.level = level;
    if (reached && seconds > 0) onWarning(reached.text);
  }

  return { now, sync, recall, run, follow, stop: () => clearTimeout(timer), nearEnd: () => deadline !== null && deadline - now() < 6000 };
}

function written(seconds) {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [hours, minutes, rest] = parts.map((part) => String(part).padStart(2, "0"));
  return parts[0] ? `${parts[0]}:${minutes}:${rest}` : `${minutes}:${rest}`;
}
