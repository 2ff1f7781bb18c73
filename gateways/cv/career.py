"""Positions held and degrees earned, as a CV tells them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Any

from gateways.cv import dates, words
from gateways.cv.dates import Span
from rules import degrees, skills
from rules.grading import fold

MOST = 50  # positions and degrees that are kept
HEADER = 90  # a longer line tells, it does not name
PIECE = 120

_BULLET = re.compile(r"^\s*(?:[•●▪■◦‣*·○►→✓❖–—-]|\d+[.)])\s+")
_MARK = (
    r"\t|\s+[|·•]\s+|\s+[–—-]\s+|\s+/\s+|\s*[;|｜،]\s+"
    r"|\s*,\s+(?!(?:Inc|LLC|Ltd|Limited|Corp|Co|S\.?A|GmbH)\b)"
)
_AT = r"|\s+(?:at|@|bei|chez|presso|bij)\s+"
_PIECES = re.compile(_MARK + _AT)
_SCHOOLED = re.compile(_MARK)  # the University of Texas at Austin is one name
_SPACES = re.compile(_MARK + r"|\s+|、|，")
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")

_TITLE = words.pattern(words.of("career", "titles"), compounds=True)
_EMPLOYER = words.pattern(words.of("career", "employers"))
_SCHOOL = words.pattern(words.of("career", "schools"))
_LABELS = re.compile(
    r"^(?:company|employer|position|role|title|firma|должность|компания|公司|职位|職位)\s*[:：]\s*",
    re.IGNORECASE,
)


@dataclass
class _Anchor:
    """A line that dates a position."""

    line: int
    span: Span
    rest: str


def positions(lines: Sequence[str], today: date) -> list[dict[str, Any]]:
    """Read the positions from the lines of the sections on experience, in the order of the CV."""
    lines = _mended(lines, today)
    anchors = list(islice(_anchors(lines, today), MOST))
    if not anchors:
        return []
    above = any(line.strip() for line in lines[: anchors[0].line])
    heads = [_header(lines, anchors, number, above=above) for number in range(len(anchors))]
    found = []
    for number, (anchor, used) in enumerate(zip(anchors, heads, strict=True)):
        after = min(heads[number + 1]) if number + 1 < len(heads) else len(lines)
        texts = [anchor.rest if line == anchor.line else lines[line] for line in sorted(used)]
        title, employer = _named([piece for text in texts for piece in pieces(text)])
        # Not dates alone: a line about something else that happens to name years is no position.
        if title or employer:
            told = "\n".join([*texts, *lines[max(used) + 1 : after]])
            found.append(
                {
                    "title": title,
                    "employer": employer,
                    "start": anchor.span.start,
                    "end": anchor.span.end,
                    "current": anchor.span.current,
                    "skills": skills.find(told),
                }
            )
    return found


def education(lines: Sequence[str], today: date) -> list[dict[str, Any]]:
    """Read the degrees from the lines of the sections on education."""
    return [found for entry in _entries(lines) if (found := _degree(entry, today))][:MOST]


def is_education(text: str) -> bool:
    """Say whether a line is about learning and not about work."""
    return bool(_SCHOOL.search(fold(text)) or degrees.level(text)) and not _TITLE.search(fold(text))


def is_title(text: str) -> bool:
    """Say whether a text holds a word of a job title."""
    return bool(_TITLE.search(fold(text)))


def pieces(line: str) -> list[str]:
    """Cut a line into what is named in it."""
    plain = _BULLET.sub("", line).strip()
    folded = fold(plain)
    schooled = _SCHOOL.search(folded) and not _TITLE.search(folded)
    parts = (_SPACES if _DENSE.search(plain) else _SCHOOLED if schooled else _PIECES).split(plain)
    cleaned = (
        _LABELS.sub("", part.strip(" \t,;|·•–—-،")).strip(" \t.,;|·•–—()（）،") for part in parts if part
    )
    return [part[:PIECE] for part in cleaned if part]


def _mended(lines: Sequence[str], today: date) -> list[str]:
    """Join dates that were broken over lines, in the cell of a table for one."""
    whole = list(lines)
    for number, line in enumerate(lines):
        if not dates.years(line) or dates.span(line, today):
            continue
        for step, after in enumerate(lines[number + 1 : number + 3], 1):
            found = dates.span(f"{line} {after}", today)
            if found and found.at[0] <= len(line) < found.at[1] == len(f"{line} {after}".rstrip()):
                between = whole[number + 1 : number + step]
                whole[number : number + step + 1] = ["\t".join([*between, line]) + f" {after}", *[""] * step]
                break
    return whole


def _anchors(lines: Sequence[str], today: date) -> Iterator[_Anchor]:
    for number, line in enumerate(lines):
        found = dates.span(line, today) or dates.lone(line, today)
        if not found:
            continue
        rest = dates.without(line, found.at)
        # A sentence that tells of years is part of a position, not its head.
        if len(rest) <= HEADER and not (_BULLET.match(line) and found.at[0] > 4 and not is_title(rest)):
            yield _Anchor(number, found, rest)


def _header(lines: Sequence[str], anchors: Sequence[_Anchor], number: int, *, above: bool) -> list[int]:
    """Say which lines name the position: the dated one, and what it lacks from beside it."""
    anchor = anchors[number]
    missing = 2 - min(2, len([piece for piece in pieces(anchor.rest) if not _is_place(piece)]))
    if not missing:
        return [anchor.line]
    beside = [_beside(lines, anchors, number, step, missing) for step in ((-1, 1) if above else (1, -1))]
    # The side that speaks of titles and employers; where both do, the side the CV began with.
    best = max(beside, key=lambda found: sum(_speaks(lines[line]) for line in found))
    return [anchor.line, *(best or beside[0] or beside[1])]


def _beside(
    lines: Sequence[str], anchors: Sequence[_Anchor], number: int, step: int, missing: int
) -> list[int]:
    """List up to `missing` lines above or below a dated one that may name the position."""
    taken = {one.line for one in anchors}
    floor = anchors[number - 1].line if number else -1
    found: list[int] = []
    line = anchors[number].line + step
    while len(found) < missing and floor < line < len(lines) and line not in taken and _names(lines[line]):
        found.append(line)
        if len(pieces(lines[line])) >= missing and is_title(lines[line]):
            break
        line += step
    return found


def _speaks(line: str) -> int:
    folded = fold(line)
    return bool(_TITLE.search(folded)) + bool(_EMPLOYER.search(folded))


def _names(line: str) -> bool:
    text = line.strip()
    if not text or len(text) > HEADER or _BULLET.match(line) or text[-1] in ";:。":
        return False
    # A full stop ends a sentence, unless it ends an abbreviation: Ltd., Corp., Α.Ε.
    last = re.split(r"[\s.]", text.rstrip("."))[-1]
    return text[-1] != "." or len(last) <= 3 or bool(_EMPLOYER.search(fold(last)))


def _named(found: Sequence[str]) -> tuple[str | None, str | None]:
    """Say which piece is the title and which the employer."""
    folded = {piece: fold(piece) for piece in found}
    titles = [piece for piece in found if _TITLE.search(folded[piece])]
    firms = [piece for piece in found if _EMPLOYER.search(folded[piece])]
    title = next((piece for piece in titles if piece not in firms), titles[0] if titles else None)
    others = [piece for piece in found if piece != title]
    employer = next((piece for piece in firms if piece != title), None)
    if employer is None:
        employer = next((piece for piece in others if not _is_place(piece) and piece not in titles), None)
    if title is None:
        title = next((piece for piece in others if piece != employer and not _is_place(piece)), None)
        if title and employer not in firms and found.index(title) > found.index(str(employer)):
            title, employer = employer, title
    return title, employer


_PLACES = re.compile(
    r"(?:remote|hybrid|onsite|full[- ]time|part[- ]time|freelance|uk|usa|us|germany|deutschland|france|españa|spain"
    r"|italia|[A-Z]{2}|london|berlin|paris|madrid|new york|munich|münchen|moscow|москва|athens|αθήνα|tel aviv"
    r"|תל אביב|dubai|دبي|北京|上海|深圳|东京|東京|서울|\(?\d+\s?[^\W\d_]+\.?(?:,? (?:[^\W\d_]+ )?\d+\s?[^\W\d_]+\.?)?)",
    re.IGNORECASE,
)


def _is_place(piece: str) -> bool:
    return bool(_PLACES.fullmatch(piece)) or not any(char.isalpha() for char in piece)


def _entries(lines: Sequence[str]) -> Iterator[list[str]]:
    """Cut a section on education into entries: at empty lines, and where another degree or school begins."""
    entry: list[str] = []
    for line in [*lines, ""]:
        full = bool(entry) and (
            (degrees.level(line) and any(degrees.level(one) for one in entry))
            or (dates.years(line) and any(dates.years(one) for one in entry) and not _BULLET.match(line))
        )
        if entry and (full or not line.strip()):
            yield entry
            entry = []
        if line.strip():
            entry.append(line)


def _degree(entry: Sequence[str], today: date) -> dict[str, Any] | None:
    text = "\t".join(entry)
    level = degrees.level(text)
    spans = [found for line in entry if (found := dates.span(line, today))]
    named = [dates.without(line, found.at) if (found := dates.span(line, today)) else line for line in entry]
    parts = [piece for line in named for piece in pieces(line)]
    school = next((piece for piece in parts if _SCHOOL.search(fold(piece))), None)
    if not level and not school:
        return None
    degree = next((piece for piece in parts if degrees.level(piece) == level), None) if level else None
    subject = degrees.subject(degree) if degree else ""
    if not subject:
        at = parts.index(degree) + 1 if degree else 0
        subject = next(
            (part for part in parts[at:] if part not in {school, degree} and not dates.years(part)), ""
        )
    years = dates.years(text)
    return {
        "level": level,
        "degree": degree,
        "subject": subject or None,
        "institution": school,
        "start": spans[0].start if spans else None,
        "end": spans[0].end if spans else f"{max(years):04d}-12" if years else None,
        "text": " ".join(text.split())[:300],
    }
