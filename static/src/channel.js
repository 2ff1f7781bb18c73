// The live channel: a WebSocket, or server-sent events and requests where there can be none. It comes back by itself,
// says again what nobody acknowledged, and brings both sides of the document together.

import { Awareness, applyAwarenessUpdate, encodeAwarenessUpdate, removeAwarenessStates } from "y-protocols/awareness";
import * as Y from "yjs";
import { _ } from "../words.js";

const PATIENCE_MS = 8000; // for a WebSocket to open
const SILENCE_MS = 25000; // after which one asks whether the other side is there
const SOCKETS_TRIED = 2; // that never opened, before a stream is tried
const LONGEST_WAIT_MS = 8000;

const text = (bytes) => { let s = ""; for (const one of bytes) s += String.fromCharCode(one); return btoa(s); };
const bytes = (base64) => Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));

// Pages that are served without TLS have no randomUUID.
export const newId = () => crypto.randomUUID?.() ?? "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (c) => (c ^ (crypto.getRandomValues(new Uint8Array(1))[0] & (15 >> (c / 4)))).toString(16));

function varint(number) {
  const out = [];
  for (; number > 127; number = Math.floor(number / 128)) out.push((number & 127) | 128);
  return [...out, number];
}
function framed(head, content) {
  const length = varint(content.length);
  const out = new Uint8Array(head.length + length.length + content.length);
  out.set(head); out.set(length, head.length); out.set(content, head.length + length.length);
  return out;
}
function unframed(frame) {
  let at = frame[0] === 0 ? 2 : 1;
  while (frame[at++] & 128);
  return { kind: frame[0], step: frame[0] === 0 ? frame[1] : 0, content: frame.subarray(at) };
}

