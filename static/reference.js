// The reference reads the document that the service itself is made of, so it cannot be out of date. Swagger UI shows it and
// sends requests; what is filled in, found and shown as programs is decided here and beside this file.

import { finder, prepared, resolved } from "./reference-document.js";
import { Missing, Needs } from "./reference-needs.js";
import { fillIn as chosen } from "./reference-operations.js";
import { LANGUAGES, sample } from "./reference-samples.js";

const DOCUMENT = "/api/v1/public/openapi-3.1.json";
const KEY = "Idempotency-Key";
const place = document.getElementById("reference");
const field = document.getElementById("reference-key");
const search = document.getElementById("reference-search");
const dark = matchMedia("(prefers-color-scheme: dark)");

const fresh = () => {
  const made = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(made, (one) => one.toString(16).padStart(2, "0")).join("");
};

// --- What Swagger UI is told

function plugin(operations, events) {
  return ({ React, ...system }) => {
    const h = React.createElement;

    // Fill in an operation; `raw` are its parameters as Swagger UI knows them.
    async function fill(id, raw, say) {
      const operation = operations.get(id);
      if (!field.value) return say("Give a key above, and this is filled in with what you have.");
      say("Filling in …");
      const { specActions, oas3Actions, specSelectors } = window.reference.getSystem();
      const at = [operation.path, operation.method];
      try {
        const { params, body, form } = await chosen(new Needs(field.value), structuredClone(operation));
        for (const one of raw) {
          const name = one.get("name");
          if (name in params) specActions.changeParamByIdentity(at, one, params[name], false);
        }
        if (body) oas3Actions.setRequestBodyValue({ value: JSON.stringify(body, null, 2), pathMethod: at });
        for (const [name, value] of Object.entries(form ?? {})) {
          oas3Actions.setRequestBodyValue({ value: specSelectors.specJson().clear().set(name, value), pathMethod: at });
        }
        const files = Object.values(form ?? {}).filter((one) => one instanceof File).map((one) => one.name);
        say(files.length ? `Ready to be sent, with ${files.join(", ")}.` : "Ready to be sent.");
      } catch (fault) {
        if (!(fault instanceof Missing)) throw fault;
        say(fault.message);
      }
    }

    // The request as it stands in the form, for a sample of it.
    function current(id) {
      const { specSelectors, oas3Selectors } = window.reference.getSystem();
      const operation = operations.get(id);
      const at = [operation.path, operation.method];
      const values = specSelectors.parameterValues(at).toJS();
      let url = `${location.origin}/api/v1/public${operation.path}`;
      const query = [], headers = [];
      for (const one of operation.parameters) {
        const value = values[`${one.in}.${one.name}`];
        if (value === undefined || value === "" || value === null) continue;
        if (one.in === "path") url = url.replace(`{${one.name}}`, encodeURIComponent(value));
        if (one.in === "query") query.push(...[value].flat().map((each) => [one.name, each]));
        if (one.in === "header" && one.name !== KEY) headers.push([one.name, value]);
      }
      const request = { method: operation.method.toUpperCase(), url, query, headers };
      const body = oas3Selectors.requestBodyValue(...at);
      if (typeof body === "string" && body) return { ...request, json: body };
      if (body?.entrySeq) {
        const parts = body.entrySeq().toArray().map(([name, one]) => [name, one?.get ? one.get("value") : one]);
        const given = parts.filter(([, value]) => value !== undefined && value !== "");
        return { ...request, parts: given.map(([name, value]) => [name, value instanceof File ? { file: value.name } : value]) };
      }
      return request;
    }

    function Samples({ id, parameters }) {
      const [language, choose] = React.useState("curl");
      const [said, say] = React.useState("");
      const [, again] = React.useReducer((count) => count + 1, 0);
      const fillIn = () => fill(id, parameters, say);
      React.useEffect(() => {
        fillIn();
        return window.reference.getStore().subscribe(() => queueMicrotask(again));
      }, []);
      const tabs = Object.entries(LANGUAGES).map(([name, title]) =>
        h("button", { key: name, type: "button", className: "sample-tab", "aria-pressed": name === language, onClick: () => choose(name) }, title));
      return h("div", { className: "samples" },
        h("p", { className: "filled", id: `filled-${id}`, role: "status" }, said),
        h("div", { className: "sample-tabs" }, ...tabs,
          h("button", { type: "button", className: "sample-tab copy", onClick: () => navigator.clipboard?.writeText(sample(language, current(id))) }, "Copy"),
          h("button", { type: "button", className: "sample-tab", onClick: fillIn }, "Fill in anew")),
        h("pre", { className: "sample", tabIndex: 0, "data-language": language }, h("code", null, sample(language, current(id)))));
    }

    const nothing = () => () => null;
    return {
      fn: {
        // Its own normalises the whole document again for each operation that is opened: seconds for each.
        resolveSubtree: async (whole, path) => ({ errors: [], spec: resolved(whole, path) }),
        opsFilter: (tagged, phrase) => {
          const finds = finder(phrase);
          const fits = (one) => finds(operations.get(one.getIn(["operation", "operationId"]))?.text ?? "");
          return tagged.map((tag) => tag.update("operations", (each) => each.filter(fits))).filter((tag) => tag.get("operations").size);
        },
      },
      statePlugins: {
        spec: {
          wrapSelectors: {
            // Swagger UI searches operations alone.
            selectWebhooksOperations: (original, { getSystem }) => (_, ...more) => {
              const phrase = getSystem().layoutSelectors.currentFilter();
              const finds = finder(phrase || "");
              return Object.fromEntries(Object.entries(original(...more) ?? {}).filter(([type]) => !phrase || finds(events.get(type) ?? "")));
            },
          },
        },
      },
      wrapComponents: {
        authorizeBtn: nothing,
        authorizeOperationBtn: nothing,
        ServersContainer: nothing,
        FilterContainer: nothing,
        TryItOutButton: nothing,
        // A link within a button is neither for who uses no mouse; the address changes as an operation is opened.
        DeepLink: () => ({ text }) => h("span", null, text),
        InfoContainer: (Original) => (props) =>
          h("section", { "aria-label": "About this API" }, h(Original, props), h("h2", { className: "reference-heading" }, "Operations")),
        // Of a search that finds none it says that the document has none.
        operations: (Original) => (props) => {
          const none = !props.specSelectors.taggedOperations().size && props.layoutSelectors.currentFilter();
          return none ? h("p", { role: "status" }, "No operation is called so.") : h(Original, props);
        },
        TextArea: (Original) => (props) => h(Original, { "aria-label": "Request body", ...props }),
        execute: (Original) => (props) => {
          const id = props.operation.get("operationId");
          const parameters = props.operation.get("parameters")?.toArray() ?? [];
          return h(React.Fragment, null, h(Original, props), operations.has(id) ? h(Samples, { id, parameters }) : null);
        },
      },
    };
  };
}

