// What was expected against what was printed, line by line; rows of a query cell by cell.

import { element, scrollable } from "./take-dom.js";
import { _, ngettext } from "./words.js";

const LARGEST = 250000; // pairs of lines that are compared; above it the middle counts as replaced
const AROUND = 3; // equal lines that are shown on either side of a difference
const MOST_ROWS = 200;
const SIDES = { expected: _("expected"), got: _("yours") }; // what is equal is on both

// As the service compares: blind to white space that ends a line and to empty last lines.
export function lines(text) {
  const trimmed = text.trimEnd();
  return trimmed ? trimmed.split("\n").map((line) => line.trimEnd()) : [];
}

// The rows of both sides in order: {kind: "same" | "expected" | "got", text, other}, `other` the line in whose place it stands.
export function compare(expected, got) {
  let head = 0, tail = 0;
  const most = Math.min(expected.length, got.length);
  while (head < most && expected[head] === got[head]) head += 1;
  while (tail < most - head && expected.at(-1 - tail) === got.at(-1 - tail)) tail += 1;
  const same = (text) => ({ kind: "same", text });
  const middle = between(expected.slice(head, expected.length - tail), got.slice(head, got.length - tail));
  return [...expected.slice(0, head).map(same), ...middle, ...expected.slice(expected.length - tail).map(same)];
}

function between(expected, got) {
  const rows = [];
  let [gone, come] = [[], []];
  const close = () => {
    gone.forEach((text, place) => rows.push({ kind: "expected", text, other: come[place] }));
    come.forEach((text, place) => rows.push({ kind: "got", text, other: gone[place] }));
    [gone, come] = [[], []];
  };
  if (expected.length * got.length > LARGEST) [gone, come] = [expected, got];
  else {
    const longest = common(expected, got);
    let i = 0, j = 0;
    while (i < expected.length || j < got.length) {
      if (i < expected.length && j < got.length && expected[i] === got[j]) {
        close();
        rows.push({ kind: "same", text: expected[i] });
        i += 1;
        j += 1;
      } else if (j === got.length || (i < expected.length && longest[i + 1][j] >= longest[i][j + 1])) gone.push(expected[i++]);
      else come.push(got[j++]);
    }
  }
  close();
  return rows;
}

// How many lines two texts have in common from each pair of places on.
function common(expected, got) {
  const longest = Array.from({ length: expected.length + 1 }, () => new Uint32Array(got.length + 1));
  for (let i = expected.length - 1; i >= 0; i -= 1) {
    for (let j = got.length - 1; j >= 0; j -= 1) {
      longest[i][j] = expected[i] === got[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  return longest;
}

export function showDiff(expected, got, cells) {
  const rows = compare(lines(expected), lines(got));
  const near = (place) => rows.slice(Math.max(0, place - AROUND), place + AROUND + 1).some((row) => row.kind !== "same");
  const body = element("tbody");
  const width = rows.reduce((most, row) => Math.max(most, cells ? split(row.text).length : 1), 1);
  let skipped = 0;
  const said = (text) => body.append(element("tr", { className: "skipped" }, element("td"), element("td", { colSpan: width, textContent: text })));
  const tellSkipped = () => {
    if (skipped) said(`… ${ngettext("one equal line", "%(num)s equal lines", skipped)}`);
    skipped = 0;
  };
  rows.forEach((row, place) => {
    if (body.rows.length >= MOST_ROWS) return;
    if (row.kind === "same" && !near(place)) {
      skipped += 1;
      return;
    }
    tellSkipped();
    body.append(line(row, cells));
    if (body.rows.length >= MOST_ROWS) said(`… ${_("and more")}`);
  });
  tellSkipped();
  return framed(element("table", { className: "diff" }, body), _("Expected output against yours"));
}

// Rows as a query prints them: `|` between values, nothing for NULL.
export function showRows(label, text) {
  const all = lines(text);
  const rows = all.slice(0, MOST_ROWS).map((row) => element("tr", {}, ...split(row).map((cell) => element("td", { textContent: cell }))));
  if (all.length > MOST_ROWS) rows.push(element("tr", {}, element("td", { textContent: "… " + _("and %(count)s more", { count: all.length - MOST_ROWS }) })));
  return framed(element("table", { className: "rows" }, element("tbody", {}, ...rows)), label);
}

export const areRows = (...texts) => texts.some((text) => lines(text).some((row) => row.includes("|")));

const split = (row) => row.split("|");
const framed = (table, label) => scrollable(element("div", { className: "table" }, table), label);

function line(row, cells) {
  const side = SIDES[row.kind];
  const made = element("tr", { dataset: { kind: row.kind } }, side ? element("th", { scope: "row", textContent: side }) : element("td"));
  const others = row.other === undefined ? null : split(row.other);
  if (!cells) made.append(element("td", {}, ...(row.other === undefined ? [row.text] : marked(row.text, row.other))));
  else {
    split(row.text).forEach((cell, place) => {
      const differs = others && others[place] !== cell;
      made.append(element("td", {}, differs ? element("mark", { textContent: cell || _("(empty)") }) : cell));
    });
  }
  return made;
}

// The first character that differs.
function marked(text, other) {
  const [characters, others] = [[...text], [...other]];
  let at = 0;
  while (at < characters.length && characters[at] === others[at]) at += 1;
  return [characters.slice(0, at).join(""), element("mark", { textContent: characters[at] ?? "⏎" }), characters.slice(at + 1).join("")];
}
