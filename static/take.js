// The candidate's page: instructions, the cases, the end.

import { connect } from "./take-api.js";
import { isEmpty, makeAnswers } from "./take-answers.js";
import { makeClock } from "./take-clock.js";
import { loadEditor } from "./take-code.js";
import { element } from "./take-dom.js";
import { makeCase, toAnswer } from "./take-fields.js";
import { makeFlags } from "./take-flags.js";
import { canFullscreen, enterFullscreen, watch } from "./take-guard.js";
import { forgetPage, isKept, keepPage } from "./take-kept.js";
import { makeReady } from "./take-ready.js";
import { makeRecording } from "./take-recording.js";
import { makeReview } from "./take-submit.js";
import { makeUndo } from "./take-undo.js";
import { _, SPOKEN } from "./words.js";

const { token, session: first } = JSON.parse(document.getElementById("state").textContent);
const api = connect(token);
const byId = (id) => document.getElementById(id);

const LOCAL_TIME = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" };

const SAVE_STATES = {
  idle: "",
  saving: _("Saving…"),
  saved: _("Saved"),
  offline: _("Offline – kept on this device"),
};

if (first.status === "started") work(first, isKept ? null : pageLoad());
else offerStart();

function offerStart() {
  const button = byId("start");
  const [until] = document.getElementsByTagName("time");
  until.textContent = new Date(until.dateTime).toLocaleString(SPOKEN, LOCAL_TIME);
  button.disabled = false;
  const consent = byId("consent"); // there where the organisation asks for it
  const ready = makeReady(api, first);
  const tell = (missing) => {
    byId("consent-problem").hidden = !missing;
    consent.toggleAttribute("aria-invalid", missing);
    if (missing) consent.setAttribute("aria-describedby", "consent-problem");
  };
  consent?.addEventListener("change", () => tell(false));
  button.addEventListener("click", async () => {
    if (consent && !consent.checked) {
      tell(true);
      consent.focus();
      return;
    }
    const problem = ready.problem();
    if (problem) return problem.focus();
    button.disabled = true;
    byId("start-problem").hidden = true;
    // Full screen may only be asked for in the click itself.
    if (first.assessment.rules.enforce_fullscreen && canFullscreen()) await enterFullscreen();
    const result = await api.start(Boolean(consent?.checked), ready.accepted());
    if (result.ok && result.body.status === "started") return work(result.body, result, ready.streams);
    if (result.ok || result.kind === "refused") return location.reload(); // the state has changed: its own page says so
    button.disabled = false;
    byId("start-problem").textContent = _("We cannot reach the server just now. The clock has not started; please try again in a moment.");
    byId("start-problem").hidden = false;
  });
}

// When the page's own data were made, for the first reading of the server's clock.
function pageLoad() {
  const [page] = performance.getEntriesByType("navigation");
  const at = (moment) => performance.timeOrigin + moment;
  return { sentAt: at(page?.requestStart ?? 0), receivedAt: at(page?.responseStart ?? 0) };
}

