// Fill in every operation as the reference page does, without a browser, send it, and print what came of it, a line for each.

import { prepared } from "../../static/reference-document.js";
import { Missing, Needs } from "../../static/reference-needs.js";
import { fillIn } from "../../static/reference-operations.js";

const { BASE_URL, API_KEY } = process.env;
const PUBLIC = `${BASE_URL}/api/v1/public`;
const fetched = globalThis.fetch;
// The page asks where it came from.
globalThis.fetch = (path, options) => fetched(new URL(path, BASE_URL), options);

const document = await (await fetch(`${PUBLIC}/openapi-3.1.json`)).json();

for (const one of prepared(document).operations.values()) {
  const said = await tried(one).catch((fault) => {
    if (!(fault instanceof Missing)) throw fault;
    return { status: 0, text: fault.message };
  });
  console.log(JSON.stringify({ id: one.id, ...said }));
}

async function tried(one) {
  const { params, body, form } = await fillIn(new Needs(API_KEY), structuredClone(one));
  const value = ({ name, required, example }) => params[name] ?? (required ? example : undefined);
  const found = Object.fromEntries(one.parameters.map((parameter) => [parameter.name, value(parameter)]));
  const url = new URL(PUBLIC + one.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(found[name])));
  for (const { name } of one.parameters.filter((parameter) => parameter.in === "query" && found[parameter.name])) {
    for (const each of [found[name]].flat()) url.searchParams.append(name, each);
  }
  const headers = { Authorization: `Bearer ${API_KEY}` };
  const json = body ?? one.example;
  let sent;
  if (form) {
    sent = new FormData();
    for (const [name, value] of Object.entries(form)) sent.set(name, value);
  } else if (json) {
    headers["Content-Type"] = "application/json";
    sent = JSON.stringify(json);
  }
  const answer = await fetch(url, { method: one.method.toUpperCase(), headers, body: sent, signal: AbortSignal.timeout(60_000) });
  return { status: answer.status, text: answer.ok ? "" : await answer.text() };
}
