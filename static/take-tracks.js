// What a browser can record, and one track of each kind: bytes every few seconds, until it is stopped or ends by itself.

const EVERY_MS = 10_000; // many may sit behind one address, whose requests are counted
const FIRST_MS = 1000; // what a page looked like is worth more than what happened since
const MOST_EVENTS = 300_000; // characters of a part
const TYPES = ["video/webm;codecs=vp8", "video/webm", "video/mp4"];
const WISHES = {
  webcam: { video: { width: { ideal: 320 }, height: { ideal: 240 }, frameRate: { ideal: 10, max: 15 } }, audio: false },
  screen: { video: { width: { max: 1280 }, frameRate: { ideal: 4, max: 8 } }, audio: false },
};
const BITS = { webcam: 120_000, screen: 250_000 };

const mediaType = () => TYPES.find((type) => window.MediaRecorder?.isTypeSupported(type));
const asks = { webcam: "getUserMedia", screen: "getDisplayMedia" };

export const canRecord = (kind) => kind === "session" || Boolean(navigator.mediaDevices?.[asks[kind]] && mediaType());

// The person is asked; null where they say no, or the browser does.
export async function askFor(kind) {
  try {
    return await navigator.mediaDevices[asks[kind]](WISHES[kind]);
  } catch {
    return null;
  }
}

export const isLive = (stream) => Boolean(stream?.getVideoTracks().some((one) => one.readyState === "live"));

// `onPart(content, durationMs)` gets an ArrayBuffer each time; `onEnd` is told where nobody here has stopped it.
export function recordStream(kind, stream, { onPart, onEnd }) {
  const type = mediaType();
  const recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: BITS[kind] });
  let parts = Promise.resolve(); // one after the other, for reading one may take longer than reading the next
  let [before, stopping] = [performance.now(), false];
  const ended = new Promise((resolve) => {
    recorder.onstop = resolve;
  });
  recorder.ondataavailable = ({ data }) => {
    const [now, last] = [performance.now(), before];
    before = now;
    if (data.size) parts = parts.then(async () => onPart(await data.arrayBuffer(), Math.round(now - last)));
  };
  const over = () => {
    if (stopping) return;
    stopping = true;
    if (recorder.state !== "inactive") recorder.stop();
    onEnd();
  };
  for (const one of stream.getTracks()) one.addEventListener("ended", over);
  recorder.onerror = over;
  recorder.start();
  const timer = whenever(() => recorder.state === "recording" && recorder.requestData());
  return {
    mediaType: type.split(";")[0],
    async stop() {
      stopping = true;
      timer.end();
      if (recorder.state !== "inactive") {
        recorder.stop();
        await ended;
      }
      for (const one of stream.getTracks()) one.stop();
      await parts;
    },
  };
}

// The page's own steps. Its script is loaded here alone.
export async function recordSteps({ onPart }) {
  const { record } = await import("./record.js");
  let [events, size, before] = [[], 0, performance.now()];
  const parts = [];
  const flush = () => {
    if (!events.length) return;
    const now = performance.now();
    const content = new TextEncoder().encode(`[${events.join(",")}]`).buffer;
    parts.push(onPart(content, Math.round(now - before)));
    [events, size, before] = [[], 0, now];
  };
  const stop = record((event) => {
    const written = JSON.stringify(event);
    events.push(written);
    size += written.length;
    if (size > MOST_EVENTS) flush();
  });
  setTimeout(flush, FIRST_MS);
  const timer = whenever(flush);
  return {
    mediaType: "application/json",
    async stop() {
      timer.end();
      stop();
      flush();
      await Promise.all(parts);
    },
  };
}

// Again and again, and when the page goes: what is given then is kept if the browser leaves the time.
function whenever(work) {
  const timer = setInterval(work, EVERY_MS);
  addEventListener("pagehide", work);
  document.addEventListener("visibilitychange", work);
  return {
    end() {
      clearInterval(timer);
      removeEventListener("pagehide", work);
      document.removeEventListener("visibilitychange", work);
    },
  };
}
