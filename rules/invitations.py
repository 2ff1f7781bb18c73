"""Who may be invited, cancelled and reminded, and when."""

import json
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from rules.clock import iso
from rules.errors import (
    AlreadyCompleted,
    AlreadyStarted,
    AssessmentNotActive,
    Invalid,
    InvitationExpired,
    InviteQuotaExceeded,
    ReminderCooldown,
)
from rules.moves import Move, take

# What time does to an invitation; what its candidate does is in rules.sessions.
MOVES = {
    "expire": Move({"pending"}, "expired", event="invitation.expired"),
    "reopen": Move({"expired"}, "pending"),
}

# What may be changed of an invitation in each state; in the others nothing.
CHANGEABLE: Mapping[str, frozenset[str]] = {
    "pending": frozenset({"expires_at", "extra_time_percent", "language", "name", "role", "tags"}),
    "started": frozenset({"extra_time_percent"}),
}

INVITED_FOR = timedelta(days=7)  # where nobody says how long
LONGEST_INVITED = timedelta(days=365)

REMIND_EVERY = timedelta(hours=24)
LONGEST_SHOWN = 254  # of what stood where an address should


def check_active(status: str) -> None:
    """Refuse an invitation to an assessment that is not active."""
    if status != "active":
        raise AssessmentNotActive(status=status)


def check_quota(limit: int | None, used: int, granted: int) -> None:
    """Refuse when nothing of the month is left."""
    if not granted:
        raise InviteQuotaExceeded(limit=limit, used=used)


def check_cancel(status: str) -> None:
    """Refuse to cancel what the candidate has begun."""
    if status == "started":
        raise AlreadyStarted(status=status)
    if status == "completed":
        raise AlreadyCompleted(status=status)


def check_remind(status: str, *, expires_at: datetime, reminded_at: datetime | None, now: datetime) -> None:
    """Refuse a reminder of what is over, or a second one within a day."""
    if status == "completed":
        raise AlreadyCompleted(status=status)
    if status == "expired" or (status == "pending" and expires_at <= now):
        raise InvitationExpired(status="expired")
    if reminded_at is not None and now - reminded_at < REMIND_EVERY:
        raise ReminderCooldown(reminded_at=iso(reminded_at))


def check_update(status: str, changes: Mapping[str, Any], now: datetime) -> None:
    """Refuse a change that the state does not allow, or an expiry that no invitation has."""
    changeable = CHANGEABLE.get(status)
    if changeable is None:
        raise Invalid(f"An invitation that is {status} can no longer be changed.", status=status)
    if late := [name for name in changes if name not in changeable]:
        message = f"Can no longer be changed once the invitation is {status}."
        raise Invalid(status=status, fields=[{"pointer": f"/{name}", "message": message} for name in late])
    expires_at = changes.get("expires_at")
    if expires_at is not None and expires_at <= now:
        raise Invalid.at("/expires_at", "Must be a moment to come.")
    if expires_at is not None and expires_at > now + LONGEST_INVITED:
        raise Invalid.at("/expires_at", f"Must be at most {LONGEST_INVITED.days} days from now.")


def reopen(status: str, email: str, assessment_status: str) -> Move:
    """Say how an invitation that has expired is opened again, or refuse."""
    move = take(MOVES, "reopen", status)
    check_known(status, email)
    check_active(assessment_status)
    return move


def check_retake(status: str, email: str, assessment_status: str) -> None:
    """Refuse another attempt at what has not been completed."""
    if status != "completed":
        raise Invalid(f"An assessment that is {status} cannot be taken again.", status=status)
    check_known(status, email)
    check_active(assessment_status)


def check_newest(id: UUID, newest: Any) -> None:
    """Refuse a second retake of one invitation: the newest one is what may be taken again."""
    if newest.id != id:
        raise Invalid(
            "The candidate has been invited again already; the newest invitation is the one to look at.",
            status="completed",
            retaken_as=newest.token,
        )


def check_known(status: str, email: str) -> None:
    """Refuse to invite a candidate who was erased."""
    if not email:
        raise Invalid("The candidate was erased and cannot be invited again.", status=status)


def shown(given: Any) -> str | None:
    """Show what stood where an address should as it was sent, as JSON where it is no text; cut where it is long."""
    text = given if given is None or isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return text and text[:LONGEST_SHOWN]


def sift(
    rows: Sequence[Mapping[str, Any]],
    known: tuple[Set[str], Set[str]],
    normal: Callable[[str], str | None],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Divide candidates into those to invite and those to skip, with the reason.

    `known` holds the addresses (case-folded) and references that were invited before; `normal` returns an address
    in its usual form, or None where it is none. A candidate who stands twice in the rows is invited once.
    """
    emails, references = set(known[0]), set(known[1])
    wanted: list[dict[str, Any]] = []
    skipped: list[dict[str, Any]] = []
    for row in rows:
        given, reference = row.get("email"), row.get("external_id")
        email = normal(given) if isinstance(given, str) else None
        if given is None or (isinstance(given, str) and not given.strip()):
            reason = "missing_email"
        elif email is None:
            reason = "invalid_email"
        elif email.casefold() in emails or reference in references:
            reason = "already_invited"
        else:
            emails.add(email.casefold())
            if reference is not None:
                references.add(reference)
            wanted.append(
                {"email": email, "name": row["name"], "role": row["role"], "external_id": reference}
            )
            continue
        skipped.append({"email": shown(given), "reason": reason})
    return wanted, skipped


def beyond(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Skip candidates for whom the month has no invitation left."""
    return [{"email": row["email"], "reason": "quota_exhausted"} for row in rows]
