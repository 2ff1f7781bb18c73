"""How interviews move, who may do what in their rooms, and what a room is like that nobody said more of."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from rules import decimals, plans
from rules.errors import Invalid, LimitReached, SessionClosed
from rules.moves import Move, take
from rules.plans import Plan
from rules.refusal import Refusal
from rules.words import say

STATUSES = ("prepared", "scheduled", "waiting", "active", "ended", "expired", "no_show")
TYPES = ("coding", "technical", "system_design", "behavioral", "mixed")
MODES = ("ai_only", "human_only", "hybrid")
LANGUAGES = ("python", "javascript", "typescript", "sql", "java", "go", "bash")
DIFFICULTIES = ("entry", "mid", "senior", "staff", "")
RECOMMENDATIONS = ("advance", "reject", "hold")

AHEAD = {"prepared", "scheduled", "waiting"}  # nobody has begun
CLOSED = {"ended", "expired", "no_show"}  # nothing is said or written there any more

MOST_ROOMS = 50  # in one request

MOVES = {
    "schedule": Move(AHEAD, "scheduled", event="interview.scheduled"),
    "wait": Move({"prepared", "scheduled"}, "waiting"),
    "start": Move(
        {"prepared", "scheduled", "waiting"}, "active", stamp="started_at", event="interview.started"
    ),
    "end": Move({"waiting", "active"}, "ended", stamp="ended_at", event="interview.completed"),
    "cancel": Move(AHEAD, "expired", event="interview.cancelled"),
    # What the schedule does when `due_at` has passed.
    "miss": Move({"scheduled", "waiting"}, "no_show", event="interview.no_show"),
    "expire": Move({"prepared", "waiting"}, "expired", event="interview.no_show"),
    "time_up": Move({"active"}, "ended", stamp="ended_at", event="interview.completed"),
}

PATIENCE = timedelta(minutes=15)  # after its time, without the other side
KEPT_READY = timedelta(days=30)  # without a time
FARTHEST = timedelta(days=3_650)  # that one may be scheduled ahead

# --- The room's stream

KINDS = ("join", "leave", "message", "code", "question", "run", "whiteboard", "violation", "end")
SIDES = ("candidate", "interviewer")
ACTORS = (*SIDES, "ai", "system")

# --- What a room is made of

DEFAULTS: Mapping[str, Any] = {
    "interview_type": "technical",
    "interviewer_mode": "human_only",
    "time_limit_minutes": 60,  # 0: no limit
    "active_language": "python",
    "integrity_config": {},
    "job_description": "",
    "voice_mode": False,
    "human_can_join": None,  # unless the AI is alone there, and nobody is named to interview
    "target_role": "",
    "target_company": "",
    "difficulty": "",
    "coding_case_ids": (),
    "questions": (),
    "interviewers": (),
}
OF_TEMPLATES = tuple(DEFAULTS)  # what a template may say beside its title

NEEDS_CASE = {"coding", "mixed"}
ALONE = "ai_only"
NEEDED_ALONE = ("job_description", "resume_text")
GATED = {"hybrid": "hybrid_interviews"}


def settings(given: Mapping[str, Any], template: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Say what a room is like: what is given wins, then what its template says, then what is usual."""
    found = {**DEFAULTS, **(template or {}), **{name: given[name] for name in OF_TEMPLATES if name in given}}
    if found["human_can_join"] is None:
        found["human_can_join"] = found["interviewer_mode"] != ALONE or bool(found["interviewers"])
    return found


def check_plan(plan: Plan, interviewer_mode: str) -> None:
    """Refuse a mode that the plan does not include."""
    if interviewer_mode in GATED:
        plans.require(plan.name, GATED[interviewer_mode])


def check(
    settings: Mapping[str, Any],
    *,
    resume_text: str,
    case_types: Sequence[str],
    scheduled_at: datetime | None,
    now: datetime,
) -> None:
    """Refuse what no room can be made of, with every fault."""
    found = []
    if settings["interviewer_mode"] == ALONE:
        texts = {**settings, "resume_text": resume_text}
        found += [
            _fault(name, "An interview by the AI alone needs this.")
            for name in NEEDED_ALONE
            if not texts[name].strip()
        ]
    found += people_faults(settings)
    if settings["interview_type"] in NEEDS_CASE and "coding" not in case_types:
        found.append(_fault("coding_case_ids", "An interview of this type needs a coding case."))
    found += moment_faults(scheduled_at, now)
    if found:
        raise Invalid(fields=found)


def people_faults(settings: Mapping[str, Any]) -> list[dict[str, str]]:
    """Find what keeps those out who interview."""
    if settings["human_can_join"] or (
        settings["interviewer_mode"] != "human_only" and not settings["interviewers"]
    ):
        return []
    return [_fault("human_can_join", "Those who interview need to be let in.")]


def check_template(settings: Mapping[str, Any]) -> None:
    """Refuse what no room can be made of, whatever is said beside it."""
    if faults := people_faults(settings):
        raise Invalid(fields=faults)


def moment_faults(scheduled_at: datetime | None, now: datetime) -> list[dict[str, str]]:
    """Find what is wrong with the moment of an interview."""
    if scheduled_at is None or now < scheduled_at <= now + FARTHEST:
        return []
    late = f"Must be at most {FARTHEST.days} days from now."
    return [_fault("scheduled_at", "Must be a moment to come." if scheduled_at <= now else late)]


