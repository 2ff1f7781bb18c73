// The rules of the assessment: what is prevented, what is reported, and telling the candidate so.

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
  let away = false;
  let sending = false;

  function signal(type, text) {
    if (isOver() || Date.now() - (last[type] ?? 0) < QUIET_MS) return;
    last[type] = Date.now();
    waiting.push({ violation_type: type, case_order: currentOrder() });
    deliver();
    say(`${text} This has been noted for ${organisation}.`);
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

  function say(text) {
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
      else if (!leaving) signal("fullscreen", "You left full screen.");
    });
    if (canFullscreen() && !document.fullscreenElement) {
      offerFullscreen();
      document.getElementById("notice-text").textContent = "This assessment is to be taken in full screen.";
      notice.hidden = false;
    }
  }

  if (rules.copy_paste_disabled) {
    for (const type of ["copy", "cut", "paste", "drop"]) {
      document.addEventListener(type, (event) => {
        event.preventDefault();
        signal("copy_paste", "Copying and pasting are switched off here.");
      });
    }
  }

  if (rules.focus_reported) {
    const left = () => {
      if (away || leaving) return;
      away = true;
      signal("focus_loss", "You went to another tab or window.");
    };
    const returned = () => {
      away = false;
      leaving = false;
    };
    document.addEventListener("visibilitychange", () => (document.visibilityState === "hidden" ? left() : returned()));
    addEventListener("blur", left);
    addEventListener("focus", returned);
    addEventListener("pageshow", returned);
  }
  // A reload or a closed page is not a look elsewhere.
  for (const type of ["beforeunload", "pagehide"]) {
    addEventListener(type, () => {
      leaving = true;
    });
  }
}
