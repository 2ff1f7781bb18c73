// The page of an interview's room: the way in, then chat, editor, questions and whiteboard.

import { removeAwarenessStates } from "y-protocols/awareness";

import { makeBoard } from "./board.js";
import { Channel } from "./channel.js";
import { makeEditor } from "./editor.js";
import { judge } from "./judge.js";
import { together } from "./together.js";
import { makeVoice } from "./voice.js";
import { _, SPOKEN } from "../words.js";

const find = (id) => document.getElementById(id);
const CLOSED = ["ended", "expired", "no_show"];
const STATES = {
  connecting: ["connecting", _("Connecting…")],
  live: ["saved", _("Connected")],
  saving: ["saving", _("Saving…")],
  lost: ["offline", _("No connection – trying again. What you type is kept here")],
  closed: ["idle", ""],
};

const { token, room: first } = JSON.parse(find("state").textContent);
const base = `/api/v1/candidate/interviews/${token}/`;
let room = first, channel = null, voice = null, editor = null, shown = null, ahead = Date.parse(first.server_time) - Date.now(), asked = 0;

async function ask(method, path, body) {
  const answer = await fetch(base + path, {
    method, headers: { "Accept-Language": document.documentElement.lang, ...(body ? { "Content-Type": "application/json" } : {}) },
    body: body && JSON.stringify(body), signal: AbortSignal.timeout(60_000),
  });
  const said = answer.headers.get("content-type")?.includes("json") ? await answer.json() : {};
  if (!answer.ok) {
    const fields = said.error?.details?.fields?.map((one) => one.message).join("; ");
    throw Object.assign(new Error(fields || said.error?.message || _("The server did not answer.")), { code: said.error?.code, status: answer.status });
  }
  return said;
}

// --- The way in

function enter() {
  const join = find("join"), consent = find("consent"), problem = find("join-problem");
  join.disabled = false;
  join.addEventListener("click", async () => {
    problem.hidden = true;
    if (consent && !consent.checked) {
      problem.textContent = _("Please tick the box: without your agreement you cannot come in.");
      problem.hidden = false;
      consent.focus();
      return;
    }
    join.disabled = true;
    try {
      const name = find("name").value.trim();
      room = await ask("POST", "join/", { name, consent_accepted: Boolean(consent), language: document.documentElement.lang });
      if (room.role === "interviewer") sessionStorage.setItem("name", name);
      begin(name || (room.role === "candidate" && room.candidate_name));
    } catch (fault) {
      if (fault.status === 409) location.reload();
      problem.textContent = _("You could not come in: %(why)s", { why: fault.message });
      problem.hidden = false;
      join.disabled = false;
    }
  });
}

// --- The room

