"""A letter's HTML as blocks of plain data, each no deeper and no wider than can be set."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

Run = list[Any]  # text, style, link
Block = dict[str, Any]

# Words that no line holds break after so many characters, unless their script breaks by itself; and after so many
# however that is: longer ones end the typesetter.
LONGEST_WORD, LONGEST_STRETCH = 60, 5_000
LONGEST_LINK = 2_000
DEEPEST = 6  # lists in lists, quotes and tables; what is deeper stands beside them
MOST_COLUMNS = 12
# How the words of a paragraph look, by a letter for each; several may come together.
STYLES = {
    "b": "b", "strong": "b", "i": "i", "em": "i", "u": "u", "ins": "u", "s": "s", "del": "s", "code": "c", "kbd": "c",
    "sub": "d", "sup": "p", "small": "m",
}  # fmt: skip
HEADINGS = {"h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
HOLDERS = {"ul", "ol", "dl", "blockquote", "table"}
ENDS = {"p", "li", "dt", "dd", "pre", "hr", "br", "tr", "td", "th", "thead", "tbody", *HEADINGS, *HOLDERS}
LINKS = ("https:", "http:", "mailto:", "tel:")


def blocks(html: str) -> list[Block]:
    """Return what sanitised HTML shows: paragraphs, headings, lists, quotes, tables and rules."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.end_paragraph()
    return reader.root


# Scripts that are written without spaces.
_BREAK_BY_THEMSELVES = re.compile(
    r"[\u0e00-\u0eff\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef]"
)
BREAK = "\u200b"


def breakable(text: str) -> str:
    """Let words that are longer than a line break, without a hyphen."""
    if len(text) <= LONGEST_WORD:
        return text
    written, length = [], 0
    for one in text:
        may = one.isalnum() and not _BREAK_BY_THEMSELVES.match(one)
        if one.isspace() or one == BREAK:
            length = -1
        elif length >= LONGEST_STRETCH or (may and length >= LONGEST_WORD):
            written.append(BREAK)
            length = 0
        written.append(one)
        length += 1
    return "".join(written)


def is_rtl(text: str) -> bool:
    """Say whether a text runs from right to left, by its first letter that says."""
    for one in text:
        direction = unicodedata.bidirectional(one)
        if direction in ("R", "AL"):
            return True
        if direction == "L":
            return False
    return False


def language(text: str) -> str:
    """Say in which language the characters are to look that several share: ja, ko, zh; empty where none needs it."""
    if re.search(r"[\u3040-\u30ff]", text):
        return "ja"
    if re.search(r"[\uac00-\ud7af\u1100-\u11ff]", text):
        return "ko"
    return "zh" if re.search(r"[\u3400-\u9fff\uf900-\ufaff]", text) else ""