def kept(value: Any) -> Any:
    """Write a setting as a template keeps it: ids as text."""
    return (
        [kept(one) for one in value]
        if isinstance(value, list)
        else str(value)
        if isinstance(value, UUID)
        else value
    )


def check_quota(limit: int | None, used: int, granted: int) -> None:
    """Refuse when nothing of the month is left."""
    if not granted:
        raise LimitReached("The month's interviews are used up.", limit=limit, used=used)


def _fault(name: str, message: str) -> dict[str, str]:
    return {"pointer": f"/{name}", "message": message}


# --- Its way


def due_at(
    status: str,
    *,
    created_at: datetime,
    scheduled_at: datetime | None,
    started_at: datetime | None,
    time_limit_minutes: int,
) -> datetime | None:
    """Say when the schedule moves a room by itself; None: never."""
    if status == "active" and started_at is not None and time_limit_minutes:
        return started_at + timedelta(minutes=time_limit_minutes)
    if status in AHEAD:
        return scheduled_at + PATIENCE if scheduled_at is not None else created_at + KEPT_READY
    return None


def due_move(status: str, scheduled_at: datetime | None) -> str:
    """Name the move that a room makes whose moment has passed."""
    if status == "active":
        return "time_up"
    return "miss" if scheduled_at is not None else "expire"


def status(kept: str, *, due_at: datetime | None, scheduled_at: datetime | None, now: datetime) -> str:
    """Say what a room is at a moment, also where the schedule has not come by yet."""
    if due_at is None or due_at > now:
        return kept
    return MOVES[due_move(kept, scheduled_at)].target


def joined(status: str, interviewer_mode: str, *, candidate: bool, interviewer: bool) -> list[str]:
    """Name the moves of a room once these sides have joined it, or refuse a room that is closed.

    It waits for the candidate; then it begins at once where the AI is alone, else when an interviewer is there too.
    """
    require_open(status)
    if status == "active" or not candidate:
        return []
    waits = [] if status == "waiting" else ["wait"]
    return [*waits, "start"] if interviewer or interviewer_mode == ALONE else waits


def require_open(status: str) -> None:
    """Refuse whatever is to happen in a room that is closed."""
    if status in CLOSED:
        raise SessionClosed(status=status)


def require_running(status: str) -> None:
    """Refuse what may only happen once somebody has joined."""
    if (refusal := not_running(status)) is not None:
        raise refusal


def not_running(status: str) -> Refusal | None:
    """Return what a message, code or run is refused with; None where the room is in use."""
    if status in CLOSED:
        return SessionClosed(status=status)
    if status not in ("waiting", "active"):
        return Invalid(say("Nobody has joined the interview yet."), status=status)
    return None


def move(name: str, status: str) -> Move:
    """Say how a room moves, or refuse."""
    return take(MOVES, name, status)


def reschedule(status: str, scheduled_at: datetime, now: datetime) -> Move:
    """Say how a room gets another time, or refuse."""
    found = take(MOVES, "schedule", status)
    if faults := moment_faults(scheduled_at, now):
        raise Invalid(fields=faults)
    return found


def total(criteria: Sequence[Mapping[str, Any]]) -> Decimal:
    """Add up the scores of what was judged."""
    return decimals.cents(sum((decimals.parse(one["score"]) for one in criteria), Decimal(0)))


# What an outcome is to the stage of a pipeline that the interview is of.
SIGNALS = {"advance": "passed", "reject": "failed", "hold": "hold"}


def identity(found: Any | None, *, email: str, enrolled_as: str | None) -> str:
    """Say how sure it is that the candidate is whom one knows: linked, mismatch, unlinked."""
    if enrolled_as is not None and enrolled_as.casefold() != email.casefold():
        return "mismatch"
    return "linked" if found is not None else "unlinked"


MOST_SHOWN = 1_000  # messages in a room's detail: the last ones


def offsets(
    events: Sequence[Any], started_at: datetime | None, ended_at: datetime | None
) -> tuple[list[int], int]:
    """Say how many milliseconds after the beginning each event happened, and how long all of it took.

    They rise with the events' numbers, and none is after the end, whatever clocks said: the order is that of numbers.
    """
    known = [moment for moment in (*(one.at for one in events), started_at) if moment is not None]
    if not known:
        return [], 0
    first = latest = min(known)
    moments = []
    for one in events:
        latest = max(latest, one.at if ended_at is None else min(one.at, ended_at))
        moments.append(latest)
    last = max([latest, *(moment for moment in (started_at, ended_at) if moment is not None)])
    return [_milliseconds(moment - first) for moment in moments], _milliseconds(last - first)


def _milliseconds(span: timedelta) -> int:
    return round(span.total_seconds() * 1000)


def was_cancelled(session_metadata: Mapping[str, Any]) -> bool:
    """Say whether a room that is closed was cancelled."""
    return "cancelled_at" in session_metadata


def check_outcome(*, cancelled: bool, status: str) -> None:
    """Refuse an outcome of what was cancelled."""
    if cancelled:
        raise Invalid("The interview was cancelled; it has no outcome.", status=status)
