// Plays an interview again: what was said, how the code and the whiteboard came to be, as fast as one likes.

import { paint } from "./board.js";
import { makeEditor, reading } from "./editor.js";
import { _ } from "../words.js";

const find = (id) => document.getElementById(id);
const { replay } = JSON.parse(find("state").textContent);
const { events, duration_ms: length } = replay;
let at = 0, playing = false, speed = 1, before = 0, drawn = -1, editor = null, language = null;

const clock = (ms) => { const all = Math.floor(ms / 1000); return `${Math.floor(all / 60)}:${String(all % 60).padStart(2, "0")}`; };
const WORDS = {
  join: (one) => _("%(name)s came in", { name: one.actor_name || one.actor }),
  end: () => _("The interview has ended"),
  question: (one) => _("Question: %(title)s", { title: one.data.title }),
  run: (one) => one.data.compiled === false ? _("Code could not be compiled") : one.data.outcome ? _("Code was run: %(outcome)s", { outcome: one.data.outcome }) : _("Code was not run here"),
  whiteboard: () => _("The whiteboard changed"),
};

function show() {
  const passed = events.filter((one) => one.offset_ms <= at).length;
  find("seek").value = String(Math.round(at));
  find("seek").setAttribute("aria-valuetext", _("%(at)s of %(length)s", { at: clock(at), length: clock(length) }));
  find("at").textContent = `${clock(at)} / ${clock(length)}`;
  if (passed === drawn) return;
  drawn = passed;
  const seen = events.slice(0, passed);
  const log = find("log");
  log.replaceChildren(...seen.filter((one) => one.kind === "message" || WORDS[one.kind]).map(entry));
  log.scrollTop = log.scrollHeight;
  const question = seen.findLast((one) => one.kind === "question")?.data.question_id ?? replay.questions[0]?.id ?? null;
  const asked = replay.questions.find((one) => one.id === question);
  find("question-title").textContent = asked?.title ?? _("Code");
  find("question").innerHTML = asked?.body_html ?? ""; // made and cleaned by the service
  const code = seen.findLast((one) => one.kind === "code" && "code" in one.data);
  const wanted = code?.data.language ?? "python";
  const text = code?.data.code ?? asked?.starter_code ?? "";
  if (!editor || wanted !== language) {
    editor?.end();
    language = wanted;
    editor = makeEditor(find("editor"), { doc: text, language, label: _("Code at this moment"), more: reading() });
  } else if (editor.text() !== text) editor.show(text);
  const board = seen.findLast((one) => one.kind === "whiteboard")?.data.strokes ?? [];
  find("board-box").hidden = !board.length;
  paint(find("board"), board);
}

function entry(one) {
  const item = document.createElement("li");
  if (one.kind !== "message") { item.className = "told"; item.textContent = `${clock(one.offset_ms)} ${WORDS[one.kind](one)}`; return item; }
  const who = document.createElement("p"), what = document.createElement("p");
  item.className = "said";
  who.className = "who";
  who.textContent = `${one.actor_name || one.actor} · ${clock(one.offset_ms)}`;
  if (one.actor === "ai") { const mark = document.createElement("strong"); mark.className = "ai"; mark.textContent = _("AI"); who.append(" ", mark); }
  what.className = "what";
  what.dir = "auto";
  what.textContent = one.data.content;
  item.append(who, what);
  return item;
}

function frame(moment) {
  if (!playing) return;
  at = Math.min(length, at + (moment - before) * speed);
  before = moment;
  show();
  if (at >= length) play(false); else requestAnimationFrame(frame);
}

function play(is) {
  playing = is;
  find("play").textContent = is ? _("Pause") : _("Play");
  if (!is) return;
  if (at >= length) at = 0;
  before = performance.now();
  requestAnimationFrame(frame);
}

find("seek").max = String(length);
find("play").disabled = find("seek").disabled = events.length === 0;
find("play").addEventListener("click", () => play(!playing));
find("seek").addEventListener("input", (event) => { at = Number(event.target.value); show(); });
find("speed").addEventListener("change", (event) => { speed = Number(event.target.value); });
addEventListener("resize", () => { drawn = -1; show(); });
show();
