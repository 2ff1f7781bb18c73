// Makes the scripts of static/ that have packages in them, and what they share: `node build.mjs [folder]`. The same sources
// and packages make the same bytes.
import { build } from "esbuild";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

const here = new URL(".", import.meta.url).pathname;
const folder = process.argv[2] ?? `${here}..`;
const made = await build({
  absWorkingDir: here,
  entryPoints: { room: "main.js", editor: "code.js", record: "record.js", play: "play.js" },
  outdir: "made",
  chunkNames: "built-[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  minify: true,
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  metafile: true,
  write: false,
});
const mit = readFileSync(`${here}LICENSES`, "utf8").replaceAll("*/", "");

function note(name) {
  const { version, license } = JSON.parse(readFileSync(`${here}node_modules/${name}/package.json`));
  let words = "";
  for (const file of ["LICENSE", "LICENSE.md", "license"]) {
    try { words ||= readFileSync(`${here}node_modules/${name}/${file}`, "utf8"); } catch { /* it is called otherwise */ }
  }
  const whose = words.split("\n").filter((line) => /copyright/i.test(line) && /\d{4}/.test(line)).map((line) => line.trim());
  return `${name} ${version} (${license})${whose.length ? `: ${whose.join("; ")}` : ""}`;
}

for (const name of readdirSync(folder)) if (/^built-.*\.(js|css)$/.test(name)) rmSync(`${folder}/${name}`);
for (const { path, text } of made.outputFiles) {
  const used = new Set();
  for (const input of Object.keys(made.metafile.outputs[`made/${basename(path)}`].inputs)) {
    const found = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input);
    if (found) used.add(found[1]);
  }
  const notes = used.size ? ` It holds these packages:\n\n${[...used].sort().map(note).join("\n")}\n\n${mit}` : "\n";
  writeFileSync(`${folder}/${basename(path)}`, `${text}/*\nMade of static/src.${notes}*/\n`);
}

// The reference's own: as it comes, with the licence that asks to be kept with it.
const apache = readFileSync(`${here}node_modules/swagger-ui-dist/LICENSE`, "utf8").replaceAll("*/", "");
for (const [from, to] of [["swagger-ui-bundle.js", "swagger-ui.js"], ["swagger-ui.css", "swagger-ui.css"]]) {
  const text = readFileSync(`${here}node_modules/swagger-ui-dist/${from}`, "utf8").replace(/\n?\/[/*]# sourceMappingURL=.*/, "");
  writeFileSync(`${folder}/built-${to}`, `${text}\n/*\n${note("swagger-ui-dist")}\n\n${apache}*/\n`);
}
