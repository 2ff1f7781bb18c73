"use strict";

// The reference reads the document that the service itself is made of, so it cannot be out of date.
// What an example shows is filled in where something has to be said, and nowhere else: an optional filter, a cursor or an
// Idempotency-Key that somebody made up would only be refused.
function withoutWhatNeedNotBeSaid(place) {
  if (Array.isArray(place)) return place.forEach(withoutWhatNeedNotBeSaid);
  if (place === null || typeof place !== "object") return undefined;
  if ((place.in === "query" || place.in === "header") && place.schema && !place.required) {
    for (const name of ["example", "examples"]) {
      delete place[name];
      delete place.schema[name];
    }
  }
  return Object.values(place).forEach(withoutWhatNeedNotBeSaid);
}

// The page makes a body up where a document names its examples; here the first of them is the example.
function withTheFirstExample(spec) {
  const shown = (one) => (one.$ref ? one.$ref.slice(2).split("/").reduce((place, name) => place[name], spec) : one);
  const bodies = Object.values(spec.paths).flatMap((path) => Object.values(path).map((operation) => operation.requestBody));
  for (const body of bodies.filter(Boolean).map(shown)) {
    for (const content of Object.values(body.content)) {
      const [first] = Object.values(content.examples ?? {});
      if (first) content.example = shown(first).value;
      delete content.examples;
    }
  }
}

fetch("/api/v1/public/openapi.json")
  .then((answer) => answer.json())
  .then((spec) => {
    withoutWhatNeedNotBeSaid(spec.paths);
    withoutWhatNeedNotBeSaid(spec.components.parameters);
    withTheFirstExample(spec);
    window.SwaggerUIBundle({
      spec,
      dom_id: "#reference",
      deepLinking: true,
      docExpansion: "none",
      filter: true,
      persistAuthorization: false,
      tryItOutEnabled: true,
      validatorUrl: null,
    });
  });