function begin(name) {
  find("intro").hidden = true;
  find("room").hidden = false;
  find("status-bar").hidden = false;
  if (find("judge")) find("judge").hidden = false;
  document.body.classList.add("in-room");
  const own = name || (room.role === "candidate" ? _("Candidate") : _("Interviewer"));
  channel = new Channel(new URL(base, location.href).href, own);
  channel.awareness.setLocalState({ name: own, role: room.role, cursor: null });
  channel.addEventListener("state", ({ detail }) => { state(); if (detail.state === "closed") look(); });
  channel.addEventListener("saved", state);
  channel.addEventListener("room", ({ detail }) => show(detail.room));
  channel.addEventListener("status", () => look());
  channel.addEventListener("unsent", ({ detail }) => write({ id: detail.id, kind: "message", actor: room.role, actor_name: own, data: { content: detail.content } }, true));
  channel.addEventListener("refused", ({ detail }) => refuse(detail));
  channel.addEventListener("events", ({ detail }) => hear(detail.events));
  channel.awareness.on("change", people);
  find("say").addEventListener("submit", (event) => {
    event.preventDefault();
    const field = find("message"), content = field.value.trim();
    if (content) channel.say(content);
    field.value = "";
    field.focus();
  });
  find("message").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); find("say").requestSubmit(); }
  });
  find("language").addEventListener("change", (event) => ask("PUT", "code/", { language: event.target.value, ...(shown ? { question_id: shown } : {}) }).catch(tell));
  find("run").addEventListener("click", run);
  for (const tab of document.querySelectorAll("[role=tab]")) tab.addEventListener("click", () => choose(tab));
  find("tabs").addEventListener("keydown", (event) => {
    const tabs = [...find("tabs").querySelectorAll("[role=tab]")], at = tabs.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step && at >= 0) { const next = tabs[(at + step + tabs.length) % tabs.length]; choose(next); next.focus(); event.preventDefault(); }
  });
  makeBoard(find("board"), channel.doc.getArray("board"), { tools: [...document.querySelectorAll("[data-tool]")], clear: find("clear") });
  for (const button of document.querySelectorAll("[data-end]")) button.addEventListener("click", () => find("end-dialog").showModal());
  find("end-back").addEventListener("click", () => find("end-dialog").close());
  find("end-yes").addEventListener("click", async () => {
    try { await ask("POST", "end/"); find("end-dialog").close(); look(); } catch (fault) { find("end-problem").textContent = fault.message; find("end-problem").hidden = false; }
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && room.role === "candidate" && room.status === "active") ask("POST", "violations/", { violation_type: "focus_loss" }).catch(() => {});
  });
  addEventListener("beforeunload", (event) => { if (!channel.isSafe && channel.state !== "closed") event.preventDefault(); });
  if (room.voice.offered) {
    voice = makeVoice(channel, {
      role: room.role, server: room.voice.ice_servers,
      parts: { button: find("microphone"), mute: find("mute"), level: find("level"), levelBox: find("level-box"), text: find("voice-text") },
    });
  }
  setInterval(tick, 500);
  show(room);
  channel.open();
}

function state() {
  const bar = find("save-state");
  const [kind, words] = STATES[channel.state === "live" && !channel.isSafe ? "saving" : channel.state];
  if (bar.dataset.state !== kind) { bar.dataset.state = kind; bar.textContent = words; }
}

async function look() {
  const mine = ++asked;
  try { const found = await ask("GET", ""); if (mine === asked) show(found); } catch (fault) { if (fault.status === 404) location.reload(); }
}

function show(next) {
  room = next;
  ahead = Date.parse(room.server_time) - Date.now();
  if (CLOSED.includes(room.status)) { over(); return; }
  const waits = room.status !== "active";
  find("waiting").hidden = !waits;
  find("waiting-text").textContent = room.role === "candidate"
    ? _("You are in the waiting room. The interview begins when the interviewer is here; you can already write to each other.")
    : room.candidate_joined_at ? _("The interview begins in a moment.") : _("The candidate is not here yet. The interview begins when they come in.");
  find("language").value = room.active_language;
  find("run").hidden = !room.runnable_languages.includes(room.active_language);
  questions();
  edit();
  tick();
}

function questions() {
  const list = find("question-list"), active = room.questions.find((one) => one.is_active);
  const text = find("question");
  text.replaceChildren();
  find("no-question").hidden = Boolean(active);
  if (active) {
    const title = document.createElement("h2");
    title.dir = "auto";
    title.textContent = active.title;
    const body = document.createElement("div");
    body.className = "question";
    body.dir = "auto";
    body.innerHTML = active.body_html; // made and cleaned by the service
    text.append(title, body);
    if (room.role === "interviewer") text.append(...secrets(active));
  }
  if (!list) return;
  list.replaceChildren(...room.questions.map((one) => {
    const item = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    button.className = "case-link";
    button.dir = "auto";
    button.textContent = `${one.order + 1}. ${one.title}`;
    if (one.is_active) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => ask("POST", "question/", { question_id: one.id }).then(look).catch(tell));
    item.append(button);
    return item;
  }));
}

