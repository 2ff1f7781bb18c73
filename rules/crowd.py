"""People who apply where nobody does: made up, the same ones for the same seed, with CVs in several languages."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from rules import answers as typed
from rules import decimals, knockouts
from rules.errors import Invalid

QUALITIES = ("strong", "weak")
# By the language of their CV: names, then how its parts are called and what stands in them.
_LANGUAGES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "en": (
        ("Ada Lovelace", "Alan Turing", "Grace Hopper"),
        ("Experience", "Skills", "Education", "present"),
        "Builds what is needed and measures whether it works.",
    ),
    "de": (
        ("Konrad Zuse", "Käthe Müller", "Jürgen Groß"),
        ("Berufserfahrung", "Kenntnisse", "Ausbildung", "heute"),
        "Baut, was gebraucht wird, und misst, ob es hält.",
    ),
    "fr": (
        ("Éloïse Lefèvre", "Blaise Garçon", "Zoé Château"),
        ("Expérience professionnelle", "Compétences", "Formation", "aujourd'hui"),
        "Construit l'essentiel et mesure le résultat.",
    ),
    "es": (
        ("Begoña Núñez", "Íñigo Pérez", "Lucía Ibáñez"),
        ("Experiencia laboral", "Habilidades", "Formación", "actualidad"),
        "Construye lo necesario y mide el resultado.",
    ),
    "pl": (
        ("Łukasz Żółć", "Małgorzata Śliwa"),
        ("Doświadczenie zawodowe", "Umiejętności", "Wykształcenie", "obecnie"),
        "Buduje to, co potrzebne, i mierzy wynik.",
    ),
    "uk": (
        ("Катерина Ющенко", "Віктор Глушков"),
        ("Досвід роботи", "Навички", "Освіта", "дотепер"),
        "Будує потрібне й вимірює результат.",
    ),
    "ar": (
        ("ليلى حداد", "عمر الخطيب"),
        ("الخبرة", "المهارات", "التعليم", "الآن"),
        "يبني ما يلزم ويقيس النتيجة.",
    ),
}
UNASKED = ("Bookkeeping", "Floristry", "Wood carving")


@dataclass(frozen=True)
class Applicant:
    """Somebody who applies: how well they fit, who they are, what they answer, and their CV line by line."""

    quality: str
    email: str
    full_name: str
    phone: str
    answers: dict[str, Any]
    cv: list[str]
    as_word: bool  # whether the CV is a Word file; a plain text otherwise


def people(
    count: int,
    quality: str,
    seed: int,
    *,
    year: int,
    fields: Sequence[Mapping[str, Any]],
    rules: Sequence[Mapping[str, Any]],
    requirements: Sequence[Mapping[str, Any]],
) -> Iterator[Applicant]:
    """Make applicants up for a job's questions, knockout rules and requirements."""
    for number in range(1, count + 1):
        draw = random.Random(f"{seed} {number}")  # noqa: S311 - the same for the same seed
        kind = QUALITIES[number % 2] if quality == "mixed" else quality
        language = draw.choice(sorted(_LANGUAGES))
        names, headings, profile = _LANGUAGES[language]
        name = draw.choice(names)
        email = f"applicant-{seed}-{number}@example.com"
        phone = f"+4930555{draw.randrange(10_000):04}"
        years = draw.randrange(1, 3) + (max(_years(requirements), 5) if kind == "strong" else 0)
        skills = _skills(requirements) if kind == "strong" else list(UNASKED)
        title = (
            next(iter(_values(requirements, "title")), "Software engineer") if kind == "strong" else "Florist"
        )
        cv = [
            name, email, phone, "", profile, "",
            headings[0], f"{title}, Northwind Labs, 01/{year - years} - {headings[3]}", "",
            headings[1], ", ".join(skills), "",
            headings[2], f"BSc, {year - years - 3} - {year - years}",
        ]  # fmt: skip
        answers = dict(_answers(fields, rules, wins=kind == "strong"))
        yield Applicant(kind, email, name, phone, answers, cv, as_word=bool(draw.getrandbits(1)))


def _values(requirements: Sequence[Mapping[str, Any]], *kinds: str) -> list[str]:
    asked = [one for one in requirements if one["is_active"] and (not kinds or one["kind"] in kinds)]
    return [text for one in asked for text in (one["values"] or [one["label"]])]


def _skills(requirements: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(_values(requirements, "skill", "tool", "custom"))) or ["Python", "PostgreSQL"]


def _years(requirements: Sequence[Mapping[str, Any]]) -> int:
    return max((one["min_years"] or 0 for one in requirements), default=0)


def _answers(
    fields: Sequence[Mapping[str, Any]], rules: Sequence[Mapping[str, Any]], *, wins: bool
) -> Iterator[tuple[str, Any]]:
    """Answer each question, so that its knockout rules are met or, where that is possible, are not."""
    for field in fields:
        if not field["is_active"]:
            continue
        mine = [rule for rule in rules if rule["field_key"] == field["key"]]
        fit = [one for one in _possible(field, mine) if _is_taken(field, one)]
        wanted = [one for one in fit if _passes(field, mine, one) == wins]
        if found := wanted or fit:
            yield field["key"], found[0]


def _possible(field: Mapping[str, Any], rules: Sequence[Mapping[str, Any]]) -> Iterable[Any]:
    kind, options = field["field_type"], typed.option_values(field)
    named = [
        one
        for rule in rules
        for one in (rule["value"] if isinstance(rule["value"], list) else [rule["value"]])
    ]
    if kind == "boolean":
        return [True, False]
    if kind == "single_select":
        return options
    if kind == "multi_select":
        return [options, *([one] for one in options)]
    if kind == "number":
        near = [
            number + more
            for one in named
            if (number := decimals.read(one)) is not None
            for more in (0, 1, -1)
        ]
        return [float(one) for one in (*near, Decimal(5), Decimal(0))]
    if kind == "url":
        return [*named, "https://example.com/portfolio"]
    return [*named, "Yes", "No"]


def _is_taken(field: Mapping[str, Any], answer: Any) -> bool:
    try:
        return bool(typed.check({field["key"]: answer}, [field]))
    except Invalid:
        return False


def _passes(field: Mapping[str, Any], rules: Sequence[Mapping[str, Any]], answer: Any) -> bool:
    return knockouts.evaluate(rules, typed.check({field["key"]: answer}, [field])).passed