class _Reader(HTMLParser):
    """Reads tags one by one, without calling itself: however deep they are, it costs the same."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root: list[Block] = []
        self.places: list[list[Block]] = [self.root]  # where blocks are put: the innermost last
        self.holders: list[
            tuple[str, Block | None]
        ] = []  # lists, quotes and tables around; None: too deep for one
        self.styles: Counter[str] = Counter()
        self.links: list[str] = []
        self.runs: list[Run] = []
        self.kind: Block = {"kind": "p"}

    # --- Words

    def handle_data(self, data: str) -> None:
        if self.kind["kind"] != "pre":
            data = re.sub(r"[ \t\r\n\f]+", " ", data)
            if not self.runs or self.runs[-1][0].endswith((" ", "\n")):
                data = data.lstrip(" ")
        if data:
            self.runs.append([data, "".join(sorted(+self.styles)), self.links[-1] if self.links else ""])

    def end_paragraph(self) -> None:
        """Put what was read since the last one where it belongs."""
        while self.runs and not self.runs[-1][0].strip():
            self.runs.pop()
        if self.runs:
            text = "".join(run[0] for run in self.runs)
            self._put({**self.kind, "runs": _joined(self.runs), "rtl": is_rtl(text)})
        self.runs, self.kind = [], {"kind": "p"}

    def _put(self, block: Block) -> None:
        self.places[-1].append(block)

    # --- Tags

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in STYLES:
            self.styles[STYLES[tag]] += 1
        elif tag == "a":
            href = dict(attrs).get("href") or ""
            self.links.append(href if href.lower().startswith(LINKS) and len(href) <= LONGEST_LINK else "")
        elif tag == "q":
            self.handle_data("“")
        elif tag == "br":
            if self.runs:
                self.runs.append(["\n", "", ""])
        elif tag in ENDS:
            self.end_paragraph()
            self._begin(tag, dict(attrs))

    def _begin(self, tag: str, given: dict[str, str | None]) -> None:
        if tag in HEADINGS:
            self.kind = {"kind": "heading", "level": HEADINGS[tag]}
        elif tag == "pre":
            self.kind = {"kind": "pre"}
        elif tag == "hr":
            self._put({"kind": "rule"})
        elif tag in HOLDERS:
            self._begin_holder(tag)
        elif self.holders and self.holders[-1][1] is not None:
            begin = _INSIDE.get((self.holders[-1][0], tag))
            if begin:
                begin(self, self.holders[-1][1], tag, given)

    def _begin_holder(self, tag: str) -> None:
        if len(self.places) > DEEPEST:
            self.holders.append((tag, None))
            return
        kind = {"blockquote": "quote", "table": "table"}.get(tag, "list")
        inner: list[Block] = []
        block: Block = {"kind": kind, "ordered": tag == "ol", "items": [inner] if kind == "quote" else []}
        self._put(block)
        self.holders.append((tag, block))
        # What stands in a list or a table and in no item of it comes after it.
        self.places.append(inner if kind == "quote" else self.places[-1])

    def item(self, block: Block, tag: str, _given: dict[str, str | None]) -> None:
        """Begin an item of a list; what a term means belongs to its item."""
        if tag != "dd" or not block["items"]:
            block["items"].append([])
        self.places[-1] = block["items"][-1]

    def row(self, block: Block, _tag: str, _given: dict[str, str | None]) -> None:
        """Begin a row of a table."""
        block["items"].append([])

    def cell(self, block: Block, tag: str, given: dict[str, str | None]) -> None:
        """Begin a cell of a table."""
        if not block["items"]:
            block["items"].append([])
        inner: list[Block] = []
        block["items"][-1].append(
            {
                "head": tag == "th",
                "across": _number(given.get("colspan")),
                "down": _number(given.get("rowspan")),
                "blocks": inner,
            }
        )
        self.places[-1] = inner

    def handle_endtag(self, tag: str) -> None:
        if tag in STYLES:
            self.styles[STYLES[tag]] -= 1
        elif tag == "a":
            if self.links:
                self.links.pop()
        elif tag == "q":
            self.handle_data("”")
        elif tag in ENDS:
            self.end_paragraph()
            if tag in HOLDERS and self.holders and self.holders[-1][0] == tag:
                _, block = self.holders.pop()
                if block is not None:
                    self.places.pop()
                    if block["kind"] == "table":
                        _lay_out(block)


_INSIDE: dict[tuple[str, str], Callable[[_Reader, Block, str, dict[str, str | None]], None]] = {
    ("ul", "li"): _Reader.item,
    ("ol", "li"): _Reader.item,
    ("dl", "dt"): _Reader.item,
    ("dl", "dd"): _Reader.item,
    ("table", "tr"): _Reader.row,
    ("table", "td"): _Reader.cell,
    ("table", "th"): _Reader.cell,
}


def _joined(runs: list[Run]) -> list[Run]:
    """Join neighbours that look alike: there are as many runs as looks, and not as many as tags."""
    joined: list[Run] = []
    for text, style, link in runs:
        if joined and joined[-1][1:] == [style, link]:
            joined[-1][0] += text
        else:
            joined.append([text, style, link])
    joined[-1][0] = joined[-1][0].rstrip()
    return [[breakable(text), style, link] for text, style, link in joined]


def _number(text: str | None) -> int:
    """Read how many columns or rows a cell takes."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 5 and int(text) else 1


def _lay_out(table: Block) -> None:
    """Give each cell of a table its place; what no row has room for goes with the cell before it."""
    rows = [row for row in table["items"] if row]
    taken: set[tuple[int, int]] = set()
    cells: list[Block] = []
    for number, row in enumerate(rows):
        column = 0
        for cell in row:
            while (number, column) in taken:
                column += 1
            if column >= MOST_COLUMNS:  # there is no place left: it goes with the one before
                cells[-1]["blocks"] += cell["blocks"]
                continue
            free = 1
            while column + free < MOST_COLUMNS and (number, column + free) not in taken:
                free += 1
            across, down = min(cell["across"], free), min(cell["down"], len(rows) - number)
            taken.update((number + y, column + x) for y in range(down) for x in range(across))
            cells.append({**cell, "x": column, "y": number, "across": across, "down": down})
    table["items"], table["columns"] = cells, max((x for _, x in taken), default=0) + 1
    table["rtl"] = is_rtl("".join(_texts(cells[0]["blocks"]))) if cells else False


def _texts(found: list[Block]) -> Iterator[str]:
    for block in found:
        yield from (run[0] for run in block.get("runs", ()))
