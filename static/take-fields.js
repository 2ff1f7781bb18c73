// One case on the page: its question and the field for its answer.

import { isEmpty } from "./take-answers.js";

const INDENT = "    ";
const LANGUAGES = { python: "Python", javascript: "JavaScript", typescript: "TypeScript", sql: "SQL", java: "Java", go: "Go", bash: "Bash" };

export function element(tag, properties = {}, ...children) {
  const { dataset, ...rest } = properties;
  const made = Object.assign(document.createElement(tag), rest);
  Object.assign(made.dataset, dataset);
  made.append(...children);
  return made;
}

// What is sent for what was typed: {answer} or {fault}.
export function toAnswer(one, value) {
  if (one.case_type !== "numeric" || isEmpty(value)) return { answer: isEmpty(value) ? null : value };
  const typed = String(value).trim().replace("−", "-");
  if (/^[+-]?\d{1,3}([,.]\d{3})+$/.test(typed) && typed.includes(",")) {
    return { fault: "Please write the number without thousands separators, and with a point for decimals." };
  }
  const number = Number(typed.replace(",", "."));
  return typed !== "" && Number.isFinite(number) ? { answer: number } : { fault: "Please enter a number, such as 3.5 or -12." };
}

// Builds a case into `box`; `set(value)` shows a value that came from elsewhere.
export function showCase(box, one, total, value, { onInput, onRun }) {
  const field = FIELDS[one.case_type](one, onInput);
  const facts = [
    one.points ? `${one.points} points` : "",
    one.time_limit_minutes ? `suggested time ${one.time_limit_minutes} min` : "",
    LANGUAGES[one.language] ?? one.language ?? "",
  ];
  const question = element("div", { className: "question" });
  question.innerHTML = one.question_html; // rendered and sanitised by the server
  const fault = element("p", { className: "problem", id: "case-fault", role: "alert", hidden: true });
  box.replaceChildren(
    element("p", { className: "eyebrow", textContent: [`Case ${one.case_order} of ${total}`, ...facts].filter(Boolean).join(" · ") }),
    element("h1", { id: "case-title", tabIndex: -1, textContent: one.title }),
    question,
    field.body,
    fault,
    ...(one.case_type === "coding" ? [runner(one, field, onRun)] : []),
  );
  field.set(value);
  return {
    set: field.set,
    fault: (message) => {
      fault.hidden = !message;
      if (fault.textContent !== (message ?? "")) fault.textContent = message ?? "";
    },
  };
}

const FIELDS = { mcq: choice, numeric, text, coding };

function choice(one, onInput) {
  const many = one.allow_multiple;
  const inputs = one.options.map((option) =>
    element("input", { type: many ? "checkbox" : "radio", name: "answer", value: option.id, id: `option-${option.id}` }),
  );
  const clear = element("button", { type: "button", className: "button small quiet", textContent: "Clear my choice" });
  const chosen = () => inputs.filter((input) => input.checked).map((input) => input.value);
  const changed = () => {
    clear.hidden = many || !chosen().length;
    onInput(many ? chosen() : (chosen()[0] ?? null));
  };
  const rows = one.options.map((option, number) =>
    element("label", { className: "option" }, inputs[number], element("span", { textContent: option.text })),
  );
  const legend = many ? "Choose every answer that is right" : "Choose one answer";
  const body = element("fieldset", { className: "field" }, element("legend", { textContent: legend }), ...rows, clear);
  body.addEventListener("change", changed);
  clear.addEventListener("click", () => {
    for (const input of inputs) input.checked = false;
    inputs[0].focus();
    changed();
  });
  const set = (value) => {
    for (const input of inputs) input.checked = many ? Boolean(value?.includes(input.value)) : value === input.value;
    clear.hidden = many || !chosen().length;
  };
  return { body, set };
}

function written(control, label, hint, onInput) {
  control.id = "answer";
  control.setAttribute("aria-describedby", "answer-hint case-fault");
  control.addEventListener("input", () => onInput(control.value));
  const body = element(
    "div",
    { className: "field" },
    element("label", { htmlFor: "answer", textContent: label }),
    control,
    element("p", { className: "hint", id: "answer-hint", textContent: hint }),
  );
  const set = (value) => {
    const shown = value === null || value === undefined ? "" : String(value);
    if (control.value !== shown) control.value = shown;
  };
  return { body, set, control };
}

function numeric(_one, onInput) {
  const control = element("input", { type: "text", inputMode: "decimal", autocomplete: "off", className: "number" });
  return written(control, "Your answer", "A number, with a point for decimals.", onInput);
}

function text(_one, onInput) {
  return written(element("textarea", { rows: 9, maxLength: 65536 }), "Your answer", "Saved while you type.", onInput);
}

