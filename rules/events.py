"""The event catalogue: every event that leaves the service, in one table."""

from collections.abc import Iterable
from datetime import datetime
from difflib import get_close_matches
from typing import Any
from uuid import UUID

from rules.clock import iso

API_VERSION = "1.1.0"
PING = "webhook.test"
PING_SEQUENCE = 0  # below every recorded event's
ALL = "*"

EVENTS = {
    "assessment.started": "A candidate began a session.",
    "assessment.completed": "A candidate submitted or the time ran out; scores may still be pending.",
    "candidate.passed": "Grading is settled and the score reaches the passing score.",
    "candidate.failed": "Grading is settled and the score is below the passing score.",
    "candidate.violation": "The candidate's browser sent an integrity signal; told of the first 1,000 in a session.",
    "candidate.updated": "A candidate's profile changed.",
    "candidate.note_added": "A note was written on a candidate.",
    "candidate.merged": "A duplicate profile was merged into the one named here.",
    "invitation.created": "A candidate was invited, whether or not a mail went out.",
    "invitation.expired": "An invitation's time passed before the candidate started.",
    "pipeline.enrolled": "A candidate entered a pipeline.",
    "pipeline.advanced": "An enrollment moved to a later stage.",
    "pipeline.completed": "An enrollment passed its last stage.",
    "pipeline.rejected": "An enrollment was rejected.",
    "pipeline.held": "An enrollment was put on hold.",
    "pipeline.unheld": "An enrollment was taken off hold; what it missed meanwhile has been applied.",
    "interview.scheduled": "An interview got its time.",
    "interview.started": "An interview is under way.",
    "interview.completed": "An interview ended in the normal way.",
    "interview.cancelled": "An interview was cancelled.",
    "interview.no_show": "An interview's time passed without the other side.",
    "interview.analysis_ready": "The analysis of an interview can be read.",
    "job.created": "A job was drafted.",
    "job.published": "A job opened for applications.",
    "job.closed": "A job closed.",
    "application.submitted": "Somebody applied for a job.",
    "application.knockout_failed": "An application failed a knockout rule.",
    "application.screened": "An application has been screened and scored.",
    "application.held": "An application was put on hold.",
    "application.unheld": "An application was taken off hold.",
    "application.advanced": "An application moved on to the next step.",
    "application.rejected": "An application was rejected.",
    "application.withdrawn": "An application was withdrawn.",
    "application.hired": "A candidate was hired, by hand or by accepting an offer.",
    "offer.sent": "An offer went out to the candidate.",
    "offer.accepted": "The candidate accepted an offer.",
    "offer.declined": "The candidate declined an offer.",
    "offer.withdrawn": "An offer was withdrawn.",
    "offer.expired": "An offer's time passed without an answer.",
    PING: "A connectivity ping, sent by the test operation whatever the endpoint subscribes to.",
}

# The fields of an envelope, in the order in which they are sent.
FIELDS = ("id", "type", "timestamp", "api_version", "livemode", "sequence", "data")

# What an endpoint may subscribe to, besides `*`.
NAMES = tuple(EVENTS)


def subscribes(patterns: Iterable[str], type: str) -> bool:
    """Say whether an endpoint with these patterns (names, or `*`) receives an event of this type."""
    return any(pattern in (ALL, type) for pattern in patterns)


def nearest(name: str) -> str | None:
    """Return the known name that comes closest to a mistyped one."""
    return next(iter(get_close_matches(name, NAMES, n=1, cutoff=0.6)), None)


def public_id(id: UUID) -> str:
    """Return an event's id as receivers know it."""
    return f"evt_{id.hex}"


def envelope(
    id: UUID, type: str, moment: datetime, *, livemode: bool, sequence: int, data: dict[str, Any]
) -> dict[str, Any]:
    """Return what is delivered and listed of one event; the first of a sequence is 1."""
    return {
        "id": public_id(id),
        "type": type,
        "timestamp": iso(moment),
        "api_version": API_VERSION,
        "livemode": livemode,
        "sequence": sequence,
        "data": data,
    }


def ping(id: UUID, moment: datetime, *, livemode: bool) -> dict[str, Any]:
    """Return the envelope of a connectivity ping."""
    data = {"message": "This is a test of your webhook endpoint.", "test_id": str(id)}
    return envelope(id, PING, moment, livemode=livemode, sequence=PING_SEQUENCE, data=data)
