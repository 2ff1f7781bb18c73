// Talking: from browser to browser, which find each other by signals that the room passes on. Whoever switches a microphone
// on is heard by all who are here; nothing is recorded.

import { newId } from "./channel.js";
import { _ } from "../words.js";

const KIND = { audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true } };
const PATIENCE_MS = 12000; // for two browsers to find each other
const BEAT_MS = 100; // between two looks at the level

const REFUSED = {
  NotAllowedError: _("The microphone is not allowed. Allow it beside the page’s address and press the button again, or go on in writing."),
  NotFoundError: _("No microphone was found. Connect one and press the button again, or go on in writing."),
  NotReadableError: _("Another program is using the microphone. Close it and press the button again, or go on in writing."),
};
const CANNOT = _("This browser cannot use a microphone on this page. You can go on in writing.");

export function makeVoice(channel, { role, server, parts }) {
  let id = newId();
  const others = new Map(); // by their ids
  const gone = new Set(); // the ids of those that left: what they said before may come after
  const called = { candidate: _("The candidate"), interviewer: _("The interviewer") };
  const within = { candidate: _("the candidate"), interviewer: _("the interviewer") };
  const far = role === "candidate" ? "interviewer" : "candidate";
  let stream = null, muted = false, problem = "", level = null, asking = false;

  const send = (kind, more = {}) => channel.signal({ kind, from: id, ...more });
  const here = (asks, to) => send("here", { mic: Boolean(stream), muted, asks, ...(to ? { to } : {}) });

  // --- The other browsers

  function meet(signal, whose) {
    const known = others.get(signal.from);
    if (known) return known;
    const one = { id: signal.from, role: whose, mic: false, muted: false, link: null, waiting: [], isLate: false };
    others.set(one.id, one);
    return one;
  }

  // Of two browsers the same one always offers, once for each connection. Where both may, offers cross, and a browser that
  // takes its own back while it looks for addresses can be left without any, which no event tells (seen with Chromium 156).
  const offers = (one) => id > one.id;

  function connect(one) {
    part(one);
    const link = new RTCPeerConnection({ iceServers: server.map(({ urls, username, credential }) => (username ? { urls, username, credential } : { urls })) });
    one.link = link;
    one.player = new Audio();
    one.player.autoplay = true;
    link.onicecandidate = ({ candidate }) => candidate && send("candidate", { to: one.id, candidate: candidate.candidate, mid: candidate.sdpMid ?? "", line: candidate.sdpMLineIndex ?? 0 });
    link.ontrack = ({ track }) => {
      one.player.srcObject = new MediaStream([track]);
      const play = () => one.player.play().catch(() => addEventListener("pointerdown", play, { once: true }));
      play();
    };
    link.onconnectionstatechange = () => {
      if (link.connectionState === "connected") one.isLate = false;
      if (link.connectionState === "failed") { heard.leave(one); here(true); } // whoever is still here answers
      show();
    };
    expect(one);
    return link;
  }

  /** Say when it lasts too long. Where it has not even begun a signal was lost, and it is offered anew; whoever is gone does not answer. */
  function expect(one) {
    clearTimeout(one.timer);
    one.timer = setTimeout(() => {
      const state = one.link?.connectionState ?? "new";
      if (state === "connected") return;
      one.isLate = true;
      if (state === "new" && offers(one)) { part(one); here(true, one.id); }
      show();
    }, PATIENCE_MS);
  }

  /** Ask to speak where one of the two has a microphone; the other waits to be asked. */
  async function call(one) {
    if (one.link || !offers(one) || !(stream || one.mic)) return;
    const link = connect(one);
    await speak(link.addTransceiver("audio"));
    await link.setLocalDescription();
    send("offer", { to: one.id, sdp: link.localDescription.sdp });
  }

  /** Send what the microphone hears, or silence: who switches it on or off later needs no new connection. */
  const speak = ({ sender }) => sender.replaceTrack(stream?.getAudioTracks()[0] ?? null);
  const speakToAll = () => { for (const one of others.values()) for (const way of one.link?.getTransceivers() ?? []) speak(way).catch(() => {}); };

  function part(one) {
    clearTimeout(one.timer);
    one.link?.close();
    if (one.player) one.player.srcObject = null;
    one.link = one.player = null;
    one.waiting = [];
  }

  const heard = {
    async here(one, { mic, muted: silent, asks }) {
      Object.assign(one, { mic, muted: silent });
      if (asks) here(false, one.id);
      if (mic && !one.link) expect(one);
      await call(one);
    },
    async offer(one, { sdp }) {
      const link = connect(one);
      await link.setRemoteDescription({ type: "offer", sdp });
      for (const way of link.getTransceivers()) {
        way.direction = "sendrecv";
        await speak(way);
      }
      await link.setLocalDescription();
      send("answer", { to: one.id, sdp: link.localDescription.sdp });
      await caughtUp(one);
    },
    async answer(one, { sdp }) {
      if (one.link?.signalingState !== "have-local-offer") return;
      await one.link.setRemoteDescription({ type: "answer", sdp });
      await caughtUp(one);
    },
    async candidate(one, { candidate, mid, line }) {
      one.waiting.push({ candidate, sdpMid: mid, sdpMLineIndex: line });
      if (one.link?.remoteDescription) await caughtUp(one);
    },
    leave(one) { part(one); others.delete(one.id); },
  };

  async function caughtUp(one) {
    for (const address of one.waiting.splice(0)) await one.link?.addIceCandidate(address).catch(() => {}); // of an offer that was given up
  }

  let turn = Promise.resolve(); // one signal after the other
  channel.addEventListener("voice", ({ detail: { role: whose, signal } }) => {
    if (gone.has(signal.from) || signal.from === id || (signal.to && signal.to !== id) || !heard[signal.kind]) return;
    if (signal.kind === "leave") gone.add(signal.from);
    turn = turn.then(() => heard[signal.kind](meet(signal, whose), signal)).catch(() => {}).then(show);
  });
  channel.addEventListener("state", ({ detail }) => { if (detail.state === "live") here(true); });
  addEventListener("pagehide", () => send("leave"));
  addEventListener("pageshow", ({ persisted }) => { if (persisted) id = newId(); });

  // --- One's own microphone

  async function on() {
    if (asking) return;
    asking = true;
    problem = "";
    try {
      if (!navigator.mediaDevices?.getUserMedia || !("RTCPeerConnection" in window)) throw new Error(CANNOT);
      stream = await navigator.mediaDevices.getUserMedia(KIND);
      stream.getAudioTracks()[0].onended = () => { off(); problem = REFUSED.NotFoundError; show(); };
      muted = false;
      listen();
      speakToAll();
      here(true); // whom one offers to answers that, and is called then
    } catch (fault) { problem = REFUSED[fault.name] ?? CANNOT; } finally { asking = false; }
    show();
  }

  function off() {
    if (!stream) return;
    for (const track of stream.getTracks()) { track.onended = null; track.stop(); }
    stream = null;
    muted = false;
    clearInterval(level?.timer);
    level?.sound.close();
    level = null;
    parts.level.value = 0;
    speakToAll();
    here(false);
    show();
  }

  function mute(is) {
    muted = is;
    for (const track of stream?.getAudioTracks() ?? []) track.enabled = !is;
    here(false);
    show();
  }

  function listen() {
    const sound = new AudioContext(), look = sound.createAnalyser(), wave = new Uint8Array(256);
    look.fftSize = wave.length;
    sound.createMediaStreamSource(stream).connect(look);
    const timer = setInterval(() => {
      look.getByteTimeDomainData(wave);
      parts.level.value = Math.max(...wave.map((value) => Math.abs(value - 128))) / 128;
    }, BEAT_MS);
    level = { sound, timer };
  }

  // --- What one sees of it

  function show() {
    parts.button.setAttribute("aria-pressed", String(Boolean(stream)));
    parts.mute.hidden = parts.levelBox.hidden = !stream;
    parts.mute.setAttribute("aria-pressed", String(muted));
    const words = [problem, theirs()].filter(Boolean).join(" ");
    if (parts.text.textContent !== words) parts.text.textContent = words;
  }

  function theirs() {
    const speaking = [...others.values()].filter((one) => one.mic);
    if (!speaking.length) {
      if (!stream) return _("Nobody’s microphone is on.");
      return [...others.values()].some((one) => one.role === far) ? _("%(name)s has no microphone on; you are heard.", { name: called[far] }) : _("%(name)s is not here yet.", { name: called[far] });
    }
    return speaking.map((one) => {
      const name = called[one.role] ?? _("Somebody");
      const inside = within[one.role] ?? _("somebody");
      if (one.muted) return _("%(name)s has muted the microphone.", { name });
      if (one.link?.connectionState === "connected") return _("You hear %(name)s.", { name: inside });
      if (one.isLate) return _("%(name)s cannot be heard: your networks do not let the two browsers reach each other. Go on in writing.", { name });
      return _("Connecting to %(name)s…", { name: inside });
    }).join(" ");
  }

  parts.button.addEventListener("click", () => (stream ? off() : on()));
  parts.mute.addEventListener("click", () => mute(!muted));
  show();
  return { end() { off(); send("leave"); for (const one of others.values()) part(one); others.clear(); } };
}