function secrets(question) {
  return [[_("Expected answer"), question.expected_answer], [_("Solution"), question.solution], [_("Hints"), question.hints]]
    .filter(([, value]) => value && (typeof value === "string" ? value.trim() : Object.keys(value).length))
    .map(([title, value]) => {
      const box = document.createElement("details"), summary = document.createElement("summary"), pre = document.createElement("pre");
      box.className = "secret";
      summary.textContent = _("%(title)s (only you see this)", { title });
      pre.textContent = typeof value === "string" ? value : Array.isArray(value) ? value.join("\n") : JSON.stringify(value, null, 2);
      pre.dir = "auto";
      pre.tabIndex = 0;
      box.append(summary, pre);
      return box;
    });
}

function edit() {
  const active = room.questions.find((one) => one.is_active), id = active?.id ?? null;
  if (editor && shown === id) { editor.speak(room.active_language); return; }
  editor?.end();
  shown = id;
  const name = id ? `code:${id}` : "code";
  const text = channel.doc.getText(name);
  editor = makeEditor(find("editor"), {
    doc: text.toString(), language: room.active_language, label: active ? _("Code for %(title)s", { title: active.title }) : _("Code"),
    more: together(text, name, channel.awareness),
  });
}

function hear(events) {
  for (const one of events) { write(one); comeOrGo(one); }
  if (events.some((one) => ["join", "question", "end", "code"].includes(one.kind))) look();
}

// --- Chat

const ROLES = { candidate: _("Candidate"), interviewer: _("Interviewer"), ai: _("AI interviewer") };
const who = (one) => (one.actor === "ai" ? ROLES.ai : one.actor_name || ROLES[one.actor] || one.actor);

const TOLD = {
  join: (one) => _("%(name)s came in", { name: who(one) }),
  leave: (one) => _("%(name)s left", { name: who(one) }),
  end: () => _("The interview has ended"),
  question: (one) => _("Now: %(title)s", { title: one.data.title }),
  run: (one) => one.data.available === false ? _("%(language)s cannot be run here", { language: one.data.language }) : one.data.compiled === false ? _("Code could not be compiled") : _("Code was run: %(outcome)s", { outcome: ENDED[one.data.outcome] ?? one.data.outcome }),
};

function write(one, unsent = false) {
  const log = find("log");
  const known = one.id && log.querySelector(`[data-id="${one.id}"]`);
  if (known) {
    known.classList.remove("unsent");
    known.querySelector(".time")?.replaceChildren(time(one.at));
    log.append(known); // in the order of the room
    return;
  }
  if (one.kind === "run") output(one.data);
  const told = TOLD[one.kind]?.(one);
  if (one.kind !== "message" && !told) return;
  const item = document.createElement("div");
  item.dataset.id = one.id;
  item.className = one.kind === "message" ? `said ${one.actor === room.role ? "own" : ""}` : "told";
  if (unsent) item.classList.add("unsent");
  if (one.kind === "message") {
    const head = document.createElement("p"), what = document.createElement("p"), at = document.createElement("span");
    head.className = "who";
    head.textContent = who(one);
    if (one.actor === "ai") { const mark = document.createElement("strong"); mark.className = "ai"; mark.textContent = _("AI"); head.append(" ", mark); }
    at.className = "time";
    at.textContent = unsent ? _("not sent yet") : time(one.at);
    head.append(" ", at);
    what.className = "what";
    what.dir = "auto";
    what.textContent = one.data.content;
    item.append(head, what);
  } else item.textContent = told;
  const low = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
  log.append(item);
  if (low || one.actor === room.role) log.scrollTop = log.scrollHeight;
}

const time = (at) => new Date(at).toLocaleTimeString(SPOKEN, { hour: "2-digit", minute: "2-digit" });

function refuse({ id, message }) {
  const item = id && find("log").querySelector(`[data-id="${id}"]`);
  if (item) { find("message").value ||= item.querySelector(".what").textContent; item.remove(); }
  tell(new Error(message));
}

