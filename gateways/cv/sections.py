"""The sections of a CV, by their headings in the languages CVs come in."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from gateways.cv import words
from rules.grading import fold

HEADINGS = {fold(name): kind for kind in words.table("headings") for name in words.of("headings", kind)}

WORDS = 5  # a longer line is no heading

_SPACED = re.compile(r"^(?:\w )+\w$")
_EDGES = "\t .:：|*#•·●▪■◆○►→-–—_=~【】[]<>《》「」()1234567890"
_AND = re.compile(r"\s*(?:&|\+|/|,| and | und | et | y | e | и | και )\s*")


@dataclass
class Section:
    """A part of a CV: what it is about, and its lines."""

    kind: str
    lines: list[str] = field(default_factory=list)


def heading(line: str) -> str | None:
    """Say what kind of section a line opens; None if it is no heading."""
    text = line.strip()
    if not text or len(text) > 60 or "\t" in text:
        return None
    if _SPACED.match(text):
        text = text.replace(" ", "")
    folded = fold(text.strip(_EDGES))
    if folded in HEADINGS:
        return HEADINGS[folded]
    if len(folded.split()) > WORDS:
        return None
    parts = [part for part in _AND.split(f" {folded} ") if part.strip()]
    kinds = [HEADINGS.get(part.strip()) for part in parts]
    return kinds[0] if len(parts) > 1 and all(kinds) else None


def split(text: str) -> list[Section]:
    """Cut a text at its headings; what comes before the first is the `head`."""
    found = [Section("head")]
    for line in text.splitlines():
        kind, rest = _opened(line)
        if kind:
            found.append(Section(kind, [rest] if rest else []))
        else:
            found[-1].lines.append(line)
    return found


def lines(found: Iterable[Section], *kinds: str) -> list[str]:
    """Return the lines of all sections of some kinds, parted by empty lines."""
    return [line for section in found if section.kind in kinds for line in [*section.lines, ""]]


def _opened(line: str) -> tuple[str | None, str]:
    """Return the kind of section that a line opens and what it says beyond the heading."""
    kind = heading(line)
    if kind:
        return kind, ""
    for mark in (":", "：", "\t"):
        name, found, rest = line.partition(mark)
        if found and rest.strip() and (kind := heading(name)) and kind in {"skills", "languages", "other"}:
            return kind, rest.strip()
    return None, line
