// Passkeys: made on the page of one's sessions, used to sign in and to confirm who one is. A browser that has none shows no button.

import { _ } from "./words.js";

const WAIT_MS = 15000;
const AREA = "/api/v1/area";

async function ask(path, body, token) {
  const answer = await fetch(AREA + path, {
    method: "POST",
    credentials: "same-origin",
    signal: AbortSignal.timeout(WAIT_MS),
    headers: { ...(body && { "Content-Type": "application/json" }), ...(token && { "X-CSRF-Token": token }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error.message);
  return said;
}

async function add(form) {
  const token = form.elements.csrf_token.value;
  const { options } = await ask("/passkeys/options/", null, token);
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const made = await navigator.credentials.create({ publicKey });
  await ask("/passkeys/", { name: form.elements.name.value, credential: made.toJSON() }, token);
  location.assign("/area/sessions/?done=add_passkey");
}

async function use(at, form, token) {
  const { options } = await ask(at, null, token);
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const found = await navigator.credentials.get({ publicKey });
  await ask(`${at}answer/`, { credential: found.toJSON() }, token);
  location.assign(form.dataset.next || "/area/");
}

const DEEDS = {
  add,
  "sign-in": (form) => use("/sign-in/passkey/", form),
  confirm: (form) => use("/confirm/passkey/", form, form.elements.csrf_token.value),
};

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON) continue;
  form.hidden = false;
  const problem = form.querySelector("[role=alert]");
  const button = form.querySelector("button");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.textContent = "";
    button.disabled = true;
    try {
      await DEEDS[form.dataset.passkey](form);
    } catch (fault) {
      // What the browser says of its own dialogs tells people nothing.
      problem.textContent = fault instanceof DOMException ? _("Nothing was done: the passkey was not used in time, or not at all.") : fault.message;
      button.disabled = false;
      button.focus();
    }
  });
}
