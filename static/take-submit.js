// The last look before handing in.

import { isEmpty } from "./take-answers.js";
import { element } from "./take-fields.js";

export function makeReview({ cases, answers, api, goTo, onDone, onClosed }) {
  const dialog = document.getElementById("review");
  const list = document.getElementById("review-open");
  const problem = document.getElementById("review-problem");
  const submit = document.getElementById("review-submit");

  function open() {
    const rows = cases
      .map((one) => ({ one, record: answers.get(one.assessment_case_id) }))
      .filter(({ record }) => record.refused || isEmpty(record.value));
    const unanswered = rows.filter(({ record }) => !record.refused).length;
    document.getElementById("review-text").textContent = rows.length
      ? `${summary(unanswered, cases.length)} You cannot change anything after you submit.`
      : `All ${cases.length} cases are answered. You cannot change anything after you submit.`;
    list.replaceChildren(...rows.map(({ one, record }) => row(one, record.refused ? "needs a look: it could not be saved" : "not answered")));
    problem.hidden = true;
    submit.disabled = false;
    submit.textContent = "Submit";
    dialog.showModal();
  }

  function row(one, what) {
    const link = element("button", { type: "button", className: "link", textContent: `Case ${one.case_order}: ${one.title}` });
    link.addEventListener("click", () => {
      dialog.close();
      goTo(one.case_order);
    });
    return element("li", {}, link, ` – ${what}`);
  }

  async function handIn() {
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
  submit.addEventListener("click", handIn);
  return { open, close: () => dialog.close() };
}

function summary(unanswered, total) {
  if (!unanswered) return "Some answers need a look.";
  return unanswered === 1 ? `One of ${total} cases is not answered.` : `${unanswered} of ${total} cases are not answered.`;
}
