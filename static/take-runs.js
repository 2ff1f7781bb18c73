// Trying a program: on the tests that its candidate may see, or on an input of one's own.

import { COMMAND, LANGUAGES } from "./take-code.js";
import { areRows, showDiff, showRows } from "./take-diff.js";
import { block, element } from "./take-dom.js";
import { _, SPOKEN } from "./words.js";

const button = (textContent, more) => element("button", { type: "button", className: "button", textContent, ...more });

const ASK_AGAIN_MS = 2000;

export function runner(one, field, { language, onRun, onWait, onChoose }) {
  const tests = one.test_cases;
  const choices = one.languages;
  const run = button(_("Run the visible tests"), { title: `${COMMAND}Enter` });
  const reset = button(_("Reset to the starter code"), { className: "button quiet" });
  const restore = button(_("Bring my code back"), { hidden: true });
  const summary = element("p", { className: "run-summary", role: "status" });
  const results = element("ol", { className: "results" });
  const title = element("h2", { className: "small-title", textContent: _("Results of the last run"), hidden: true });
  const controls = [run];
  let chosen = language;
  let before = null;

  async function start(input) {
    if (controls.some((control) => control.disabled)) return;
    for (const control of controls) control.disabled = true;
    summary.textContent = _("Running…");
    results.replaceChildren();
    title.hidden = true;
    const waiting = setInterval(async () => {
      const { ok, body } = await onWait();
      const said = ok && body.state === "waiting" ? _("Others' programs come first: yours is number %(place)s in the queue.", { place: body.place }) : _("Running…");
      if (run.disabled && summary.textContent !== said) summary.textContent = said;
    }, ASK_AGAIN_MS);
    const result = await onRun(field.text(), { input, language: choices.length > 1 ? chosen : undefined });
    clearInterval(waiting);
    for (const control of controls) control.disabled = false;
    summary.textContent = said(result, input);
    if (!result.ok) return;
    results.replaceChildren(...result.body.results.map((ran, number) => shown(ran, number, chosen)));
    title.hidden = !result.body.results.length;
    summary.scrollIntoView({ block: "nearest" });
  }

  run.addEventListener("click", () => start());
  reset.addEventListener("click", () => {
    before = field.text();
    field.replace(one.starter_code);
    restore.hidden = before === one.starter_code;
    summary.textContent = _("The starter code is back. To return to your own, undo (%(key)s) or use the button.", { key: `${COMMAND}Z` });
  });
  restore.addEventListener("click", () => {
    field.replace(before);
    restore.hidden = true;
    summary.textContent = _("Your code is back.");
    field.focus();
  });

  const tools = element("div", { className: "code-tools" }, ...(tests.length ? [run] : []), reset, restore);
  const select = element("select", { id: "language" }, ...choices.map((name) => new Option(LANGUAGES[name] ?? name, name)));
  const choose = (name) => {
    chosen = select.value = name;
    field.speak(name);
  };
  choose(chosen);
  select.addEventListener("change", () => {
    choose(select.value);
    onChoose(chosen);
  });
  if (choices.length > 1) tools.prepend(element("label", { htmlFor: "language", textContent: _("Language") }), select);
  const parts = [tools, ownInput(controls, start), summary, title, results];
  if (tests.length) parts.push(visible(tests));
  return { body: element("div", { className: "runner" }, ...parts), choose, start: () => tests.length && start() };
}

function ownInput(controls, start) {
  const input = element("textarea", { id: "own-input", dir: "ltr", className: "code", rows: 3, maxLength: 65536, spellcheck: false, wrap: "off" });
  const run = button(_("Run with this input"));
  controls.push(run);
  run.addEventListener("click", () => start(input.value));
  return element(
    "details",
    { className: "tests" },
    element("summary", { textContent: _("An input of your own") }),
    element("label", { htmlFor: "own-input", textContent: _("What your program reads") }),
    input,
    element("div", { className: "code-tools" }, run),
  );
}

