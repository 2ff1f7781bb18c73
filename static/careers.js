// What makes the form of an application more comfortable; without it everything works all the same.

import { _ } from "./words.js";

const LARGEST = 10 * 1024 * 1024;

function files(form) {
  return [...form.querySelectorAll('input[type="file"]')];
}

function tell(input, text) {
  const id = `${input.id}-size`;
  document.getElementById(id)?.remove();
  if (!text) {
    if (input.dataset.tooLarge) input.removeAttribute("aria-invalid");
    delete input.dataset.tooLarge;
    return;
  }
  const problem = document.createElement("p");
  problem.className = "problem";
  problem.id = id;
  problem.setAttribute("role", "alert");
  problem.textContent = text;
  input.after(problem);
  input.dataset.tooLarge = "yes";
  input.setAttribute("aria-invalid", "true");
  const described = (input.getAttribute("aria-describedby") || "").split(" ").filter((one) => one && one !== id);
  input.setAttribute("aria-describedby", [...described, id].join(" "));
}

// What is too large is said before it is sent: a body that is refused is not read, and what was written with it is lost.
function tooLarge(form) {
  const chosen = files(form).filter((input) => input.files.length);
  const total = chosen.reduce((sum, input) => sum + input.files[0].size, 0);
  for (const input of files(form)) tell(input, "");
  if (total <= LARGEST) return false;
  const largest = chosen.reduce((one, other) => (one.files[0].size >= other.files[0].size ? one : other));
  const what = chosen.length > 1 ? _("Together the files are larger than 10 MiB. Please choose a smaller one.") : _("This file is larger than 10 MiB. Please choose a smaller one.");
  tell(largest, what);
  largest.focus();
  return true;
}

for (const form of document.querySelectorAll('form[enctype="multipart/form-data"]')) {
  form.addEventListener("change", (event) => {
    if (event.target.type === "file") tooLarge(form);
  });
  form.addEventListener("submit", (event) => {
    if (tooLarge(form)) event.preventDefault();
  });
}

for (const field of document.querySelectorAll("[data-drop]")) {
  const input = field.querySelector('input[type="file"]');
  const over = (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    field.dataset.drop = "over";
  };
  field.addEventListener("dragenter", over);
  field.addEventListener("dragover", over);
  field.addEventListener("dragleave", (event) => {
    if (!field.contains(event.relatedTarget)) field.dataset.drop = "";
  });
  field.addEventListener("drop", (event) => {
    field.dataset.drop = "";
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    const one = new DataTransfer();
    one.items.add(event.dataTransfer.files[0]);
    input.files = one.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
}

// Where a browser does not heed `autofocus` of what is no control.
document.getElementById("faults")?.focus();
