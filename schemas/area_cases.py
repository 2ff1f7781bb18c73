"""The area's pages of the organisation's own cases, as a table: one form for each type, which all make a case."""

from collections.abc import Iterable
from typing import Any

from rules.words import say
from schemas.sections import (
    Action,
    Fields,
    Section,
    is_true,
    line,
    lines,
    optional,
    text,
    whole,
    whole_or_none,
)

CASES = "/area/cases/"
ROWS = range(5)  # of options and of tests; a case with more is made by create_case itself
# What the rows of a form are called, with what makes one more than empty.
FILLED = {"option": ("text", "correct"), "test": ("input", "output")}
LANGUAGES = {
    "python": "Python",
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "sql": "SQL",
    "java": "Java",
    "go": "Go",
    "bash": "Bash",
}


def packed(fields: Fields) -> dict[str, Any]:
    """Move the rows that hold something up, so that a row has the place of what is made of it; keep all else."""
    kept = {name: value for name, value in fields.items() if name.split("_")[0] not in FILLED}
    for kind in FILLED:
        for place, row in enumerate(_filled(fields, kind)):
            kept |= {f"{kind}_{place}_{part}": value for part, value in row.items()}
    return kept


def _filled(fields: Fields, kind: str) -> list[dict[str, Any]]:
    rows = [_row(fields, f"{kind}_{place}_") for place in ROWS]
    return [row for row in rows if any(text(row.get(part)).strip() for part in FILLED[kind])]


def _row(fields: Fields, begins: str) -> dict[str, Any]:
    return {name.removeprefix(begins): value for name, value in fields.items() if name.startswith(begins)}


def _options(fields: Fields) -> list[dict[str, Any]]:
    return [
        {"id": "abcde"[place], "text": line(row.get("text")), "is_correct": is_true(row.get("correct"))}
        for place, row in enumerate(_filled(fields, "option"))
    ]


def _tests(fields: Fields) -> list[dict[str, Any]]:
    return [
        {
            "input": _unbroken(row.get("input")),
            "expected_output": _unbroken(row.get("output")),
            "hidden": is_true(row.get("hidden")),
            **({"weight": line(row["weight"])} if line(row.get("weight")) else {}),
        }
        for row in _filled(fields, "test")
    ]


def _unbroken(given: Any) -> str:
    """Read a text with the ends of lines that programs read and print: forms send others."""
    return text(given).replace("\r\n", "\n")


def _answers(given: Any) -> list[str]:
    return [one.strip() for one in text(given).splitlines() if one.strip()]


# What a case of any type has.
_COMMON = {
    "title": line,
    "question": _unbroken,
    "difficulty": line,
    "points": whole,
    "time_limit_minutes": whole_or_none,
    "tags": lines,
}


def _making(case_type: str, *, gathers: Any = lambda _fields: {}, **body: Any) -> Action:
    return Action(
        "create_case",
        {**_COMMON, **body},
        leads_to=f"{CASES}?done=made",
        gathers=lambda fields: {"case_type": case_type, **gathers(fields)},
    )


def _languages(read: Fields) -> dict[str, Any]:
    """Say which languages run here, and which do not."""
    here: Iterable[str] = (read["catalogue"] or {}).get("languages", ())
    return {
        "rows": ROWS,
        "languages": {name: LANGUAGES.get(name, name) for name in here},
        "missing": [words for name, words in LANGUAGES.items() if name not in here],
    }


SECTIONS = {
    "cases": Section(
        say("Cases"),
        CASES,
        "area/cases.html",
        {"cases": "list_cases"},
        "cases",
        "cases:read",
        says={"made": say("The case is made.")},
    ),
    "new_case": Section(
        say("New case"),
        f"{CASES}new/",
        "area/case.html",
        {"catalogue": "list_platform_cases"},
        needs="cases:write",
        actions={
            "mcq": _making(
                "mcq", allow_multiple=is_true, gathers=lambda fields: {"options": _options(fields)}
            ),
            "numeric": _making("numeric", answer_number=optional, tolerance=optional),
            "text": _making("text", accepted_answers=_answers, rubric=_unbroken),
            "coding": _making(
                "coding",
                language=optional,
                starter_code=_unbroken,
                gathers=lambda fields: {"test_cases": _tests(fields)},
            ),
        },
        is_listed=False,
        always={"catalogue": {"page_size": 1}},
        makes=_languages,
    ),
}