function visible(tests) {
  const parts = tests.map((test, number) =>
    element("div", { className: "test" }, element("h3", { textContent: _("Test %(number)s", { number: number + 1 }) }), pair(_("Input"), test.input), pair(wanted(test), test.expected_output)),
  );
  const title = element("summary", {}, element("h2", { textContent: _("Visible tests (%(count)s)", { count: tests.length }) }));
  return element("details", { className: "tests" }, title, ...parts);
}

function said(result, input) {
  if (!result.ok) return result.kind === "refused" ? result.message : _("The code could not be run just now. Please try again in a moment.");
  if (!result.body.available) return _("Code in this language cannot be run here. Your answer is saved and will be read by a person.");
  if (input !== undefined) return _("Your program ran with your own input; this is not judged.");
  const passed = result.body.results.filter((one) => one.passed).length;
  return _("%(passed)s of %(total)s visible tests passed. More tests may run after you submit.", { passed, total: result.body.results.length });
}

// How a program ended, where the server's sentence says less than it could.
const ENDED = {
  timeout: _("Stopped: the program took too long. It may never end."),
  memory: _("Stopped: the program used more memory than it may."),
  output_limit: _("Stopped: the program printed more than it may."),
};
const NOT_JUDGED = _("This output cannot be judged just now; it does not count against you. A person looks at it after you submit.");

const wanted = (test) => (test.checked ? _("Expected output (others may be right, too)") : _("Expected output"));
const unit = (name, digits, value) => new Intl.NumberFormat(SPOKEN, { style: "unit", unit: name, maximumFractionDigits: digits }).format(value);
const time = (ms) => (ms < 1000 ? unit("millisecond", 0, ms) : unit("second", 1, ms / 1000));
const exit = (one) => (one.exit_code === null ? "" : " · " + _("exit code %(code)s", { code: one.exit_code }));

function shown(one, number, language) {
  const isOwn = one.passed === null;
  const judged = one.judged ? (one.passed ? _("passed") : _("not passed")) : _("not judged");
  const verdict = isOwn ? _("Your own input") : `${_("Test %(number)s", { number: number + 1 })}: ${judged}`;
  const took = element("span", { className: "took", textContent: ` · ${time(one.time_ms)}${exit(one)}` });
  const rows = language === "sql" && areRows(one.expected_output ?? "", one.stdout);
  const printed = one.outcome in ENDED ? _("What it printed until then") : _("Your output");
  const parts = [element("h3", {}, verdict, took), ...why(one, isOwn)];
  if (!one.passed && !isOwn) parts.push(pair(_("Input"), one.input));
  if (one.difference && !one.checked) {
    parts.push(labelled(_("Expected output against yours"), showDiff(one.expected_output, one.stdout, rows)));
  } else if (!one.passed || rows) {
    if (!one.passed && !isOwn) parts.push(rows ? table(wanted(one), one.expected_output) : pair(wanted(one), one.expected_output));
    parts.push(rows ? table(printed, one.stdout) : pair(printed, one.stdout));
  }
  if (one.stderr) parts.push(pair(_("What it wrote to standard error"), one.stderr));
  return element("li", { className: "result", dataset: { passed: one.judged ? one.passed : "unknown" } }, ...parts);
}

function why(one, isOwn) {
  const ended = ENDED[one.outcome];
  const textContent = isOwn || one.passed ? (ended ?? (isOwn ? one.message : "")) : !one.judged ? NOT_JUDGED : (ended ?? (one.difference ? placed(one.difference) : one.message));
  return textContent ? [element("p", { className: "ended", textContent })] : [];
}

function placed({ line, column, expected, got }) {
  if (got === null) return _("Your output ends before line %(line)s.", { line });
  if (expected === null) return _("Line %(line)s of your output should not be there.", { line });
  return _("The first difference is in line %(line)s, at character %(column)s.", { line, column });
}

const labelled = (label, part) => element("div", { className: "pair" }, element("p", { textContent: label }), part);
const pair = (label, content) => labelled(label, block(label, content));
const table = (label, content) => labelled(label, showRows(label, content));
