// The rules of the assessment: what is prevented, what is reported, and telling the candidate so.

import { _ } from "./words.js";

const QUIET_MS = 1000; // one paste is one signal, however many events it makes
const RETRY_MS = 5000;

export function canFullscreen() {
  return Boolean(document.fullscreenEnabled);
}

export async function enterFullscreen() {
  try {
    await document.documentElement.requestFullscreen();
  } catch {
    // The browser said no; the page works without.
  }
}

export function watch({ rules, organisation, api, currentOrder, isOver }) {
  const notice = document.getElementById("notice");
  const back = document.getElementById("to-fullscreen");
  const last = {};
  const waiting = [];
  let leaving = false;
  let sending = false;

  function signal(type, text) {
    if (isOver() || Date.now() - (last[type] ?? 0) < QUIET_MS) return;
    last[type] = Date.now();
    waiting.push({ violation_type: type, case_order: currentOrder() });
    deliver();
    tell(text + " " + _("This has been noted for %(name)s.", { name: organisation }));
  }

  async function deliver() {
    if (sending) return;
    sending = true;
    while (waiting.length) {
      const result = await api.report(waiting[0]);
      if (!result.ok && result.kind === "offline") break;
      waiting.shift();
    }
    sending = false;
    if (waiting.length) setTimeout(deliver, RETRY_MS);
  }
  addEventListener("online", deliver);

  function tell(text) {
    document.getElementById("notice-text").textContent = text;
    document.getElementById("announce").textContent = text;
    notice.hidden = false;
  }

  function offerFullscreen() {
    back.hidden = !canFullscreen() || Boolean(document.fullscreenElement);
  }

  document.getElementById("dismiss").addEventListener("click", () => {
    notice.hidden = true;
  });
  back.addEventListener("click", enterFullscreen);

  if (rules.enforce_fullscreen) {
    document.addEventListener("fullscreenchange", () => {
      offerFullscreen();
      if (document.fullscreenElement) notice.hidden = true;
      else if (!leaving) signal("fullscreen", _("You left full screen."));
    });
    if (canFullscreen() && !document.fullscreenElement) {
      offerFullscreen();
      document.getElementById("notice-text").textContent = _("This assessment is to be taken in full screen.");
      notice.hidden = false;
    }
  }

  if (rules.copy_paste_disabled) {
    let own = null; // what was last cut or copied out of one's own answer: it may be put back
    const noted = (event) => {
      event.preventDefault();
      signal("copy_paste", _("Copying the tasks and pasting from elsewhere are switched off here."));
    };
    for (const type of ["copy", "cut", "dragstart"]) {
      document.addEventListener(type, (event) => {
        if (answerOf(event)) own = carried(event) || selectedIn(answerOf(event));
        else if (type !== "dragstart") noted(event);
      });
    }
    for (const type of ["paste", "drop"]) {
      // Before the editor sees them: it takes no notice of what is prevented.
      document.addEventListener(type, (event) => {
        const brought = same(carried(event));
        if (!brought || !answerOf(event) || brought !== same(own ?? "")) noted(event);
      }, true);
    }
  }

  if (rules.focus_reported) {
    // Judged by whether the page can be seen: the address bar or a password manager take the focus and hide nothing.
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden" && !leaving) signal("focus_loss", _("You went to another tab or window, and this page was hidden."));
    });
  }
  // A reload or a closed page is not a look elsewhere.
  for (const type of ["beforeunload", "pagehide"]) {
    addEventListener(type, () => {
      leaving = true;
      setTimeout(() => {
        leaving = false; // it came to nothing
      }, QUIET_MS);
    });
  }
  return { signal }; // what others note, such as a recording that ended, goes the same way
}

// The field of an answer that an event is in, below the editor's shadow root too.
const answerOf = (event) => event.composedPath().find((one) => one.id === "answer" || one.id === "own-input");
const carried = (event) => (event.clipboardData ?? event.dataTransfer)?.getData("text/plain") ?? "";
const selectedIn = (field) => (field.value ?? "").slice(field.selectionStart, field.selectionEnd);
const same = (text) => text.replace(/\r\n?/g, "\n").trim();
