"""The mails about interviews, and what stands of them in calendars."""

from typing import Any
from urllib.parse import urlsplit

from rules import interviews as rules
from rules import links
from rules.clock import iso


def interview_mail(
    interview: Any, organisation_name: str, what: str, /, *, interviewer: Any | None = None
) -> dict[str, Any]:
    """Write a mail about an interview as outbox work: it was invited to, rescheduled or cancelled."""
    token = interview.interviewer_token if interviewer else interview.candidate_token
    to = (
        (interviewer.email, interviewer.name)
        if interviewer
        else (interview.candidate_email, interview.candidate_name)
    )
    # Only the candidate's own mails tell on the room whether they reached its address.
    noted = {} if interviewer else {"interview_id": str(interview.id)}
    return {
        **noted,
        "template": "interview",
        "what": what,
        "to": to[0],
        "to_name": to[1],
        "candidate_email": interview.candidate_email,
        "candidate_name": interview.candidate_name,
        "is_interviewer": interviewer is not None,
        "livemode": interview.livemode,
        "organisation_name": organisation_name,
        "title": interview.title,
        "scheduled_at": iso(interview.scheduled_at) if interview.scheduled_at else None,
        "time_limit_minutes": interview.time_limit_minutes,
        "with_ai": interview.interviewer_mode != "human_only",
        "interview_url": links.interview(token),
        "calendar": _calendar(interview, what, links.interview(token)),
    }


def _calendar(interview: Any, what: str, url: str) -> dict[str, Any] | None:
    """Say what stands in a calendar; nothing where there is no moment."""
    if interview.scheduled_at is None:
        return None
    return {
        "method": "CANCEL" if what == "cancelled" else "REQUEST",
        "uid": f"{interview.id}@{urlsplit(links.base()).hostname or 'localhost'}",
        "sequence": interview.ics_sequence,
        "starts_at": iso(interview.scheduled_at),
        "minutes": interview.time_limit_minutes or rules.DEFAULTS["time_limit_minutes"],
        "title": interview.title,
        "url": url,
    }
