// One case on the page: its task and the field for its answer.

import { isEmpty } from "./take-answers.js";
import { coding, LANGUAGES } from "./take-code.js";
import { element, scrollable } from "./take-dom.js";
import { runner } from "./take-runs.js";
import { sideBySide } from "./take-split.js";
import { _, ngettext, SPOKEN } from "./words.js";

// How numbers are written in the page's language.
const DECIMAL = new Intl.NumberFormat(SPOKEN).formatToParts(1.5).find((part) => part.type === "decimal").value;
const [COMMA, GROUPED] = DECIMAL === "," ? [true, /^[+-]?\d{1,3}(\.\d{3})+$/] : [false, /^[+-]?\d{1,3}(,\d{3})+$/];
const SOME_NUMBER = /^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d{1,3})?$/i;

// What is sent for what was typed: {answer} or {fault}.
export function toAnswer(one, value) {
  if (one.case_type !== "numeric" || isEmpty(value) || typeof value === "number") return { answer: isEmpty(value) ? null : value };
  const typed = String(value).trim().replace("−", "-");
  if (GROUPED.test(typed) || /[.,].*[.,]/.test(typed)) {
    return {
      fault: COMMA
        ? _("Please write the number without thousands separators, and with a comma for decimals.")
        : _("Please write the number without thousands separators, and with a point for decimals."),
    };
  }
  const number = Number(typed.replace(",", "."));
  return SOME_NUMBER.test(typed) && Number.isFinite(number) ? { answer: number } : { fault: _("Please enter a number, such as %(example)s.", { example: new Intl.NumberFormat(SPOKEN).format(3.5) }) };
}

// The field for an answer alone, for a try before the start.
export const makeField = (one, how) => FIELDS[one.case_type](one, how);

// Builds a case once; `set(value)` shows a value that came from elsewhere. It stays as it is while another one is shown.
export function makeCase(one, total, { language, flagged, kept, onInput, onRun, onWait, onChoose, onFlag }) {
  const isCode = one.case_type === "coding";
  let run = () => {};
  const field = FIELDS[one.case_type](one, { onInput, onRun: () => run(), kept });
  const facts = [
    one.points ? ngettext("%(num)s point", "%(num)s points", one.points) : "",
    one.time_limit_minutes ? _("suggested time %(minutes)s min", { minutes: one.time_limit_minutes }) : "",
    one.languages.length > 1 ? "" : (LANGUAGES[one.language] ?? one.language ?? ""),
  ];
  const flag = element("button", { type: "button", className: "button small flag", textContent: _("Flag for review") });
  const mark = (is) => flag.setAttribute("aria-pressed", Boolean(is));
  mark(flagged);
  flag.addEventListener("click", () => mark(onFlag()));
  const head = element(
    "div",
    { className: "case-head" },
    element("p", { className: "eyebrow", textContent: [_("Case %(number)s of %(total)s", { number: one.case_order, total }), ...facts].filter(Boolean).join(" · ") }),
    element("h1", { id: "case-title", dir: "auto", tabIndex: -1, innerHTML: one.title_html }),
    flag,
  );
  const fault = element("p", { className: "problem", id: "case-fault", role: "alert", hidden: true });
  const view = {
    body: element("div", {}, head),
    set: field.set,
    mark,
    keep: () => field.keep?.(),
    back: () => {},
    choose: () => {},
    fault: (message) => {
      fault.hidden = !message;
      if (fault.textContent !== (message ?? "")) fault.textContent = message ?? "";
    },
  };
  if (!isCode) {
    view.body.append(task(one), field.body, fault);
    return view;
  }
  const tries = runner(one, field, { language, onRun, onWait, onChoose });
  run = tries.start;
  view.choose = tries.choose;
  const parts = sideBySide(scrollable(element("div", { className: "task" }, task(one)), _("The task")), element("div", {}, field.body, fault, tries.body));
  view.body.append(parts.body);
  view.back = () => {
    parts.again();
    field.back();
  };
  return view;
}

function task(one) {
  const question = element("div", { className: "question", dir: "auto" });
  question.innerHTML = one.question_html; // rendered and sanitised by the server
  for (const part of question.querySelectorAll("pre")) scrollable(part, _("Code"));
  for (const part of question.querySelectorAll("table")) {
    const frame = scrollable(element("div", { className: "table" }), _("Table"));
    part.replaceWith(frame);
    frame.append(part);
  }
  inOrder(question);
  return question;
}

// Its headings come below the case's title, each at most one level deeper than the one before.
function inOrder(question) {
  let [level, given] = [1, 0];
  for (const heading of question.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const deep = Number(heading.tagName[1]);
    level = Math.min(6, Math.max(2, deep > given ? level + 1 : level - (given - deep)));
    given = deep;
    heading.replaceWith(element(`h${level}`, {}, ...heading.childNodes));
  }
}

const FIELDS = { mcq: choice, numeric, text, coding };

function choice(one, { onInput }) {
  const many = one.allow_multiple;
  const inputs = one.options.map((option) =>
    element("input", { type: many ? "checkbox" : "radio", name: "answer", value: option.id, id: `option-${option.id}` }),
  );
  const clear = element("button", { type: "button", className: "button small quiet", textContent: _("Clear my choice") });
  const chosen = () => inputs.filter((input) => input.checked).map((input) => input.value);
  const changed = () => {
    clear.hidden = many || !chosen().length;
    onInput(many ? chosen() : (chosen()[0] ?? null));
  };
  const rows = one.options.map((option, number) =>
    element("label", { className: "option" }, inputs[number], element("span", { dir: "auto", innerHTML: option.text_html })),
  );
  const legend = many ? _("Choose every answer that is right") : _("Choose one answer");
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

function numeric(one, { onInput }) {
  const control = element("input", { type: "text", dir: "ltr", inputMode: "decimal", autocomplete: "off", className: "number" });
  const understood = element("p", { className: "hint", id: "understood", role: "status" });
  const echo = () => {
    const { answer } = toAnswer(one, control.value);
    const shown = typeof answer === "number" ? new Intl.NumberFormat(SPOKEN, { maximumSignificantDigits: 15 }).format(answer) : "";
    understood.textContent = shown && _("Understood as %(number)s.", { number: shown });
  };
  const field = written(control, _("Your answer"), COMMA ? _("A number, with a comma for decimals.") : _("A number, with a point for decimals."), (value) => {
    echo();
    onInput(value);
  });
  field.body.append(understood);
  return {
    ...field,
    set: (value) => {
      field.set(typeof value === "number" ? String(value).replace(".", DECIMAL) : value);
      echo();
    },
  };
}

function text(_one, { onInput }) {
  const control = element("textarea", { dir: "auto", rows: 9, maxLength: 65536 });
  const words = element("p", { className: "hint", id: "words" });
  const count = () => {
    const number = wordsIn(control.value);
    words.textContent = ngettext("%(num)s word", "%(num)s words", number);
  };
  const field = written(control, _("Your answer"), _("Saved while you type."), (value) => {
    count();
    onInput(value);
  });
  field.body.append(words);
  return {
    ...field,
    set: (value) => {
      field.set(value);
      count();
    },
  };
}

// In languages that write without spaces, too, where the browser knows their words.
function wordsIn(written) {
  if (!Intl.Segmenter) return written.split(/\s+/).filter(Boolean).length;
  let number = 0;
  for (const part of new Intl.Segmenter(SPOKEN, { granularity: "word" }).segment(written)) number += part.isWordLike ? 1 : 0;
  return number;
}
