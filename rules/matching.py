"""Where in a CV or in the answers something that a job asks for is shown."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from rules import answers as typed
from rules import decimals, degrees, periods
from rules import skills as vocabulary
from rules.grading import fold

HALF, ALL = Fraction(1, 2), Fraction(1)

EXCERPT = 120  # characters of what was found that are shown

RANKS = {"senior": "senior", "sr": "senior", "junior": "junior", "jr": "junior", "lead": "lead",
         "principal": "principal", "staff": "staff", "chief": "chief", "head": "head", "mid": "mid",
         "intern": "intern", "trainee": "trainee", "associate": "associate"}  # fmt: skip
SAME = {"developer": "engineer", "programmer": "engineer", "dev": "engineer", "eng": "engineer",
        "mgr": "manager", "admin": "administrator", "front": "frontend", "back": "backend",
        "fullstack": "full", "developers": "engineer", "engineers": "engineer"}  # fmt: skip
FILLERS = {"end", "stack", "of", "the", "a", "an", "and", "in", "for", "i", "ii", "iii", "iv"}


@dataclass(frozen=True)
class Hit:
    """One place that shows it: how far (0 to 1; for years their number), where, in which words, and for what."""

    share: Fraction
    source: str  # cv, answers
    text: str
    value: str


class Sources:
    """What is known of an applicant: the profile read from the CV and the typed answers."""

    def __init__(self, profile: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> None:
        self.profile = profile
        self.answers = {row["field_key"]: row for row in answers}

    @cached_property
    def skills(self) -> dict[str, str]:
        """The profile's skills by folded canonical name."""
        return {fold(vocabulary.canonical(name) or name): name for name in self.profile.get("skills") or []}

    @cached_property
    def text(self) -> str:
        """The CV's text, folded."""
        return fold(self.profile.get("text") or "")

    @property
    def positions(self) -> list[Mapping[str, Any]]:
        """The positions held."""
        return list(self.profile.get("positions") or [])

    def answer(self, key: str | None) -> list[str]:
        """Return the answer to a question as texts; empty where it was not asked or answered."""
        row = self.answers.get(key) if key else None
        given = typed.value(row) if row else None
        if given is None:
            return []
        if isinstance(given, bool):
            return ["yes" if given else "no"]
        if isinstance(given, Decimal):
            return [decimals.plain(given)]
        return given if isinstance(given, list) else [given]


def skills(values: Iterable[str], field: str | None, sources: Sources) -> list[Hit]:
    """Find skills by any of their names; one that the vocabulary lacks, as a phrase."""
    return [hit for value in values for hit in _skill(value, field, sources)]


def titles(values: Iterable[str], field: str | None, sources: Sources) -> list[Hit]:
    """Find titles by their words, whatever the order."""
    held = [*(sources.profile.get("titles") or []), *(item.get("title") or "" for item in sources.positions)]
    places = [("cv", title) for title in dict.fromkeys(held)]
    places += [("answers", text) for text in sources.answer(field)]
    found = []
    for value in values:
        hits = [Hit(share, source, _short(title), value) for source, title in places
                if (share := _title_share(value, title))]  # fmt: skip
        if hits:
            found.append(max(hits, key=lambda hit: hit.share))
    return found


def years(values: Sequence[str], field: str | None, sources: Sources) -> list[Hit]:
    """Count years: of the CV as a whole, or of the positions that name a value; and as answered."""
    hits = []
    if values:
        months_worked = periods.months(_naming(values, sources))
        hits = [years_hit(months_worked, ", ".join(values))] if months_worked else []
    elif (total := decimals.read(sources.profile.get("total_years"))) is not None and total > 0:
        hits = [Hit(Fraction(total), "cv", f"{total} years", "")]
    for text in sources.answer(field):
        number = decimals.read(text)
        if number is not None and number > 0:
            hits.append(Hit(Fraction(number), "answers", text, ""))
    return hits


def months(hits: Iterable[Hit], sources: Sources) -> int:
    """Count the months of the positions that name what was found; what overlaps counts once."""
    return periods.months(_naming([hit.value for hit in hits], sources))


def years_hit(count: int, value: str = "") -> Hit:
    """Show a number of months as years."""
    return Hit(Fraction(count, 12), "cv", f"{periods.years(count)} years", value)


