// Before the start: what works here is said, camera and screen are tried, and there is a question of each type to practise.

import { isEmpty } from "./take-answers.js";
import { loadEditor } from "./take-code.js";
import { element } from "./take-dom.js";
import { makeField, toAnswer } from "./take-fields.js";
import { attempt } from "./take-storage.js";
import { askFor, canRecord, isLive } from "./take-tracks.js";

const byId = (id) => document.getElementById(id);

// Gives `problem()`, which says by an element what has to be done first, and the `streams` that were allowed.
export function makeReady(api, session) {
  const kinds = session.recording?.kinds ?? [];
  const streams = {};
  const consent = byId("recording-consent");

  const tell = (name, state) => {
    const row = document.querySelector(`[data-check="${name}"]`);
    if (!row) return; // the assessment has started meanwhile
    row.dataset.state = state;
    row.querySelector(".check-state").textContent = row.dataset[state];
  };

  async function look() {
    if (!byId("checks")) return;
    tell("connection", (await api.look()).ok ? "good" : "bad");
    tell("browser", "structuredClone" in window ? "good" : "bad");
    const kept = attempt(() => {
      localStorage.setItem("take-try", "1");
      localStorage.removeItem("take-try");
      return true;
    });
    tell("storage", kept ? "good" : "bad");
  }
  look();
  addEventListener("online", look);
  addEventListener("offline", () => tell("connection", "bad"));

  for (const kind of kinds.filter((one) => one !== "session")) {
    const button = byId(`try-${kind}`);
    const picture = byId(`picture-${kind}`);
    if (!canRecord(kind)) {
      button.hidden = true;
      tell(kind, "cannot");
      continue;
    }
    button.disabled = false;
    const showing = (stream) => {
      tell(kind, stream ? "good" : "bad");
      picture.srcObject = stream;
      picture.hidden = !stream;
      button.textContent = stream ? button.dataset.change : button.dataset.again;
    };
    button.addEventListener("click", async () => {
      const stream = await askFor(kind);
      if (!stream && isLive(streams[kind])) return;
      for (const one of streams[kind]?.getTracks() ?? []) one.stop();
      streams[kind] = stream;
      showing(stream);
      stream?.getVideoTracks()[0].addEventListener("ended", () => {
        if (streams[kind] === stream && picture.isConnected) showing((streams[kind] = null));
      });
      byId("ready-problem").hidden = true;
    });
  }

  consent?.addEventListener("change", () => {
    byId("recording-problem").hidden = true;
    consent.removeAttribute("aria-invalid");
    consent.removeAttribute("aria-describedby");
  });

  byId("practice")?.addEventListener("toggle", practise, { once: true });

  return {
    streams,
    accepted: () => (consent?.checked ? kinds : []),
    // Where to go first; null where nothing is in the way.
    problem() {
      if (consent && !consent.checked) {
        byId("recording-problem").hidden = false;
        consent.setAttribute("aria-invalid", "true");
        consent.setAttribute("aria-describedby", "recording-problem");
        return consent;
      }
      const untried = kinds.find((kind) => kind !== "session" && canRecord(kind) && !(kind in streams));
      byId("ready-problem").hidden = !untried;
      return untried ? byId(`try-${untried}`) : null;
    },
  };
}

// One question at a time; nothing of it is kept.
function practise() {
  const questions = JSON.parse(byId("practice-questions").textContent);
  const place = byId("practice-question");
  const buttons = questions.map((one) => {
    const button = element("button", { type: "button", className: "button small", textContent: one.name });
    button.addEventListener("click", () => show(one, button));
    return button;
  });
  byId("practice-types").replaceChildren(...buttons);
  byId("practice-types").hidden = buttons.length < 2;

  function show(one, button) {
    for (const other of buttons) other.setAttribute("aria-pressed", other === button);
    if (one.case_type === "coding") loadEditor();
    const fault = element("p", { className: "problem", id: "case-fault", role: "alert", hidden: true });
    const onInput = (value) => {
      const wrong = isEmpty(value) ? null : toAnswer(one, value).fault;
      fault.hidden = !wrong;
      fault.textContent = wrong ?? "";
    };
    const field = makeField(one, { onInput, onRun: () => {} });
    place.replaceChildren(element("p", { textContent: one.question }), field.body, fault);
    field.set(undefined);
  }
  show(questions[0], buttons[0]);
}
