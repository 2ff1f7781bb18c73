"""Spans of time as CVs write them, in several languages and forms."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import date

from gateways.cv import words

EARLIEST = 1950


def _plain(text: str) -> str:
    """Fold case and accents, one character for one, so that places in the text stay."""
    return "".join(unicodedata.normalize("NFD", char)[0].lower()[:1] or char for char in text)


MONTHS = {
    _plain(name): int(number) for number in words.table("months") for name in words.of("months", number)
}

_present = sorted((_plain(word) for word in words.of("dates", "present")), key=len, reverse=True)
_PRESENT_PATTERN = (
    "(?P<present>"
    + "|".join(re.escape(word) for word in _present)
    + r")(?![^\W\d_\u3040-\u9fff\uac00-\ud7af])"
)

_names = "|".join(sorted(MONTHS, key=len, reverse=True))
_YEAR, _MONTH, _DAY = r"(?:19|20)\d\d", r"(?:1[0-2]|0?[1-9])", r"(?:3[01]|[12]\d|0?[1-9])"
_OF = r"(?:\.|,|\s|/|-|(?<=\s)d(?:el?|o)\s|ב)*"  # between a month and its year
_DATE = "|".join(
    (
        rf"(?<!\d){_DAY}[./-](?P<m0>{_MONTH})[./-](?P<y0>{_YEAR})(?!\d)",
        rf"(?<!\d)(?P<y1>{_YEAR})\s?[./年년-]\s?(?P<m1>{_MONTH})(?:[./-]{_DAY}|\s?[月월](?:\s?{_DAY}[日일])?|(?!\d))",
        rf"(?<!\d)(?P<m2>{_MONTH})\s?[./-]\s?(?P<y2>{_YEAR})(?!\d)",
        rf"(?<![^\W\d_])(?:{_DAY}\.?\s)?(?P<n3>{_names}){_OF}(?P<y3>{_YEAR})(?!\d)(?:\s?г\.?)?",
        rf"(?<![^\W\d_])(?P<n4>{_names})\.?\s?['’](?P<y4>\d\d)(?!\d)",
        rf"(?<![\d.,])(?P<y5>{_YEAR})(?![\d])(?:年|년)?(?:\s?(?:г\.?г?\.?|год[аы]?)(?!\w))?",
    )
)
# Between two dates, and before one that has no end.
_TO = (
    r"\s*(?:[-–—−‐‑~〜～→/]+"
    r"|\b(?:to|until|till|through|bis|jusqu'a|a|au|al|hasta|fino a|ate|tot|do|по|до|εως|ως|μεχρι)\b"
    r"|至|到|から|부터|עד|إلى|الى|حتى)\s*(?:el |la |le |l')?"
)
_FROM = r"\b(?:since|seit|ab|depuis|desde|dal|da|de|del|du|sinds|od|с|з|от|απο|from)\s+(?:dem |el |le )?|自|מאז |منذ "
_SINCE = r"\b(?:since|seit|depuis|desde|dal|sinds|od|с|з|απο|from)\s+(?:dem |el |le )?|מאז |منذ "

_one = re.compile(_DATE)
_joint = re.compile(_TO)
_until_now = re.compile(_PRESENT_PATTERN)
_from = re.compile(f"(?:{_FROM})$")
_since = re.compile(f"(?:{_SINCE})$")
_left_open = re.compile(r"[-–—](?=\s|$)")  # "2018– Senior Lecturer"
_short_year = re.compile(r"(?<!\d)(?P<from>(?:19|20)\d\d)\s?[-–/]\s?(?P<to>\d\d)(?![\d./-])")


@dataclass(frozen=True)
class Span:
    """A stretch of time in a line: months as "2019-03", and the part of the line that says so."""

    start: str
    end: str
    current: bool
    at: tuple[int, int]


def span(line: str, today: date) -> Span | None:
    """Find the first stretch of time in a line: from one date to another, to the present, or since a date."""
    text = _digits(_plain(line))
    short = _short_year.search(text)
    if short and int(short["to"]) > 12:
        century = int(short["from"]) // 100 * 100
        return _made((int(short["from"]), None), (century + int(short["to"]), None), short.span(), today)
    for first in _one.finditer(text):
        joint = _joint.match(text, first.end())
        begin = _start(text, first.start())
        if joint:
            last = _one.match(text, joint.end())
            if last:
                found = _made(_read(first), _read(last), (begin, last.end()), today)
                if found:
                    return found
            now = _until_now.match(text, joint.end())
            if now:
                return _made(_read(first), None, (begin, now.end()), today)
        rest = text[first.end() :]
        bare = _until_now.match(text, len(text) - len(rest.lstrip(" ()")))
        open_ended = _left_open.match(text, first.end())
        if bare or open_ended or _since.search(text, max(0, first.start() - 12), first.start()):
            return _made(_read(first), None, (begin, bare.end() if bare else first.end()), today)
    return None


def lone(line: str, today: date) -> Span | None:
    """Find a single date that stands for itself: alone in its line, its cell or its brackets."""
    text = _digits(_plain(line))
    for found in _one.finditer(text):
        before, after = text[: found.start()].rstrip(" "), text[found.end() :].lstrip(" ")
        if before[-1:] in {"", "\t", "("} and after[:1] in {"", "\t", ")"}:
            return _made(_read(found), _read(found), found.span(), today)
    return None


def years(line: str) -> list[int]:
    """List the years that a line names."""
    return [year for found in _one.finditer(_digits(_plain(line))) if (year := _read(found)[0]) >= EARLIEST]


def without(line: str, at: tuple[int, int]) -> str:
    """Return a line without a part of it, and without the brackets and bars that held it."""
    before, after = line[: at[0]].rstrip(" \t([|,;:–—-·•"), line[at[1] :].lstrip(" \t)]|,;:–—-·•.")
    return f"{before}\t{after}".strip(" \t|,;")


def _start(text: str, at: int) -> int:
    found = _from.search(text, max(0, at - 12), at)
    return found.start() if found else at


def _read(found: re.Match[str]) -> tuple[int, int | None]:
    groups = found.groupdict()
    year = next(int(groups[f"y{n}"]) for n in range(6) if groups[f"y{n}"])
    if groups["y4"]:
        year += 1900 if year > 50 else 2000
    name = groups["n3"] or groups["n4"]
    month = next((int(groups[f"m{n}"]) for n in range(3) if groups[f"m{n}"]), MONTHS[name] if name else None)
    return year, month


def _made(
    first: tuple[int, int | None], last: tuple[int, int | None] | None, at: tuple[int, int], today: date
) -> Span | None:
    """Make a span of months; years alone run from January to December before the last year begins."""
    now = (today.year, today.month)
    start = (first[0], first[1] or 1)
    if last is None:
        end = now
    elif last[1]:
        end = (last[0], last[1])
    else:
        end = (last[0] - 1, 12) if last[0] > first[0] and first[1] is None else (last[0], 12)
    end = min(end, now)
    if first[0] < EARLIEST or start > end:
        return None
    return Span(_text(start), _text(end), last is None, at)


def _text(month: tuple[int, int]) -> str:
    return f"{month[0]:04d}-{month[1]:02d}"


def _digits(text: str) -> str:
    return "".join(
        str(unicodedata.digit(char)) if char.isdigit() and not char.isascii() else char for char in text
    )
