"""A candidate's report as a letter to be printed: what its page shows, in the same order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

from rules import decimals

KINDS = {"mcq": "Choice", "numeric": "Number", "text": "Text", "coding": "Program"}
OUTCOMES = {
    "correct": "Correct",
    "partial": "Partly correct",
    "incorrect": "Incorrect",
    "skipped": "Left out",
    "pending_review": "Waits for review",
}
SIGNALS = {
    "fullscreen": "Full screen was left",
    "copy_paste": "Copied or pasted",
    "screen_share": "Sharing of the screen was stopped",
    "webcam": "The camera was stopped",
    "focus_loss": "Another window was used",
}
VERDICTS = {True: "Passed", False: "Not passed", None: "None yet"}


LONGEST = 400_000  # characters of questions, answers and comments, which print in three seconds

Report = Mapping[str, Any]


def letter(report: Report, organisation_name: str, printable: Callable[[str], str]) -> dict[str, Any]:
    """Write a report as a letter; what no font has is replaced, since nobody can write it otherwise."""
    cases = report["cases"]
    needed = f", {report['passing_score']} % to pass"
    facts = {
        "Candidate": report["candidate"],
        "Address": report["email"],
        "Role": report["role"],
        "Result": VERDICTS[report["passed"]] if cases else "None, as there are no cases",
        "Score": f"{_of(report)} ({_number(report['percentage'])} %{needed})" if cases else "",
        "Place": ""
        if report["percentile"] is None
        else f"Better than {report['percentile']} % of all results",
        "Started": _moment(report["started_at"]),
        "Completed": _moment(report["completed_at"]),
        "Review": "Signals of integrity should be looked at" if report["needs_review"] else "",
    }
    body = [*_skills(report), *_table_of(cases), *_within(_each(cases)), *_happened(report)]
    return {
        "organisation_name": printable(organisation_name),
        "title": printable(report["title"]),
        "facts": {label: printable(words) for label, words in facts.items()},
        "body_html": printable("".join(body)),
    }


def _moment(text: str) -> str:
    return f"{datetime.fromisoformat(text):%d.%m.%Y %H:%M} UTC"


def _of(scored: Report) -> str:
    return f"{_number(scored['score'])} of {_number(scored['max_score'])}"


def _number(value: Any) -> str:
    return "–" if value is None else decimals.written(value)


def _skills(report: Report) -> list[str]:
    rows = [
        (one["tag"], OUTCOMES["pending_review"] if one["share"] is None else f"{_number(one['share'])} %")
        for one in report["skills"]
    ]
    return ["<h2>Skills</h2>", _table(("Skill", "Share of the points"), rows)] if rows else []


def _table_of(cases: Sequence[Report]) -> list[str]:
    if not cases:
        return []
    rows = [
        (
            f"{case['order']}. {case['title']}",
            KINDS[case["kind"]],
            OUTCOMES[case["status"]] + _passed(case),
            _of(case),
            f"{case['seconds'] // 60}:{case['seconds'] % 60:02}",
        )
        for case in cases
    ]
    return ["<h2>Cases</h2>", _table(("Case", "Kind", "Outcome", "Score", "Time"), rows)]


def _passed(case: Report) -> str:
    """Say how many of a program's tests passed."""
    if not case["tests"]:
        return ""
    return f", {sum(1 for one in case['tests'] if one['passed'])} of {len(case['tests'])} tests passed"


def _each(cases: Sequence[Report]) -> Iterator[str]:
    """Write each case with its question, its answer, what to look for, what was said of it, and its tests."""
    for case in cases:
        yield f"<h2>{case['order']}. {case['title_html']}</h2>"
        if case["question_html"]:
            yield f"<h3>Question</h3>{case['question_html']}"
        yield f"<h3>Answer</h3>{_answer(case)}"
        for label, words in (("What to look for", case["rubric"]), ("Comment", case["comment"])):
            if words:
                yield f"<h3>{label}</h3>{_paragraphs(words)}"
        for test in case["tests"]:
            verdict = {True: "passed", False: "failed", None: "its check failed"}[test["passed"]]
            said = f"<br>{escape(test['message'])}" if test["message"] else ""
            yield f"<p>Test {test['number']}: {verdict}, {test['time_ms']} ms{said}</p>"


def _answer(case: Report) -> str:
    given = case["answer"]
    if not given:
        return "<p>None</p>"
    if isinstance(given, list):
        return f"<ul>{''.join(f'<li>{one}</li>' for one in given)}</ul>"
    return f"<pre>{escape(given)}</pre>" if case["kind"] == "coding" else _paragraphs(given)


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{escape(one)}</p>" for one in text.splitlines() if one.strip())


def _within(parts: Iterator[str]) -> Iterator[str]:
    """Go on until the letter is as long as it may be, and say so."""
    left = LONGEST
    for part in parts:
        left -= len(part)
        if left < 0:
            yield "<p>The rest is too long to be printed; the page of the report has it.</p>"
            return
        yield part


def _happened(report: Report) -> list[str]:
    counts = [(SIGNALS.get(kind, kind), str(count)) for kind, count in sorted(report["signals"].items())]
    rows = [
        (one["at"], _event(one) + (f" (case {one['order']})" if one["order"] else ""))
        for one in report["happened"]
    ]
    whole = [("00:00", "Started"), *rows, (report["ended"], "Submitted")]
    signals = ["<h2>Signals of integrity</h2>", _table(("Signal", "Times"), counts)] if counts else []
    return [*signals, "<h2>What happened when</h2>", _table(("After", "What"), whole)]


def _event(one: Report) -> str:
    kind: str = one.get("type", "")
    return SIGNALS.get(kind, kind) or "Answered"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str], kind: str) -> str:
        return "<tr>" + "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in cells) + "</tr>"

    return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"