function tell(fault) {
  find("alert").textContent = fault.message;
  find("trouble").hidden = false;
  find("trouble-text").textContent = fault.message;
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => { find("trouble").hidden = true; }, 8000);
}

// --- Code

async function run() {
  const button = find("run");
  button.disabled = true;
  find("output-title").textContent = _("Running…");
  find("output").hidden = false;
  try { output(await ask("POST", "run/", { code: editor.text(), language: room.active_language, input: find("input").value })); } catch (fault) { find("output-title").textContent = _("It could not be run."); tell(fault); }
  button.disabled = false;
}

const ENDED = { ok: _("It ran"), error: _("It ended with an error"), timeout: _("It took too long"), memory: _("It took too much memory"), output_limit: _("It printed too much") };

function output(said) {
  find("output").hidden = false;
  find("output-title").textContent = said.available === false ? _("This language cannot be run here.") : `${said.compiled === false ? _("It could not be compiled") : (ENDED[said.outcome] ?? said.outcome)} (${said.time_ms} ms)`;
  find("stdout").textContent = said.stdout || (said.stderr ? "" : _("(nothing was printed)"));
  find("stderr").textContent = said.stderr || "";
  find("stderr").hidden = !said.stderr;
}

// --- What there is beside

function choose(tab) {
  for (const one of find("tabs").querySelectorAll("[role=tab]")) {
    const is = one === tab;
    one.setAttribute("aria-selected", String(is));
    one.tabIndex = is ? 0 : -1;
    find(one.getAttribute("aria-controls")).hidden = !is;
  }
}

const inside = {}; // by side, who came in last and did not leave

function comeOrGo({ kind, actor, actor_name: name }) {
  if (kind === "join") inside[actor] = name;
  else if (kind === "leave") {
    delete inside[actor];
    // Their cursors stay for half a minute where nobody takes them away.
    const gone = [...channel.awareness.getStates()].filter(([id, one]) => one.role === actor && id !== channel.doc.clientID);
    removeAwarenessStates(channel.awareness, gone.map(([id]) => id), channel);
  } else return;
  people();
}

function people() {
  const names = new Map(), seen = new Set();
  for (const one of channel.awareness.getStates().values()) if (one.name) { names.set(`${one.role} ${one.name}`, one.name); seen.add(one.role); }
  for (const [side, name] of Object.entries(inside)) if (!seen.has(side)) names.set(side, name); // a program, without a cursor
  find("people").textContent = _("Here: %(names)s", { names: [...names.values()].join(", ") });
}

function tick() {
  const clock = find("clock"), now = Date.now() + ahead;
  if (room.status !== "active") { clock.hidden = true; return; }
  clock.hidden = false;
  const left = room.deadline_at ? Math.max(0, Math.ceil((Date.parse(room.deadline_at) - now) / 1000)) : null;
  const seconds = left ?? Math.max(0, Math.floor((now - Date.parse(room.started_at)) / 1000));
  find("clock-label").textContent = left === null ? `${_("Time so far:")} ` : `${_("Time left:")} `;
  const two = (value) => String(value).padStart(2, "0");
  const words = `${seconds >= 3600 ? `${Math.floor(seconds / 3600)}:` : ""}${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  if (find("clock-text").textContent !== words) find("clock-text").textContent = words;
  clock.dataset.level = left === null ? "" : left < 60 ? "last" : left < 300 ? "soon" : "";
  if (left === 0 && !tick.asked) { tick.asked = true; setTimeout(() => { tick.asked = false; look(); }, 1500); }
}

function over() {
  voice?.end();
  channel.close();
  find("room").hidden = true;
  find("status-bar").hidden = true;
  document.body.classList.remove("in-room");
  find("end-dialog").close();
  find("done").hidden = false;
  find("done-title").focus();
}

if (find("judge")) judge({ ask, outcome: first.outcome });

if (find("intro") && !CLOSED.includes(first.status)) {
  const kept = sessionStorage.getItem("name");
  if (kept && !find("name").value) find("name").value = kept;
  enter();
}