function coding(one, onInput) {
  const control = element("textarea", { rows: 16, maxLength: 65536, className: "code", spellcheck: false, wrap: "off", autocapitalize: "off" });
  control.setAttribute("autocorrect", "off");
  const field = written(control, "Your code", "Tab indents. To leave the field with the keyboard, press Escape, then Tab.", onInput);
  tabIndents(control);
  const set = (value) => field.set(value === undefined ? one.starter_code : value);
  return { ...field, set };
}

function tabIndents(control) {
  let leaving = false;
  control.addEventListener("keydown", (event) => {
    if (event.key === "Tab" && !event.shiftKey && !leaving) {
      event.preventDefault();
      // Goes through the browser's own editing, so that undo knows of it.
      if (!document.execCommand("insertText", false, INDENT)) {
        control.setRangeText(INDENT, control.selectionStart, control.selectionEnd, "end");
        control.dispatchEvent(new Event("input"));
      }
    }
    if (event.key !== "Shift") leaving = event.key === "Escape";
  });
  control.addEventListener("focus", () => {
    leaving = false;
  });
}

function runner(one, field, onRun) {
  const button = element("button", { type: "button", className: "button", textContent: "Run the visible tests" });
  const summary = element("p", { className: "run-summary", role: "status" });
  const results = element("ol", { className: "results" });
  button.addEventListener("click", async () => {
    button.disabled = true;
    summary.textContent = "Running…";
    results.replaceChildren();
    const result = await onRun(field.control.value);
    button.disabled = false;
    summary.textContent = said(result);
    if (result.ok) results.replaceChildren(...result.body.results.map(shown));
  });
  const tests = one.test_cases.map((test, number) =>
    element("div", { className: "test" }, element("h3", { textContent: `Test ${number + 1}` }), pair("Input", test.input), pair(wanted(test), test.expected_output)),
  );
  const visible = element("details", { className: "tests" }, element("summary", { textContent: `Visible tests (${tests.length})` }), ...tests);
  return element("div", { className: "runner" }, ...(tests.length ? [button, summary, results, visible] : []));
}

function said(result) {
  if (!result.ok) return result.kind === "refused" ? result.message : "The code could not be run just now. Please try again in a moment.";
  if (!result.body.available) return "Code in this language cannot be run here. Your answer is saved and will be read by a person.";
  const passed = result.body.results.filter((one) => one.passed).length;
  return `${passed} of ${result.body.results.length} visible tests passed. More tests may run after you submit.`;
}

// How a program ended, where the server's sentence says less than it could.
const ENDED = {
  timeout: "Stopped: the program took too long. It may never end.",
  memory: "Stopped: the program used more memory than it may.",
  output_limit: "Stopped: the program printed more than it may.",
};
const NOT_JUDGED = "This output cannot be judged just now; it does not count against you. A person looks at it after you submit.";

const wanted = (test) => (test.checked ? "Expected output (others may be right, too)" : "Expected output");

function shown(one, number) {
  const took = element("span", { className: "took", textContent: ` · ${one.time_ms} ms` });
  const head = element("h3", {}, `Test ${number + 1}: ${one.judged ? (one.passed ? "passed" : "not passed") : "not judged"}`, took);
  const why = !one.judged ? NOT_JUDGED : (ENDED[one.outcome] ?? (one.difference ? placed(one.difference) : one.message));
  const rest = one.passed ? [] : [element("p", { className: "ended", textContent: why })];
  if (one.difference) rest.push(compared(one.difference));
  if (!one.passed) rest.push(pair("Input", one.input), pair(wanted(one), one.expected_output), pair("Your output", one.stdout));
  if (one.stderr) rest.push(pair("What it wrote to standard error", one.stderr));
  return element("li", { className: "result", dataset: { passed: one.judged ? one.passed : "unknown" } }, head, ...rest);
}

function placed({ line, column, expected, got }) {
  if (got === null) return `Your output ends before line ${line}.`;
  if (expected === null) return `Line ${line} of your output should not be there.`;
  return `The first difference is in line ${line}, at character ${column}.`;
}

// The two lines one below the other, with the first character that differs marked in each.
function compared({ line, column, expected, got }) {
  const row = (label, text) => (text === null ? [] : [element("dt", { textContent: label }), element("dd", {}, ...marked(text, column))]);
  return element("dl", { className: "difference", ariaLabel: `Line ${line}` }, ...row("Expected", expected), ...row("Got", got));
}

function marked(text, column) {
  if (text.startsWith("…") || text.endsWith("…")) return [text]; // cut: the column counts in the whole line
  const characters = [...text];
  const at = column - 1;
  return [characters.slice(0, at).join(""), element("mark", { textContent: characters[at] ?? "⏎" }), characters.slice(at + 1).join("")];
}

function pair(label, content) {
  return element("div", { className: "pair" }, element("p", { textContent: label }), element("pre", { textContent: content || "(nothing)" }));
}
