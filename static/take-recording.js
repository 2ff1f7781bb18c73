// Recording while the assessment runs: what was agreed to, in one tab at a time. The test goes on whatever becomes of it.

import { openChunks } from "./take-chunks.js";
import { element } from "./take-dom.js";
import { askFor, canRecord, isLive, recordSteps, recordStream } from "./take-tracks.js";

const SIGNALS = { screen: "screen_share", webcam: "webcam" };
const SOON_MS = 500;
const PATIENCE_MS = 60_000; // to share the screen again after a reload

const byId = (id) => document.getElementById(id);

// `streams`: what was allowed before the start, by kind. `report(type, text)` tells the organisation. `onOver`: the session
// has ended somewhere else.
export function makeRecording({ token, api, session, clock, streams, report, onOver }) {
  const kinds = session.recording?.kinds ?? [];
  const words = byId("recording-words").dataset;
  const running = new Map(); // kind -> its track
  const missed = new Set(); // kinds that were reported since they last ran
  const awaited = new Set(); // kinds that only a click can begin
  let [over, full, mine, chunks, release] = [false, false, !navigator.locks, null, () => {}];
  const opened = kinds.length ? openChunks({ token, api, onFull, onOver }) : null;
  const since = () => Math.max(0, Math.round(clock.now() - Date.parse(session.started_at)));

  function show() {
    const state = byId("recording-state");
    state.hidden = over || !kinds.length;
    const there = kinds.filter((kind) => running.has(kind)).map((kind) => words[`name${kind}`]);
    const now = !mine ? "elsewhere" : full ? "full" : there.length ? "on" : "off";
    state.dataset.state = now;
    byId("recording-state-text").textContent = [words[now], ...(now === "on" ? [there.join(", ")] : [])].join(" ");
    const wanted = over || full ? [] : kinds.filter((kind) => SIGNALS[kind] && canRecord(kind) && !running.has(kind) && (missed.has(kind) || awaited.has(kind)));
    byId("recording-notice-box").hidden = !wanted.length;
    byId("recording-again").replaceChildren(...wanted.map(again));
  }

  function again(kind) {
    const button = element("button", { type: "button", className: "button small", textContent: words[`again${kind}`] });
    button.addEventListener("click", async () => {
      const stream = await askFor(kind);
      if (stream) await begin(kind, stream);
      else lost(kind);
    });
    return button;
  }

  function onFull() {
    full = true;
    for (const track of running.values()) track.stop();
    running.clear();
    show();
  }

  async function begin(kind, stream) {
    if (over || full || running.has(kind)) return;
    const [track, startedMs] = [randomId(), since()];
    let number = 0;
    const onPart = (content, durationMs) => chunks.add({ track, number: number++, kind, mediaType: made.mediaType, startedMs, durationMs, content });
    const onEnd = () => {
      running.delete(kind);
      lost(kind);
    };
    let made = { mediaType: "application/json" };
    made = stream ? recordStream(kind, stream, { onPart, onEnd }) : await recordSteps({ onPart });
    running.set(kind, made);
    missed.delete(kind);
    show();
  }

  // Tell once that a kind is not recorded, until it is again.
  function lost(kind) {
    if (over || full || running.has(kind)) return;
    if (!missed.has(kind)) report(SIGNALS[kind], words[`lost${kind}`]);
    missed.add(kind);
    show();
  }

  async function go() {
    chunks = await opened;
    chunks.send();
    if (kinds.includes("session")) await begin("session").catch(() => {});
    for (const kind of kinds.filter((one) => SIGNALS[one])) {
      if (!canRecord(kind)) lost(kind);
      else if (isLive(streams[kind])) await begin(kind, streams[kind]);
      else if (kind in streams) lost(kind); // asked for before the start, and refused
      else if (kind === "webcam") {
        const stream = await askFor(kind);
        if (stream) await begin(kind, stream);
        else lost(kind);
      } else remind(kind);
    }
    show();
  }

  // After a reload a screen may only be shared again by a click.
  function remind(kind) {
    awaited.add(kind);
    show();
    byId("announce").textContent = byId("recording-notice-text").textContent;
    setTimeout(() => lost(kind), PATIENCE_MS);
  }

  return {
    start() {
      if (!kinds.length) return;
      setTimeout(show, SOON_MS); // by then it is known whether it is for this tab
      // Another tab of the same assessment records once this one is closed.
      if (!navigator.locks) return go();
      navigator.locks.request(`take-recording:${token}`, () => {
        mine = true;
        if (!over) go();
        return new Promise((resolve) => {
          release = resolve;
        });
      });
    },
    // What is left goes on being sent after the end; says so, for the page has to stay open until then.
    async end() {
      if (!kinds.length || over) return;
      over = true;
      show();
      const last = [...running.values()];
      running.clear();
      const told = byId("done-recording");
      const waits = async () => {
        await Promise.all(last.map((track) => track.stop()));
        await (await opened).send();
      };
      told.textContent = words.sending;
      told.hidden = false;
      await waits();
      told.textContent = words.sent;
      release();
    },
  };
}

// As crypto.randomUUID makes them, which pages without TLS do not have.
function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  return [...bytes].map((one, at) => ([4, 6, 8, 10].includes(at) ? "-" : "") + one.toString(16).padStart(2, "0")).join("");
}