function work(session, moments, streams = {}) {
  const cases = session.cases;
  const title = session.assessment.title;
  const views = new Map(); // of the cases that were shown, by id: each stays as it was left
  let current = null; // the case that is shown
  let view = null;
  let isOver = false;
  let shownState = "idle";

  const clock = makeClock({
    allowed: session.assessment.time_allowed_seconds,
    onWarning: (text) => {
      byId("alert").textContent = text;
      byId("time-notice-text").textContent = text;
      byId("time-notice").hidden = false;
    },
    onLastSeconds: () => answers.flush(),
    onZero: timeIsUp,
  });
  if (moments) clock.sync(session.server_time, moments.sentAt, moments.receivedAt);
  else clock.recall();

  const caseOf = (id) => cases.find((one) => one.assessment_case_id === id);
  const answers = makeAnswers({
    token,
    api,
    clock,
    toAnswer: (id, value) => toAnswer(caseOf(id), value),
    onChange: (id) => {
      if (id === current?.assessment_case_id) show(current);
    },
    onState: showState,
    onClosed: refresh,
  });

  const flags = makeFlags(token, () => {
    cases.forEach(mark);
    for (const [id, shown] of views) shown.mark(flags.has(id));
  });
  const undo = makeUndo(token, views);

  // A case nobody has answered shows its starter code; an emptied one stays empty.
  function valueOf(one) {
    const record = answers.get(one.assessment_case_id);
    return record.value === null && !record.savedAt && record.saved ? undefined : record.value;
  }

  const languageOf = (one) => answers.get(one.assessment_case_id).language ?? one.language;

  function show(one) {
    view.set(valueOf(one));
    view.choose(languageOf(one));
  }

  // --- The list of cases and moving through it

  const buttons = cases.map((one) => {
    const button = element(
      "button",
      { type: "button", className: "case-link" },
      element("span", { className: "mark", textContent: one.case_order }),
      element("span", { className: "case-name", dir: "auto", innerHTML: one.title_html }),
      element("span", { className: "sr" }),
    );
    button.addEventListener("click", () => goTo(one.case_order));
    return button;
  });
  byId("case-list").replaceChildren(...buttons.map((button) => element("li", {}, button)));
  byId("case-list").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    const at = buttons.indexOf(document.activeElement);
    const target = { Home: buttons[0], End: buttons.at(-1) }[event.key] ?? (step && buttons[at + step]);
    if (at < 0 || !target) return;
    event.preventDefault();
    target.focus();
  });

  function isAnswered(one) {
    const record = answers.get(one.assessment_case_id);
    return Boolean(record) && !isEmpty(record.value) && !record.refused;
  }

  function mark(one) {
    const button = buttons[one.case_order - 1];
    const { refused } = answers.get(one.assessment_case_id);
    const answered = isAnswered(one);
    const flagged = flags.has(one.assessment_case_id);
    button.dataset.answered = answered;
    button.dataset.problem = Boolean(refused);
    button.dataset.flagged = flagged;
    const said = refused ? _("needs a look") : answered ? _("answered") : _("not answered");
    button.lastChild.textContent = ` (${said}${flagged ? `, ${_("flagged")}` : ""})`;
    byId("progress").textContent = _("%(count)s of %(total)s answered", { count: cases.filter(isAnswered).length, total: cases.length });
  }

  function goTo(order, { focus = true, isNew = true } = {}) {
    if (current) answers.flush();
    current = cases[Math.min(Math.max(order, 1), cases.length) - 1];
    const id = current.assessment_case_id;
    const known = views.get(id);
    view = known ?? makeView(current);
    views.set(id, view);
    byId("case").replaceChildren(view.body);
    show(current);
    if (known) view.back();
    showFault();
    buttons.forEach((button, number) => button.toggleAttribute("aria-current", number === current.case_order - 1));
    buttons[current.case_order - 1].setAttribute("aria-current", "step");
    byId("previous").disabled = current.case_order === 1;
    byId("next").textContent = current.case_order === cases.length ? _("Review and submit") : _("Next");
    if (isNew && history.state?.order !== current.case_order) history.pushState({ order: current.case_order }, "", `#case-${current.case_order}`);
    document.title = `${_("Case %(number)s of %(total)s", { number: current.case_order, total: cases.length })} · ${title}`;
    if (focus) {
      byId("case-title").focus({ preventScroll: true });
      scrollTo({ top: 0 });
    }
  }

  function makeView(one) {
    const id = one.assessment_case_id;
    return makeCase(one, cases.length, {
      language: languageOf(one),
      flagged: flags.has(id),
      kept: undo.get(id),
      onInput: (value) => answers.edit(id, value),
      onRun: (code, more) => api.run(id, code, more),
      onWait: api.place,
      onChoose: (language) => answers.choose(id, language),
      onFlag: () => flags.toggle(id),
    });
  }

  // The browser's Back goes to the case before. Below the first one lies a step that stays here and says what leaving means.
  function keepHistory() {
    const asked = Number(/^#case-(\d+)$/.exec(location.hash)?.[1] ?? 1);
    if (!history.state?.order) history.replaceState({ door: true }, "");
    addEventListener("popstate", ({ state }) => {
      if (isOver) return;
      if (state?.order) goTo(state.order, { isNew: false });
      else if (state?.door) {
        byId("notice-text").textContent = _("Going back once more leaves your assessment. Your answers are kept: the same link brings you back to them.");
        byId("notice").hidden = false;
        byId("announce").textContent = byId("notice-text").textContent;
      }
    });
    return asked;
  }

  byId("previous").addEventListener("click", () => goTo(current.case_order - 1));
  byId("next").addEventListener("click", () => (current.case_order === cases.length ? review.open() : goTo(current.case_order + 1)));

  // --- Saving

  function showState(state) {
    const refused = cases.filter((one) => answers.get(one.assessment_case_id).refused).map((one) => one.case_order);
    byId("save-state").textContent = state === "problem" ? _("Case %(numbers)s not saved – please check it", { numbers: refused.join(", ") }) : SAVE_STATES[state];
    byId("save-state").dataset.state = state;
    cases.forEach(mark);
    showFault();
    // Told aloud only when it matters: not with every pause in typing.
    if (state === "offline" && shownState !== "offline") byId("announce").textContent = _("You are offline. Your answers are kept on this device.");
    if (state === "saved" && shownState !== "saved") {
      byId("announce").textContent = shownState === "offline" ? _("You are back online. Your answers are saved.") : _("Saved.");
    }
    if (state !== "saving") shownState = state;
  }

  function showFault() {
    if (current) view.fault(answers.get(current.assessment_case_id).refused);
  }

  // Ask the server how things stand: after being away, when another tab or device was at work, at the end.
  async function refresh() {
    if (isOver) return true;
    const result = await api.look();
    if (!result.ok) return false;
    if (result.body.status !== "started") {
      finish(result.body);
      return true;
    }
    clock.sync(result.body.server_time, result.sentAt, result.receivedAt);
    answers.load(result.body.cases);
    clock.run(result.body.deadline_at);
    return true;
  }
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") refresh();
  });
  addEventListener("online", refresh);
  addEventListener("pageshow", (event) => event.persisted && refresh());

  // --- The end

  async function timeIsUp() {
    if (isOver) return;
    byId("clock-text").textContent = "00:00";
    byId("save-state").textContent = _("Time is up – submitting…");
    byId("workspace").inert = true;
    // The server decides: looking at a session whose time is up hands it in. Should it disagree, the clock goes on.
    if (await refresh()) {
      byId("workspace").inert = isOver;
      return;
    }
    finish({ completed_at: session.deadline_at, deadline_at: session.deadline_at });
  }

  function finish(state) {
    if (isOver) return;
    isOver = true;
    clock.stop();
    const byTime = state.completed_at === state.deadline_at;
    const unsent = byTime ? answers.unsaved().map((id) => caseOf(id).case_order) : [];
    answers.end();
    flags.end();
    undo.end();
    recording.end();
    forgetPage();
    review.close();
    for (const id of ["workspace", "status-bar", "time-notice"]) byId(id).hidden = true;
    byId("done-text").textContent = byTime
      ? _("Your time was up, so your assessment was submitted by itself. Every answer that was saved until then counts.")
      : _("Your assessment is submitted. There is nothing more for you to do.");
    byId("done-unsent").hidden = !unsent.length;
    byId("done-unsent").textContent = _("The last change to case %(numbers)s could not reach the server in time.", { numbers: unsent.join(", ") });
    byId("done").hidden = false;
    document.title = `${_("Submitted")} · ${title}`;
    history.replaceState(null, "", location.pathname);
    if (document.fullscreenElement) document.exitFullscreen();
    byId("done-title").focus();
  }

  // --- Go

  const review = makeReview({ cases, answers, flags, api, goTo, onDone: () => finish({ completed_at: "", deadline_at: null }), onClosed: refresh });
  byId("open-review").addEventListener("click", () => review.open());
  byId("time-notice-dismiss").addEventListener("click", () => {
    byId("time-notice").hidden = true;
  });
  const hides = byId("hide-time");
  hides.hidden = !session.deadline_at;
  hides.addEventListener("click", () => {
    const isHidden = byId("clock").classList.toggle("covered");
    byId("hide-time-word").textContent = isHidden ? _("Show") : _("Hide");
  });

  byId("intro")?.remove();
  byId("brand-title").hidden = false;
  byId("workspace").hidden = false;
  byId("status-bar").hidden = false;
  answers.load(cases);
  const ready = cases.some((one) => one.case_type === "coding") ? loadEditor() : Promise.resolve();
  if (isKept) refresh();
  else ready.then(() => isOver || keepPage());
  if (cases.length) goTo(keepHistory(), { focus: first.status === "pending" });
  else showNothing();
  const guard = watch({ rules: session.assessment.rules, organisation: session.organisation.name, api, currentOrder: () => current?.case_order, isOver: () => isOver });
  const recording = makeRecording({ token, api, session, clock, streams, report: guard.signal, onOver: refresh });
  clock.run(session.deadline_at);
  recording.start();

  // An assessment may have no cases: there is nothing to do but to submit it.
  function showNothing() {
    byId("workspace").classList.add("empty");
    byId("case").replaceChildren(
      element("h1", { id: "case-title", tabIndex: -1, textContent: _("There are no cases in this assessment") }),
      element("p", { textContent: _("Nothing is asked of you here. Submit the assessment, or ask %(name)s if you expected something else.", { name: session.organisation.name }) }),
    );
    byId("case-title").focus();
  }
}
