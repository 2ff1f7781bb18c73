// What an interviewer makes of the candidate: during the interview, and after it.

import { _ } from "../words.js";

const find = (id) => document.getElementById(id);

export function judge({ ask, outcome }) {
  const form = find("judge-form"), kept = find("judge-kept"), problem = find("judge-problem");
  if (outcome) {
    form.elements.recommendation.value = outcome.recommendation;
    find("judge-comment").value = outcome.comment;
  }
  form.addEventListener("input", () => { kept.textContent = ""; });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.hidden = true;
    const criteria = [...form.querySelectorAll("[data-criterion]")]
      .filter((one) => one.value)
      .map((one) => ({ name: one.dataset.criterion, score: Number(one.value) }));
    try {
      await ask("POST", "outcome/", {
        recommendation: form.elements.recommendation.value,
        comment: find("judge-comment").value.trim(),
        name: sessionStorage.getItem("name") ?? "",
        criteria,
      });
      kept.textContent = _("Your judgement is kept.");
    } catch (fault) {
      problem.textContent = _("It was not kept: %(why)s", { why: fault.message });
      problem.hidden = false;
    }
  });
}