def education(values: Iterable[str], field: str | None, sources: Sources) -> list[Hit]:
    """Find degrees: the level reached and, where a subject is named, the subject."""
    earned = sources.profile.get("education") or []
    held = [("cv", _degree_text(item), item.get("level")) for item in earned]
    held += [("answers", text, degrees.level(text)) for text in sources.answer(field)]
    places = [(source, text, fold(text), level) for source, text, level in held]
    found = []
    for value in values:
        hits = [Hit(share, source, _short(text), value) for source, text, folded, level in places
                if (share := _degree_share(value, folded, level))]  # fmt: skip
        if hits:
            found.append(max(hits, key=lambda hit: hit.share))
    return found


def answered(values: Iterable[str], field: str, sources: Sources) -> list[Hit]:
    """Find an answer that is one of the values; without values, one that does not say no."""
    given, wanted = sources.answer(field), list(values)
    if not wanted:
        return [
            Hit(ALL, "answers", _short(text), "") for text in given if fold(text) not in {"no", "false", "0"}
        ][:1]
    return [
        Hit(ALL, "answers", _short(text), value) for value in wanted for text in given if _same(text, value)
    ]


def phrases(values: Iterable[str], sources: Sources) -> list[Hit]:
    """Find phrases in the CV's text as whole words."""
    return [Hit(ALL, "cv", value, value) for value in values if _says(sources.text, value)]


def _skill(value: str, field: str | None, sources: Sources) -> Iterator[Hit]:
    name = vocabulary.canonical(value)
    held = sources.skills.get(fold(name or value))
    if held:
        yield Hit(ALL, "cv", held, value)
    elif not name and _says(sources.text, value):
        yield Hit(ALL, "cv", value, value)
    for text in sources.answer(field):
        if (
            _same(text, value)
            or (name and (vocabulary.canonical(text) == name or name in vocabulary.find(text)))
            or (not name and _says(fold(text), value))
        ):
            yield Hit(ALL, "answers", _short(text), value)


def _naming(values: Iterable[str], sources: Sources) -> Iterator[tuple[date, date]]:
    """Give the time of each position that names a value among its skills or in its title."""
    wanted = list(values)
    names = {fold(vocabulary.canonical(value) or value) for value in wanted}
    for item in sources.positions:
        held = {fold(vocabulary.canonical(name) or name) for name in item.get("skills") or []}
        time = periods.of(item)
        if time and (held & names or any(_title_share(value, item.get("title") or "") for value in wanted)):
            yield time


def _title_share(value: str, title: str) -> Fraction:
    wanted, held = _title_words(value), _title_words(title)
    if not wanted or not held:
        return Fraction(0)
    if wanted <= held:
        return ALL
    plain = wanted - set(RANKS.values())
    return HALF if plain and plain <= held else Fraction(0)


@lru_cache(maxsize=4096)
def _title_words(title: str) -> frozenset[str]:
    words = re.findall(r"[^\W_]+[+#]*", fold(title))
    return frozenset({SAME.get(word, RANKS.get(word, word)) for word in words} - FILLERS)


def _degree_text(item: Mapping[str, Any]) -> str:
    return " ".join(
        str(item[name]) for name in ("degree", "subject", "institution", "text") if item.get(name)
    )


def _degree_share(value: str, folded: str, held: str | None) -> Fraction:
    wanted, subject = degrees.level(value), degrees.subject(value)
    named = bool(subject) and _says(folded, subject)
    if wanted is None:
        return ALL if named else Fraction(0)
    if not degrees.reaches(held, wanted):
        return Fraction(0)
    return ALL if named or not subject else HALF


def _same(text: str, value: str) -> bool:
    number = decimals.read(value)
    if number is not None:
        return decimals.read(text) == number
    words = typed.WORDS
    if fold(text) in words and fold(value) in words:
        return words[fold(text)] is words[fold(value)]
    return fold(text) == fold(value)


def _says(folded: str, phrase: str) -> bool:
    """Say whether a folded text holds a phrase as whole words."""
    wanted = fold(phrase)
    # The plain search first: most phrases are nowhere, and it finds that out much faster.
    return (
        bool(wanted)
        and wanted in folded
        and re.search(rf"(?<!\w){re.escape(wanted)}(?![\w+#])", folded) is not None
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= EXCERPT else line[: EXCERPT - 1] + "…"