// What it leaves unsaid for those who do not see the page, or use no mouse.
const UNSAID = [
  ["pre.microlight:not([tabindex])", (one) => one.setAttribute("tabindex", "0")],
  ["select:not([aria-label])", (one) => one.setAttribute("aria-label", one.closest("[data-param-name]")?.dataset.paramName ?? "Example or media type")],
  ["table[role=region]", (one) => one.removeAttribute("role")],
  ["input:not([aria-label]):not([id])", (one) => one.setAttribute("aria-label", one.placeholder || one.closest("[data-param-name]")?.dataset.paramName || "Value")],
];

function mend() {
  for (const [selector, say] of UNSAID) place.querySelectorAll(selector).forEach(say);
}

function begin(spec) {
  const { operations, events } = prepared(spec);
  const ui = window.SwaggerUIBundle({
    spec,
    domNode: place,
    deepLinking: true,
    docExpansion: "none",
    defaultModelsExpandDepth: -1,
    defaultModelRendering: "example",
    displayOperationId: true,
    displayRequestDuration: true,
    syntaxHighlight: false,
    showExtensions: false,
    persistAuthorization: false,
    tryItOutEnabled: true,
    validatorUrl: null,
    plugins: [plugin(operations, events)],
    // A name of its own for each request, unless one was given.
    requestInterceptor: (request) => {
      if (request.method?.toUpperCase() === "POST" && !request.headers[KEY]) request.headers[KEY] = fresh();
      return request;
    },
    onComplete: () => {
      mend();
      new MutationObserver(mend).observe(place, { childList: true, subtree: true });
      place.setAttribute("aria-busy", "false");
      authorize();
    },
  });
  window.reference = ui;

  function authorize() {
    if (field.value) ui.preauthorizeApiKey("bearer", field.value);
  }
  field.addEventListener("change", authorize);

  let waiting, found = new Set(); // the tags that a search opened
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const { layoutActions } = ui.getSystem();
      const text = search.value.trim();
      const finds = finder(text);
      const fitting = text ? [...operations.values()].filter((one) => finds(one.text)) : [];
      const tags = new Set(fitting.map((one) => one.tag));
      layoutActions.updateFilter(text || false);
      place.classList.toggle("searching", text !== "");
      for (const tag of [...found].filter((one) => !tags.has(one))) layoutActions.show(["operations-tag", tag], false);
      for (const tag of [...tags].filter((one) => !found.has(one))) layoutActions.show(["operations-tag", tag], true);
      found = tags;
    }, 150);
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select");
    if (event.key === "/" && !typing) {
      event.preventDefault();
      search.focus();
    }
  });
}

function colour() {
  document.documentElement.classList.toggle("dark-mode", dark.matches);
}

dark.addEventListener("change", colour);
colour();
fetch(DOCUMENT, { signal: AbortSignal.timeout(60_000) }).then((answer) => answer.json()).then(begin);
