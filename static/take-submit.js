// The last look before submitting.

import { isEmpty } from "./take-answers.js";
import { element } from "./take-dom.js";

export function makeReview({ cases, answers, flags, api, goTo, onDone, onClosed }) {
  const dialog = document.getElementById("review");
  const list = document.getElementById("review-list");
  const problem = document.getElementById("review-problem");
  const submit = document.getElementById("review-submit");

  function open() {
    const states = cases.map((one) => stateOf(answers.get(one.assessment_case_id), flags.has(one.assessment_case_id)));
    document.getElementById("review-text").textContent = `${summary(states)} You cannot change anything after you submit.`;
    list.replaceChildren(...cases.map((one, place) => row(one, states[place])));
    problem.hidden = true;
    submit.disabled = false;
    submit.textContent = "Submit";
    dialog.showModal();
  }

  function row(one, { answered, refused, flagged }) {
    const link = element("button", { type: "button", className: "link" }, `Case ${one.case_order}: `, element("span", { innerHTML: one.title_html }));
    const said = [refused ? "needs a look: it could not be saved" : answered ? "answered" : "not answered", ...(flagged ? ["flagged for review"] : [])];
    link.addEventListener("click", () => {
      dialog.close();
      goTo(one.case_order);
    });
    return element("li", { dataset: { answered: answered && !refused } }, link, element("span", { className: "state", textContent: said.join(", ") }));
  }

  async function send() {
    submit.disabled = true;
    submit.textContent = "Submitting…";
    problem.hidden = true;
    if (!(await answers.settle())) return failed("Some answers could not be sent yet.");
    const result = await api.submit();
    if (result.ok) return onDone();
    if (result.kind === "closed") return onClosed();
    failed(result.kind === "offline" ? "" : result.message);
  }

  function failed(why) {
    submit.disabled = false;
    submit.textContent = "Try again";
    problem.textContent = `${why} We cannot reach the server just now. Your answers are kept on this device; please try again in a moment.`.trim();
    problem.hidden = false;
  }

  document.getElementById("review-back").addEventListener("click", () => dialog.close());
  submit.addEventListener("click", send);
  return { open, close: () => dialog.close() };
}

const stateOf = (record, flagged) => ({ answered: !isEmpty(record.value), refused: Boolean(record.refused), flagged });

function summary(states) {
  const total = states.length;
  const missing = states.filter((one) => !one.answered && !one.refused).length;
  const parts = [];
  if (missing) parts.push(missing === 1 ? `One of ${total} cases is not answered.` : `${missing} of ${total} cases are not answered.`);
  if (states.some((one) => one.refused)) parts.push("Some answers need a look.");
  if (!parts.length && total) parts.push(total === 1 ? "The one case is answered." : `All ${total} cases are answered.`);
  if (states.some((one) => one.flagged)) parts.push("You flagged some for review.");
  return parts.join(" ");
}
