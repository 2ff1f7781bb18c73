// The document as the page needs it: without examples that only mislead, each operation and event with what a search looks in.

const METHODS = ["get", "put", "post", "delete", "patch"];

function looked(document, reference) {
  return reference.slice(2).split("/").reduce((found, name) => found[name.replaceAll("~1", "/").replaceAll("~0", "~")], document);
}

// The part of a document at `path`, with what it refers to in its place; a schema within itself stays a reference.
export function resolved(document, path) {
  const whole = (one, above) => {
    if (Array.isArray(one)) return one.map((each) => whole(each, above));
    if (one === null || typeof one !== "object") return one;
    const { $ref, ...own } = one;
    if (typeof $ref !== "string") return Object.fromEntries(Object.entries(one).map(([name, each]) => [name, whole(each, above)]));
    return above.includes($ref) ? one : { ...whole(looked(document, $ref), [...above, $ref]), ...whole(own, above) };
  };
  return whole(path.reduce((found, name) => found?.[name], document), []);
}

// The headers of refusals are the same everywhere; a single example needs no choice.
function shorten(answer, succeeds, whole) {
  if (answer.$ref) return;
  if (!succeeds) delete answer.headers;
  for (const content of Object.values(answer.content ?? {})) {
    const examples = Object.values(content.examples ?? {}).map(whole);
    if (examples.length !== 1) continue;
    content.example = examples[0].value;
    delete content.examples;
  }
}

// An optional filter, a cursor or an Idempotency-Key that an example made up would only be refused: they stay empty.
// Where a body has named examples, the first of them is the one that is shown.
export function prepared(document) {
  const whole = (one) => (one.$ref ? looked(document, one.$ref) : one);
  const operations = new Map();
  // In place: what many operations refer to stays one, or the page would hold it a thousand times.
  for (const answer of Object.values(document.components.responses)) shorten(answer, false, whole);
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS.filter((one) => item[one])) {
      const operation = item[method];
      operation.parameters = [...(operation.parameters ?? []), ...(item.parameters ?? [])];
      const parameters = operation.parameters.map(whole);
      for (const one of parameters.filter((parameter) => !parameter.required)) {
        for (const name of ["example", "examples"]) {
          delete one[name];
          if (one.schema) delete one.schema[name];
        }
        if (one.schema) delete one.schema.default;
      }
      const body = operation.requestBody && whole(operation.requestBody);
      for (const content of Object.values(body?.content ?? {})) {
        const [first] = Object.values(content.examples ?? {}).map(whole);
        if (first) content.example = first.value;
        delete content.examples;
      }
      for (const [status, answer] of Object.entries(operation.responses)) shorten(answer, status.startsWith("2"), whole);
      operations.set(operation.operationId, {
        id: operation.operationId,
        tag: operation.tags[0],
        path,
        method,
        parameters,
        media: Object.keys(body?.content ?? {}),
        example: body?.content["application/json"]?.example,
        text: `${operation.operationId} ${method} ${path} ${operation.summary} ${operation.tags[0]}`.toLowerCase(),
      });
    }
    delete item.parameters; // each of its operations has them
  }
  const events = Object.entries(document.webhooks).map(([type, { post }]) => [type, `${type} ${post.summary} webhooks events`.toLowerCase()]);
  return { operations, events: new Map(events) };
}

// What says of a text whether all words of a phrase are in it.
export function finder(phrase) {
  const words = phrase.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => words.every((each) => text.includes(each));
}
