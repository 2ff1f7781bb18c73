// Makes static/room.js of what lies here: `node build.mjs [where]`. The same sources and packages make the same bytes.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";

const here = new URL(".", import.meta.url).pathname;
const where = process.argv[2] ?? `${here}../room.js`;
const made = await build({
  absWorkingDir: here,
  entryPoints: ["main.js"],
  bundle: true,
  format: "esm",
  minify: true,
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  metafile: true,
  write: false,
});
const used = new Set();
for (const path of Object.keys(made.metafile.inputs)) {
  const found = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path);
  if (found) used.add(found[1]);
}
const notes = [...used].sort().map((name) => {
  const { version, license } = JSON.parse(readFileSync(`${here}node_modules/${name}/package.json`));
  let words = "";
  for (const file of ["LICENSE", "LICENSE.md", "license"]) {
    try { words ||= readFileSync(`${here}node_modules/${name}/${file}`, "utf8"); } catch { /* it is called otherwise */ }
  }
  const whose = words.split("\n").filter((line) => /copyright/i.test(line) && /\d{4}/.test(line)).map((line) => line.trim());
  return `${name} ${version} (${license})${whose.length ? `: ${whose.join("; ")}` : ""}`;
});
const mit = readFileSync(`${here}LICENSES`, "utf8");
writeFileSync(where, `${made.outputFiles[0].text}/*\nMade of static/src. It holds these packages:\n\n${notes.join("\n")}\n\n${mit.replaceAll("*/", "")}*/\n`);
