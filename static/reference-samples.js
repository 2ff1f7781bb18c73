// One request as a program: for a shell, for Python and for TypeScript. Each takes the key from API_KEY and names itself
// anew where it writes, so that it may be run as often as one likes.

const KEY = "Idempotency-Key";

export const LANGUAGES = { curl: "curl", python: "Python", typescript: "TypeScript" };

// A request: method, url, query (pairs), headers (without the key), json (text) or parts ([name, text or {file}]).
export function sample(language, request) {
  return { curl, python, typescript }[language](request);
}

const quoted = (text) => `'${String(text).replaceAll("'", `'\\''`)}'`;
const literal = (text) => JSON.stringify(String(text));
const names = (request) => request.method === "POST";
const address = ({ url, query }) => (query.length ? `${url}?${new URLSearchParams(query)}` : url);

function curl(request) {
  const words = [`curl -sS -X ${request.method} ${quoted(address(request))}`, `-H "Authorization: Bearer $API_KEY"`];
  if (names(request)) words.push(`-H "${KEY}: $(cat /proc/sys/kernel/random/uuid 2>/dev/null || uuidgen)"`);
  for (const [name, value] of request.headers) words.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (request.json !== undefined) words.push(`-H 'Content-Type: application/json'`, `-d ${quoted(request.json)}`);
  for (const [name, value] of request.parts ?? []) {
    words.push(`-F ${quoted(value.file ? `${name}=@${value.file}` : `${name}=${value}`)}`);
  }
  return words.join(" \\\n  ");
}

function python(request) {
  const given = [];
  const headers = [`"Authorization": f"Bearer {os.environ['API_KEY']}"`];
  if (names(request)) headers.push(`"${KEY}": str(uuid.uuid4())`);
  for (const [name, value] of request.headers) headers.push(`${literal(name)}: ${literal(value)}`);
  given.push(`headers={${headers.join(", ")}}`);
  if (request.json !== undefined) given.push(`json=json.loads(r"""${request.json}""")`);
  const texts = (request.parts ?? []).filter(([, value]) => !value.file);
  const files = (request.parts ?? []).filter(([, value]) => value.file);
  if (texts.length) given.push(`data={${texts.map(([name, value]) => `${literal(name)}: ${literal(value)}`).join(", ")}}`);
  if (files.length) given.push(`files={${files.map(([name, { file }]) => `${literal(name)}: open(${literal(file)}, "rb")`).join(", ")}}`);
  const modules = ["os", names(request) && "uuid", request.json !== undefined && "json"].filter(Boolean).sort();
  return [
    ...modules.map((one) => `import ${one}`),
    "",
    "import httpx",
    "",
    "answer = httpx.request(",
    `    "${request.method}",`,
    `    ${literal(address(request))},`,
    ...given.map((one) => `    ${one},`),
    "    timeout=60,",
    ")",
    "answer.raise_for_status()",
    "print(answer.text)",
  ].join("\n");
}

function typescript(request) {
  const files = (request.parts ?? []).some(([, value]) => value.file);
  const headers = ["Authorization: `Bearer ${process.env.API_KEY}`"];
  if (names(request)) headers.push(`"${KEY}": crypto.randomUUID()`);
  for (const [name, value] of request.headers) headers.push(`${literal(name)}: ${literal(value)}`);
  if (request.json !== undefined) headers.push(`"Content-Type": "application/json"`);
  const lines = files ? [`import { readFile } from "node:fs/promises";`, ""] : [];
  if (request.parts) {
    lines.push("const body = new FormData();");
    for (const [name, value] of request.parts) {
      lines.push(
        value.file
          ? `body.set(${literal(name)}, new Blob([await readFile(${literal(value.file)})]), ${literal(value.file)});`
          : `body.set(${literal(name)}, ${literal(value)});`,
      );
    }
  }
  lines.push(`const answer = await fetch(${literal(address(request))}, {`, `  method: "${request.method}",`);
  lines.push("  headers: {", ...headers.map((one) => `    ${one},`), "  },");
  if (request.json !== undefined) lines.push(`  body: JSON.stringify(${request.json.split("\n").join("\n  ")}),`);
  if (request.parts) lines.push("  body,");
  lines.push("});", "if (!answer.ok) throw new Error(await answer.text());", "console.log(await answer.text());");
  return lines.join("\n");
}
