"""The steps of screening that happen outside the database: read the CV, score, have a brief written."""

import time
from collections.abc import Callable
from typing import Any

from gateways import briefs, files, models
from gateways.cv import reading
from gateways.cv.orders import SECONDS
from rules import screening
from rules.steps import NO_BRIEF, USED_UP, Outcome, Task

GONE = "The file is not there any more."


def run(
    task: Task, *, seconds: float, brief: Callable[[], bool] | None = None, patient: bool = True
) -> Outcome:
    """Take a task's steps within so many seconds; `brief` says, when it comes to that, whether a model may be asked.

    Without it a model is left to its own queue; who is not patient leaves a late brief for later.
    """
    until = time.monotonic() + seconds
    outcome = Outcome()
    for step in task.steps:
        if step == "parse":
            outcome.changes |= _parse(task, until - time.monotonic())
        elif step == "score":
            _score(task, outcome)
        else:
            _brief(task, outcome, until - time.monotonic(), brief, patient=patient)
    return outcome


def _now(task: Task, outcome: Outcome, name: str) -> Any:
    """Return a value as the steps so far have left it."""
    return outcome.changes.get(name, getattr(task, name))


def _parse(task: Task, seconds: float) -> dict[str, Any]:
    profile, error = None, ""
    if task.cv is not None and task.received is not None:
        content, limit = files.get(task.cv), max(1.0, min(SECONDS, seconds))
        parsed = None if content is None else reading.parse(content, today=task.received, seconds=limit)
        profile = _sound(parsed.profile) if parsed else None
        error = (parsed.error or "") if parsed else GONE
    return {"profile": profile, "parse_error": error}


def _score(task: Task, outcome: Outcome) -> None:
    outcome.scored = True
    if _now(task, outcome, "parse_error"):
        # No score rather than one of half the evidence: people see that the file could not be read.
        outcome.changes |= {"l3_breakdown": {}, "evidence": [], "model_version": ""}
        return
    found = screening.score(_now(task, outcome, "profile"), task.answers, task.requirements)
    outcome.l3_score = found.score
    outcome.changes |= {
        "l3_breakdown": found.breakdown,
        "evidence": [one.as_dict() for one in found.evidence],
        "model_version": found.model_version,
    }


def _brief(
    task: Task, outcome: Outcome, seconds: float, may_ask: Callable[[], bool] | None, *, patient: bool
) -> None:
    profile = _now(task, outcome, "profile")
    if not task.brief:
        outcome.changes["brief_error"] = NO_BRIEF
        return
    if not profile:
        outcome.changes["brief_error"] = "There is no CV that could be read."
        return
    asked = briefs.transcript(profile["text"], task.job_title, task.job_text, task.requirements)
    written_on = models.digest(asked)
    if written_on == task.briefed_on:
        outcome.changes["brief_error"] = ""
    elif not models.is_configured():
        outcome.changes["brief_error"] = models.NOT_CONFIGURED
    elif may_ask is None:
        outcome.brief_later = True
    elif not may_ask():
        outcome.changes["brief_error"] = USED_UP
    else:
        written = briefs.write(asked, seconds=max(1.0, seconds))
        if written.late and not patient:
            outcome.later = "rerun_brief"
        elif written.error:
            outcome.changes["brief_error"] = written.error
        else:
            outcome.changes |= {
                "brief_error": "",
                "ai_brief": written.text,
                "ai_red_flags": list(written.red_flags),
                "ai_rationale": written.rationale,
                "brief_input": written_on,
            }


def _sound(value: Any) -> Any:
    """Leave out what a database cannot hold: NUL, and halves of surrogate pairs."""
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_sound(one) for one in value]
    if isinstance(value, dict):
        return {str(name): _sound(one) for name, one in value.items()}
    return value