export class Channel extends EventTarget {
  constructor(base, name) {
    super();
    this.base = base;
    this.name = name;
    this.doc = new Y.Doc();
    this.awareness = new Awareness(this.doc);
    this.number = 0;
    this.unsent = new Map(); // messages by id
    this.sent = 0; // updates over this connection
    this.safe = 0;
    this.waiting = []; // updates to send by request
    this.signals = []; // the same of signals
    this.state = "connecting";
    this.tries = 0;
    this.neverOpened = 0;
    this.closed = false;
    this.doc.on("update", (update, origin) => origin !== this && this.#change(update));
    this.awareness.on("update", ({ added, updated, removed }, origin) => {
      if (origin !== this) this.#point(encodeAwarenessUpdate(this.awareness, [...added, ...updated, ...removed]));
    });
    addEventListener("online", () => this.#again(0));
    addEventListener("pagehide", () => removeAwarenessStates(this.awareness, [this.doc.clientID], "left"));
  }

  get isSafe() { return this.unsent.size === 0 && this.sent === this.safe && this.waiting.length === 0 && this.state === "live"; }

  open() {
    if (this.closed) return;
    clearTimeout(this.timer);
    this.#state("connecting");
    if (this.neverOpened >= SOCKETS_TRIED || !("WebSocket" in window)) this.#openStream();
    else this.#openSocket();
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.#drop();
    this.#state("closed");
  }

  say(content) {
    const id = newId();
    this.unsent.set(id, content);
    this.#say(id, content);
    this.#tell("unsent", { id, content });
  }

  /** Have the others' browsers told how to reach this one; without a channel nobody is. */
  signal(signal) {
    if (this.stream && signal.kind === "leave") this.#request("live/", { voice: [signal] }).catch(() => {}); // the page may be gone in a moment
    else if (this.stream) { this.signals.push(signal); this.#flush(); } else if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ type: "voice", signal }));
  }

  // --- Over a WebSocket

  #openSocket() {
    const socket = new WebSocket(`${this.base.replace(/^http/, "ws")}live/`);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    let opened = false;
    const patience = setTimeout(() => { if (!opened) socket.close(); }, PATIENCE_MS);
    socket.onopen = () => {
      opened = true;
      clearTimeout(patience);
      this.neverOpened = 0;
      this.sent = this.safe = 0;
      socket.send(JSON.stringify({ type: "hello", after: this.number, name: this.name }));
      socket.send(framed([0, 0], Y.encodeStateVector(this.doc)));
      for (const [id, content] of this.unsent) this.#say(id, content);
      this.#point(encodeAwarenessUpdate(this.awareness, [this.doc.clientID]));
      this.#watch();
    };
    socket.onmessage = ({ data }) => {
      if (socket !== this.socket) return;
      this.#watch();
      if (typeof data === "string") { const { type, ...said } = JSON.parse(data); this.#hear(type, said); return; }
      const { kind, step, content } = unframed(new Uint8Array(data));
      if (kind === 1) applyAwarenessUpdate(this.awareness, content, this);
      else if (step === 0) this.#change(Y.encodeStateAsUpdate(this.doc, content));
      else { Y.applyUpdate(this.doc, content, this); if (step === 1) this.#live(); }
    };
    socket.onclose = ({ code }) => {
      clearTimeout(patience);
      if (socket !== this.socket) return;
      if (!opened) this.neverOpened += 1;
      this.#lost(code === 4409);
    };
  }

  #watch() {
    clearTimeout(this.watch);
    this.watch = setTimeout(() => {
      if (this.socket?.readyState !== WebSocket.OPEN) return;
      this.socket.send(JSON.stringify({ type: "ping" }));
      this.watch = setTimeout(() => this.#lost(false), PATIENCE_MS);
    }, SILENCE_MS);
  }

  // --- Over server-sent events

  #openStream() {
    const query = new URLSearchParams({ after: this.number, state: text(Y.encodeStateVector(this.doc)) });
    const stream = new EventSource(`${this.base}live/?${query}`);
    this.stream = stream;
    for (const type of ["room", "events", "status", "voice"]) {
      stream.addEventListener(type, (event) => stream === this.stream && this.#hear(type, JSON.parse(event.data)));
    }
    stream.addEventListener("document", (event) => {
      if (stream !== this.stream) return;
      const { update, state } = JSON.parse(event.data);
      Y.applyUpdate(this.doc, bytes(update), this);
      this.sent = this.safe = 0;
      this.waiting = [];
      this.signals = [];
      this.#change(Y.encodeStateAsUpdate(this.doc, bytes(state)));
      for (const [id, content] of this.unsent) this.#say(id, content);
      this.#live();
      this.#point(encodeAwarenessUpdate(this.awareness, [this.doc.clientID]));
    });
    stream.addEventListener("update", (event) => Y.applyUpdate(this.doc, bytes(JSON.parse(event.data).update), this));
    stream.addEventListener("cursor", (event) => applyAwarenessUpdate(this.awareness, bytes(JSON.parse(event.data).update), this));
    stream.onerror = () => { if (stream === this.stream) this.#lost(false); };
  }

  async #request(path, body) {
    const answer = await fetch(`${this.base}${path}`, {
      method: "POST", headers: { "Content-Type": "application/json", "Accept-Language": document.documentElement.lang },
      body: JSON.stringify(body), keepalive: true, signal: AbortSignal.timeout(30_000),
    });
    if (answer.status === 409) this.#lost(true);
    if (!answer.ok) throw Object.assign(new Error(`${answer.status}`), { status: answer.status });
    return answer.json();
  }

  async #flush() {
    if (this.flushing) return;
    this.flushing = true;
    try {
      while ((this.waiting.length || this.cursor || this.signals.length) && this.stream) {
        await new Promise((go) => setTimeout(go, 40));
        const taken = this.waiting.slice(0, 100), voice = this.signals.slice(0, 20);
        const cursor = this.cursor;
        this.cursor = null;
        await this.#request("live/", { updates: taken.map(text), ...(cursor ? { cursor: text(cursor) } : {}), ...(voice.length ? { voice } : {}) });
        this.waiting.splice(0, taken.length);
        this.signals.splice(0, voice.length);
        this.#tell("saved");
      }
    } catch { setTimeout(() => this.#flush(), 1000); } finally { this.flushing = false; }
  }

  // --- Both

  #change(update) {
    if (update.length <= 2) return;
    if (this.stream) { this.waiting.push(update); this.#flush(); } else if (this.socket?.readyState === WebSocket.OPEN) {
      this.sent += 1;
      this.socket.send(framed([0, 2], update));
    }
    this.#tell("saved");
  }

  #point(cursor) {
    if (this.stream) { this.cursor = cursor; this.#flush(); } else if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(framed([1], cursor));
  }

  #say(id, content) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ type: "message", id, content }));
    else if (this.stream) {
      this.#request("messages/", { id, content }).then(() => this.#hear("ack", { id })).catch((fault) => {
        if (fault.status >= 400 && fault.status < 429) this.#hear("refused", { id, message: _("This could not be sent.") });
        else setTimeout(() => this.unsent.has(id) && this.#say(id, content), 2000);
      });
    }
  }

  #hear(type, said) {
    if (type === "events") {
      const fresh = said.events.filter((one) => one.number > this.number);
      if (fresh.length) this.number = fresh.at(-1).number;
      for (const one of fresh) this.unsent.delete(one.id);
      said = { events: fresh };
    }
    if (type === "ack") this.unsent.delete(said.id);
    if (type === "refused" && said.id) this.unsent.delete(said.id);
    if (type === "saved" && said.updates) this.safe = said.updates;
    this.#tell(type, said);
    if (type === "ack") this.#tell("saved");
  }

  #live() { this.tries = 0; this.#state("live"); this.#tell("saved"); }

  #lost(forGood) {
    this.#drop();
    for (const id of this.awareness.getStates().keys()) if (id !== this.doc.clientID) removeAwarenessStates(this.awareness, [id], this);
    if (forGood) { this.closed = true; this.#state("closed"); return; }
    this.#state("lost");
    this.tries += 1;
    this.#again(Math.min(LONGEST_WAIT_MS, 250 * 2 ** this.tries) * (0.5 + Math.random()));
  }

  #again(wait) {
    if (this.closed || this.state === "live") return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.#drop(); this.open(); }, wait);
  }

  #drop() {
    clearTimeout(this.watch);
    const { socket, stream } = this;
    this.socket = this.stream = null;
    stream?.close();
    try { socket?.close(); } catch { /* it was closed */ }
  }

  #state(state) { this.state = state; this.#tell("state", { state }); }
  #tell(type, detail = {}) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}
