"""How enrollments go through their pipelines: what each signal does at each kind of stage, in one table."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from rules.errors import Invalid
from rules.invitations import shown
from rules.moves import Move

STAGE_TYPES = ("assessment", "interview", "manual_review")
STATUSES = ("active", "on_hold", "passed", "rejected")

MOVES = {
    "advance": Move({"active"}, "active", event="pipeline.advanced"),
    "complete": Move({"active"}, "passed", stamp="completed_at", event="pipeline.completed"),
    "reject": Move({"active", "on_hold"}, "rejected", stamp="completed_at", event="pipeline.rejected"),
    "hold": Move({"active"}, "on_hold", event="pipeline.held"),
    "unhold": Move({"on_hold"}, "active", event="pipeline.unheld"),
}

OUTCOMES = ("passed", "failed")  # of a stage; whoever brings one about hears no refusal
BY_HAND = ("advance", "reject", "hold", "unhold")

# What a signal does to an enrollment of a status, whatever the stage. What is not here is refused.
_EFFECTS = {
    ("passed", "active"): "advance",
    ("passed", "on_hold"): "remember",  # unhold catches up
    ("passed", "passed"): "nothing",
    ("passed", "rejected"): "nothing",
    ("failed", "active"): "reject",
    ("failed", "on_hold"): "remember",
    ("failed", "passed"): "nothing",
    ("failed", "rejected"): "nothing",
    ("advance", "active"): "advance",
    ("reject", "active"): "reject",
    ("reject", "on_hold"): "reject",
    ("hold", "active"): "hold",
    ("hold", "on_hold"): "nothing",
    ("unhold", "on_hold"): "unhold",
}
# A review by people has no outcome of its own: they advance or reject.
_NOT_MEASURED = {"manual_review"}
TABLE: dict[tuple[str, str, str], str] = {
    (stage, signal, status): "nothing" if stage in _NOT_MEASURED and signal in OUTCOMES else effect
    for stage in STAGE_TYPES
    for (signal, status), effect in _EFFECTS.items()
}

# What is said of a rejection that nobody gave a reason for.
REASONS = {
    "assessment": "The score is below what the stage asks for.",
    "interview": "The interview did not lead on.",
}

RETRY_EVERY = timedelta(hours=1)
# An outcome that was being settled while its invitation was linked is looked for once more: longer than a
# transaction may take.
LOOK_AGAIN_AFTER = timedelta(minutes=2)


def effect(stage_type: str, signal: str, status: str) -> str:
    """Say what a signal does: advance, reject, hold, unhold, remember, nothing; or refuse it."""
    found = TABLE.get((stage_type, signal, status))
    if found is None:
        raise Invalid(f"An enrollment that is {status} cannot {signal}.", status=status)
    return found


def check_enrolling(archived_at: datetime | None) -> None:
    """Refuse to enroll anybody in a pipeline that is archived."""
    if archived_at is not None:
        raise Invalid("The pipeline is archived; nobody can be enrolled in it.", status="archived")


def outcome(passed: bool | None) -> str | None:  # noqa: FBT001 - a verdict is one
    """Name the outcome of a verdict; None where there is none, and a person decides."""
    return None if passed is None else OUTCOMES[0] if passed else OUTCOMES[1]


def retry_at(now: datetime) -> datetime:
    """Say when a stage that could not be entered is tried again: in an hour, or as the month turns."""
    turn = (now.replace(day=1) + timedelta(days=32)).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return min(now + RETRY_EVERY, turn)


_MESSAGES = {
    "missing_email": "The candidate's email is empty.",
    "invalid_email": "Must be an email address.",
    "quota_exhausted": "The month's invitations are used up.",
}


def error(email: Any, code: str) -> dict[str, Any]:
    """Say why a row of many could not be enrolled."""
    return {"email": shown(email), "code": code, "message": _MESSAGES[code]}


def skip(email: str) -> dict[str, Any]:
    """Say of a row of many that its candidate is enrolled already."""
    return {"email": email, "reason": "already_enrolled"}


def sift(
    rows: Sequence[Mapping[str, Any]], normal: Callable[[str], str | None]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Divide candidates into those to enroll, those who stand in the rows before, and those with an error.

    `normal` returns an address in its usual form, or None where it is none.
    """
    taken: set[str] = set()
    wanted: list[dict[str, Any]] = []
    skipped: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    for row in rows:
        given = row.get("email")
        email = normal(given) if isinstance(given, str) else None
        if given is None or (isinstance(given, str) and not given.strip()):
            errors.append(error(given, "missing_email"))
        elif email is None:
            errors.append(error(given, "invalid_email"))
        elif email.casefold() in taken:
            skipped.append(skip(email))
        else:
            taken.add(email.casefold())
            wanted.append({"email": email, "candidate_name": row["name"].strip()})
    return wanted, skipped, errors
