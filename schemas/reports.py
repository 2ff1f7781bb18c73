"""A candidate's report: a completed session as a letter to be printed."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from rules import decimals
from rules import results as rules

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


def letter(
    sitting: Any,
    cases: Sequence[Any],
    percentile: int | None,
    organisation_name: str,
    printable: Callable[[str], str],
) -> dict[str, Any]:
    """Write a completed session as a letter; what no font has is replaced, since nobody can write it otherwise."""
    invitation = sitting.invitation
    needed = f", {sitting.passing_score} % to pass"
    facts = {
        "Candidate": invitation.name or invitation.email,
        "Address": invitation.email,
        "Role": invitation.role,
        "Result": VERDICTS[sitting.passed] if cases else "None, as there are no cases",
        "Score": f"{_of(sitting)} ({_number(sitting.score_percentage)} %{needed})" if cases else "",
        "Place": "" if percentile is None else f"Better than {percentile} % of all results",
        "Started": f"{sitting.started_at:%d.%m.%Y %H:%M} UTC",
        "Completed": f"{sitting.completed_at:%d.%m.%Y %H:%M} UTC",
        "Review": "Signals of integrity should be looked at" if sitting.integrity_review_status else "",
    }
    return {
        "organisation_name": printable(organisation_name),
        "title": printable(invitation.assessment.title),
        "facts": {label: printable(words) for label, words in facts.items()},
        "body_html": printable(
            "".join([*_skills(cases), *_cases(cases), *_comments(cases), *_signals(sitting)])
        ),
    }


def _of(scored: Any) -> str:
    return f"{_number(scored.score)} of {_number(scored.max_score)}"


def _number(value: Any) -> str:
    return "–" if value is None else decimals.written(decimals.cents(value))


def _skills(cases: Sequence[Any]) -> list[str]:
    rows = [
        (tag, OUTCOMES["pending_review"] if share is None else f"{_number(share)} %")
        for tag, share in rules.skills(cases)
    ]
    return ["<h2>Skills</h2>", _table(("Skill", "Share of the points"), rows)] if rows else []


def _cases(cases: Sequence[Any]) -> list[str]:
    if not cases:
        return []
    rows = [
        (
            f"{case.case_order}. {case.content['title']}",
            KINDS[case.content["case_type"]],
            OUTCOMES[case.status or "pending_review"] + _tests(case),
            _of(case),
            f"{case.time_spent_seconds // 60}:{case.time_spent_seconds % 60:02}",
        )
        for case in cases
    ]
    return ["<h2>Cases</h2>", _table(("Case", "Kind", "Outcome", "Score", "Time"), rows)]


def _tests(case: Any) -> str:
    """Say how many of a program's tests passed."""
    if not case.tests:
        return ""
    return f", {sum(1 for one in case.tests if one['passed'])} of {len(case.tests)} tests passed"


def _comments(cases: Sequence[Any]) -> list[str]:
    said = [
        f"<p><b>{case.case_order}. {escape(case.content['title'])}</b><br>{escape(case.comment)}</p>"
        for case in cases
        if case.comment
    ]
    return ["<h2>Comments</h2>", *said] if said else []


def _signals(sitting: Any) -> list[str]:
    counts = [
        (SIGNALS.get(kind, kind), str(count)) for kind, count in sorted(sitting.violation_counts.items())
    ]
    return ["<h2>Signals of integrity</h2>", _table(("Signal", "Times"), counts)] if counts else []


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str], kind: str) -> str:
        return "<tr>" + "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in cells) + "</tr>"

    return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"
