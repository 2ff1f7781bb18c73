// Plays a sitting again: its page, its screen and its camera by one clock, beside the answers and what was noted.

import { Replayer } from "@rrweb/replay";

const find = (id) => document.getElementById(id);
const { token, played } = JSON.parse(find("state").textContent);
const words = find("words").dataset;
const length = played.duration_ms;
const AT_ONCE = 4; // parts that are fetched together
const AHEAD_MS = 15_000;
const DRIFT_S = 0.6;
const LONGEST_WAIT_MS = 8000;
let [at, playing, speed, before, asked] = [0, false, 1, 0, 0];

const clock = (ms) => {
  const all = Math.floor(ms / 1000);
  const [hours, minutes, seconds] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60].map((one) => String(one).padStart(2, "0"));
  return Number(hours) ? `${Number(hours)}:${minutes}:${seconds}` : `${minutes}:${seconds}`;
};

async function partsOf(track) {
  const parts = new Array(track.chunks);
  let next = 0;
  const fetchSome = async () => {
    while (next < track.chunks) {
      const number = next++;
      const response = await fetch(`/api/v1/candidate/recordings/${token}/${track.id}/${number}/`, { signal: AbortSignal.timeout(30_000) });
      if (!response.ok) throw new Error(String(response.status));
      parts[number] = await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, fetchSome));
  return parts;
}

const once = (target, type) =>
  new Promise((resolve, reject) => {
    target.addEventListener(type, resolve, { once: true });
    target.addEventListener("error", reject, { once: true });
    setTimeout(reject, LONGEST_WAIT_MS);
  });

// What a browser recorded says nothing of its length; at its end it is known, and every place can be gone to.
async function measured(video) {
  if (!video.readyState) await once(video, "loadedmetadata");
  if (Number.isFinite(video.duration)) return;
  const known = new Promise((resolve) => {
    video.ondurationchange = () => Number.isFinite(video.duration) && resolve();
    setTimeout(resolve, LONGEST_WAIT_MS);
  });
  video.currentTime = 1e9;
  await known;
}

async function makeVideo(track) {
  const video = document.createElement("video");
  video.muted = true;
  video.playsInline = true;
  video.dataset.kind = track.kind;
  video.setAttribute("aria-label", words[track.kind]);
  video.src = URL.createObjectURL(new Blob(await partsOf(track), { type: track.media_type }));
  find(`stage-${track.kind}`).append(video);
  await measured(video);
  return {
    show: (is) => {
      video.hidden = !is;
      if (!is) video.pause();
    },
    follow(offset, goes, jumped) {
      const wanted = offset / 1000;
      if (jumped || Math.abs(video.currentTime - wanted) > DRIFT_S * speed) video.currentTime = wanted;
      video.playbackRate = speed;
      if (goes && video.paused) video.play().catch(() => {});
      if (!goes) video.pause();
    },
  };
}

async function makeSteps(track) {
  const decoder = new TextDecoder();
  const events = (await partsOf(track)).flatMap((part) => JSON.parse(decoder.decode(part)));
  const root = document.createElement("div");
  root.className = "steps-played";
  find("stage-session").append(root);
  const replayer = new Replayer(events, { root, mouseTail: false, showWarning: false, showDebug: false });
  replayer.iframe.title = words.session;
  const fit = () => {
    const scale = Math.min(1, root.clientWidth / (replayer.iframe.offsetWidth || 1));
    replayer.wrapper.style.transform = `scale(${scale})`;
    root.style.height = `${replayer.iframe.offsetHeight * scale}px`;
  };
  replayer.on("resize", () => requestAnimationFrame(fit));
  addEventListener("resize", fit);
  let goes = null;
  return {
    show: (is) => {
      root.hidden = !is;
      if (is) fit();
    },
    follow(offset, wanted, jumped) {
      if (!jumped && wanted === goes) return;
      goes = wanted;
      replayer.setConfig({ speed });
      if (wanted) replayer.play(offset);
      else replayer.pause(offset);
    },
  };
}

// A track is fetched shortly before its time comes first.
const tracks = played.tracks.map((track) => ({ ...track, made: null, view: null, failed: false }));
const isSoon = (track) => at >= track.started_ms - AHEAD_MS * speed && at < track.started_ms + track.duration_ms;
const isNow = (track) => at >= track.started_ms && at < track.started_ms + Math.max(track.duration_ms, 1);

function load(track) {
  track.made ??= (track.kind === "session" ? makeSteps(track) : makeVideo(track))
    .then((view) => {
      track.view = view;
    })
    .catch(() => {
      track.failed = true;
    })
    .finally(() => show(true));
}

function show(jumped = false) {
  find("seek").value = String(Math.round(at));
  find("seek").setAttribute("aria-valuetext", `${clock(at)} / ${clock(length)}`);
  find("at").textContent = `${clock(at)} / ${clock(length)}`;
  const due = tracks.filter(isNow);
  tracks.filter((track) => isNow(track) || isSoon(track)).forEach(load);
  const waits = due.some((track) => !track.view && !track.failed);
  find("told").textContent = due.some((track) => track.failed) ? words.failed : waits ? words.loading : "";
  for (const track of tracks) {
    if (!track.view) continue;
    const is = isNow(track);
    track.view.show(is);
    track.view.follow(Math.max(0, at - track.started_ms), playing && !waits && is, jumped && is);
  }
  for (const kind of ["session", "screen", "webcam"]) {
    const none = find(`none-${kind}`);
    if (none) none.hidden = due.some((track) => track.kind === kind);
  }
  for (const mark of document.querySelectorAll("[data-at]")) mark.toggleAttribute("data-passed", Number(mark.dataset.at) <= at);
  return waits;
}

function step(now) {
  if (!playing) return;
  const waits = show();
  if (!waits) at = Math.min(length, at + (now - before) * speed);
  before = now;
  if (at >= length) toggle(false);
  else asked = requestAnimationFrame(step);
}

function toggle(on) {
  cancelAnimationFrame(asked);
  if (on && at >= length) at = 0;
  playing = on;
  find("play").textContent = on ? words.pause : words.play;
  before = performance.now();
  show(true);
  if (on) asked = requestAnimationFrame(step);
}

function goTo(ms) {
  at = Math.min(Math.max(ms, 0), length);
  show(true);
}

find("seek").max = String(length);
find("seek").disabled = false;
find("seek").addEventListener("input", () => goTo(Number(find("seek").value)));
find("play").disabled = false;
find("play").addEventListener("click", () => toggle(!playing));
find("speed").addEventListener("change", () => {
  speed = Number(find("speed").value);
  show(true);
});
for (const mark of document.querySelectorAll("[data-at]")) mark.addEventListener("click", () => goTo(Number(mark.dataset.at)));
goTo(Math.min(...tracks.map((track) => track.started_ms), length));
