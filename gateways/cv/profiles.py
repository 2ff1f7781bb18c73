"""What a CV's text says of a person."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from gateways.cv import career, contacts, dates, sections, words
from gateways.cv.texts import Text
from rules import periods, skills
from rules.grading import fold

MAX_CHARACTERS = 100_000
LONGEST = 1_000  # characters of a line: what goes on without end is cut
NEAR_TOP = 40  # lines among which a name is looked for

_LABEL = re.compile(
    rf"^\s*(?:{'|'.join(re.escape(label) for label in sorted(words.of('people', 'labels'), key=len, reverse=True))})"
    r"\s*(?:[:：\t]|[  ]{2,})\s*(?P<name>\S.*)$",
    re.IGNORECASE,
)
_DOCUMENTS = words.pattern(words.of("people", "documents"))
_PARTICLES = {"de", "da", "di", "del", "della", "van", "von", "der", "den", "bin", "ibn", "al", "el", "la", "le", "dos",
              "y", "e", "zu", "ter", "ten", "du", "af"}  # fmt: skip
_HONORIFICS = {fold(word) for word in words.of("people", "honorifics")}
_DENSE_NAME = re.compile(
    r"[\u3400-\u9fff\u3040-\u30ff]{2,5}|[\uac00-\ud7af]{2,4}|[\u3400-\u9fff]{1,3}[ 　][\u3400-\u9fff\u3040-\u30ff]{1,4}"
)

# Letters in forms of their own: ligatures, Arabic by place in the word, full width, radicals for ideographs.
_FORMS = re.compile(r"[\ufb00-\ufb06\ufb1d-\ufdff\ufe70-\ufefc\uff01-\uff5e\u2e80-\u2fd5]+")

_MARKDOWN = re.compile(r"^\s*#{1,6}\s+|\*\*|__")


def profile(text: Text, today: date) -> dict[str, Any]:
    """Read a profile from a CV's text; positions that go on end `today`."""
    whole = _whole(text.lines)
    lines = whole.split("\n")
    parts = sections.split(whole)
    held = _positions(parts, today)
    head = sections.lines(parts, "head", "contact", "summary")
    mails = contacts.emails(whole)
    name = _name(lines, [_clean(line[:LONGEST]) for line in text.prominent], mails)
    headline = _headline(sections.lines(parts, "head", "contact"), name)
    return {
        "name": name,
        "emails": mails,
        "phones": contacts.phones(lines, head),
        "links": contacts.links(whole, text.links),
        "skills": skills.find(whole),
        "titles": _unique([*([headline] if headline else []), *(item["title"] for item in held)]),
        "employers": _unique(item["employer"] for item in held),
        "positions": held,
        "total_years": str(
            periods.years(periods.months(time for item in held if (time := periods.of(item))))
        ),
        "education": career.education(_learning(parts), today),
        "text": whole,
    }


def _whole(lines: Iterable[str]) -> str:
    """Join lines, cleaned and cut, as far as a profile's text goes; what comes after that costs nothing."""
    kept: list[str] = []
    length = 0
    for line in lines:
        for at in range(0, len(line) or 1, LONGEST):
            kept.append(_clean(line[at : at + LONGEST]))
            length += len(kept[-1]) + 1
            if length > MAX_CHARACTERS:
                return "\n".join(kept)[:MAX_CHARACTERS]
    return "\n".join(kept)


def _positions(parts: Sequence[sections.Section], today: date) -> list[dict[str, Any]]:
    if any(part.kind == "experience" for part in parts):
        return career.positions(sections.lines(parts, "experience"), today)
    # No heading says where the experience is: what is dated and not about learning.
    rest = [line for line in sections.lines(parts, "head", "summary") if not career.is_education(line)]
    return career.positions(rest, today)


def _learning(parts: Sequence[sections.Section]) -> list[str]:
    if any(part.kind == "education" for part in parts):
        return sections.lines(parts, "education")
    return [line for line in sections.lines(parts, "head", "summary") if career.is_education(line)]


def _name(lines: Sequence[str], prominent: Sequence[str], mails: Sequence[str]) -> str | None:
    """Find the person's name: after a label, in the address, in the largest letters, or at the top."""
    for line in lines:
        found = _LABEL.match(line)
        if found and (name := found["name"].split("\t")[0].strip(" ,;|")) and not re.search(r"[\d@]", name):
            return name
    top = [part for line in lines if line.strip() for part in line.split("\t")][:NEAR_TOP]
    candidates = [name for line in [*prominent, *top] if (name := _as_name(line))]
    for name in candidates:
        plain = {_ascii(word) for word in name.split() if len(word) > 2}
        if any(word and word in _ascii(mail.split("@")[0]) for mail in mails for word in plain):
            return name
    return candidates[0] if candidates else None


def _as_name(line: str) -> str | None:
    """Return a line's text if it can be a person's name."""
    text = re.split(r"\s+[|·•–—-]\s+|,\s", line.strip())[0].strip(" ,;|")
    if not text or len(text) > 60 or re.search(r"[\d@:/_()&+#]", text) or sections.heading(text):
        return None
    if _DENSE_NAME.fullmatch(text):
        return text
    if words.DENSE.search(text) and re.search(r"[\u3040-\u30ff\u3400-\u9fff]", text):
        return None
    parts = text.split()
    while parts and fold(parts[0]) in _HONORIFICS:
        parts.pop(0)
    text = " ".join(parts)
    if not 2 <= len(parts) <= 5 or career.is_title(text) or skills.find(text) or dates.years(text):
        return None
    if _DOCUMENTS.search(fold(text)) or career.is_education(text):
        return None
    return text if all(_is_name_word(part) for part in parts) else None


def _is_name_word(word: str) -> bool:
    letters = word.replace("-", "").replace("'", "").replace("’", "").rstrip(".")
    if not letters or not all(unicodedata.category(char)[0] in "LM" for char in letters):
        return False
    return word.casefold() in _PARTICLES or not letters[0].islower()


def _headline(lines: Sequence[str], name: str | None) -> str | None:
    """Return the title that a person gives themselves at the top."""
    for part in [part for line in lines for part in line.split("\t")][:15]:
        text = part.strip(" |,;")
        if name and text.startswith(name):
            text = text.removeprefix(name).strip(" |,;–—-·")
        if 0 < len(text) <= 60 and career.is_title(text) and not re.search(r"[@\d.:]", text):
            return career.pieces(text)[0] if career.pieces(text) else None
    return None


def _unique(values: Iterable[str | None]) -> list[str]:
    found: dict[str, str] = {}
    for value in values:
        if value:
            found.setdefault(fold(value), value)
    return list(found.values())


def _ascii(text: str) -> str:
    return "".join(
        char for char in unicodedata.normalize("NFD", text.casefold()) if char.isascii() and char.isalnum()
    )


def _clean(line: str) -> str:
    """Drop what cannot be kept or seen: controls, marks of direction, odd spaces, Markdown; tabs stay."""
    line = _MARKDOWN.sub("", line).replace("` `", ", ").replace("`", "")
    kept = "".join(
        " " if unicodedata.category(char) == "Zs" else char
        for char in line
        if char == "\t" or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co"}
    )
    return unicodedata.normalize(
        "NFC", _FORMS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), kept)
    ).rstrip()
