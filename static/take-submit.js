// The last look before submitting.

import { isEmpty } from "./take-answers.js";
import { element } from "./take-dom.js";
import { _, ngettext } from "./words.js";

export function makeReview({ cases, answers, flags, api, goTo, onDone, onClosed }) {
  const dialog = document.getElementById("review");
  const list = document.getElementById("review-list");
  const problem = document.getElementById("review-problem");
  const submit = document.getElementById("review-submit");

  function open() {
    const states = cases.map((one) => stateOf(answers.get(one.assessment_case_id), flags.has(one.assessment_case_id)));
    document.getElementById("review-text").textContent = `${summary(states)} ${_("You cannot change anything after you submit.")}`;
    list.replaceChildren(...cases.map((one, place) => row(one, states[place])));
    problem.hidden = true;
    submit.disabled = false;
    submit.textContent = _("Submit");
    dialog.showModal();
  }

  function row(one, { answered, refused, flagged }) {
    const link = element("button", { type: "button", className: "link" }, `${_("Case %(number)s:", { number: one.case_order })} `, element("span", { dir: "auto", innerHTML: one.title_html }));
    const said = [refused ? _("needs a look: it could not be saved") : answered ? _("answered") : _("not answered"), ...(flagged ? [_("flagged for review")] : [])];
    link.addEventListener("click", () => {
      dialog.close();
      goTo(one.case_order);
    });
    return element("li", { dataset: { answered: answered && !refused } }, link, element("span", { className: "state", textContent: said.join(", ") }));
  }

  async function send() {
    submit.disabled = true;
    submit.textContent = _("Submitting…");
    problem.hidden = true;
    if (!(await answers.settle())) return failed(_("Some answers could not be sent yet."));
    const result = await api.submit();
    if (result.ok) return onDone();
    if (result.kind === "closed") return onClosed();
    failed(result.kind === "offline" ? "" : result.message);
  }

  function failed(why) {
    submit.disabled = false;
    submit.textContent = _("Try again");
    problem.textContent = `${why} ${_("We cannot reach the server just now. Your answers are kept on this device; please try again in a moment.")}`.trim();
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
  if (missing) parts.push(ngettext("One of %(total)s cases is not answered.", "%(num)s of %(total)s cases are not answered.", missing, { total }));
  if (states.some((one) => one.refused)) parts.push(_("Some answers need a look."));
  if (!parts.length && total) parts.push(ngettext("The one case is answered.", "All %(num)s cases are answered.", total));
  if (states.some((one) => one.flagged)) parts.push(_("You flagged some for review."));
  return parts.join(" ");
}
