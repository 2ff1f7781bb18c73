"""What is done with rooms: each move with its event, the moment it falls due next, and the mails about it."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from rules import interviews as rules
from rules.caller import Caller
from rules.clock import iso, now
from rules.speaking import takes_part
from store import events, outbox
from store.accounts import organisations
from store.accounts.members import Member
from store.interviewing import rooms, tidying
from store.interviewing.rooms import Interview, Interviewer


class Shows(Protocol):
    """How interviews look outside: the module `schemas.interviews`."""

    def interview_event(self, interview: Any, /) -> dict[str, Any]:
        """Return the data of an interview's event."""

    def interview_mail(
        self, interview: Any, organisation_name: str, what: str, /, *, interviewer: Any | None = None
    ) -> dict[str, Any]:
        """Return a mail about an interview as outbox work: to its candidate, or to who interviews."""


def due_at(interview: Interview) -> datetime | None:
    """Say when the schedule moves a room by itself."""
    return rules.due_at(
        interview.status,
        created_at=interview.created_at,
        scheduled_at=interview.scheduled_at,
        started_at=interview.started_at,
        time_limit_minutes=interview.time_limit_minutes,
    )


def move(
    session: Session, interview: Interview, name: str, shows: Shows, *, at: datetime | None = None
) -> None:
    """Make a move of a locked room, or refuse; who is in it hears of it."""
    events.apply(session, interview, rules.move(name, interview.status), shows.interview_event, at=at)
    interview.due_at = due_at(interview)
    if name == "start" and takes_part(interview.interviewer_mode, interview.status):
        outbox.add(session, interview, "speak", interview_id=str(interview.id))
    if interview.status == "ended":
        outbox.add(session, interview, "analyse", interview_id=str(interview.id))
    _tell(session, interview)


def _tell(session: Session, interview: Interview) -> None:
    session.info.setdefault("rooms", set()).add(interview.id)
    if interview.status in rules.CLOSED:
        tidying.tidy(session, interview, at=interview.ended_at)  # of what is over, nothing happens later


def reschedule(
    session: Session, caller: Caller, interview: Interview, scheduled_at: datetime, shows: Shows
) -> None:
    """Give a locked room another time, or refuse; who had joined joins anew, and who was told is told."""
    rules.reschedule(interview.status, scheduled_at, now())
    interview.scheduled_at = scheduled_at
    interview.candidate_joined_at = interview.interviewer_joined_at = None
    interview.ics_sequence += 1
    move(session, interview, "schedule", shows)
    mail(session, caller, [interview], "rescheduled", shows)


def cancel(session: Session, caller: Caller, interview: Interview, shows: Shows) -> None:
    """Cancel a locked room, or refuse; who was told of it is told."""
    found = rules.move("cancel", interview.status)
    interview.session_metadata = {**interview.session_metadata, "cancelled_at": iso(now())}
    interview.ics_sequence += 1
    events.apply(session, interview, found, shows.interview_event)
    interview.due_at = None
    _tell(session, interview)
    mail(session, caller, [interview], "cancelled", shows)


def leave_all(
    session: Session, caller: Caller, enrollment_id: UUID, shows: Shows, *, but: UUID | None = None
) -> None:
    """Close the rooms of an enrollment that is over: what has not begun is cancelled, what has ends."""
    open_ones = (
        select(Interview)
        .where(Interview.pipeline_enrollment_id == enrollment_id, Interview.status.not_in(rules.CLOSED))
        .order_by(Interview.id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    for one in session.scalars(open_ones).all():
        if one.id == but:
            continue
        if one.status in rules.AHEAD:
            cancel(session, caller, one, shows)
        else:
            move(session, one, "end", shows)
            rooms.note(session, one, "end", "system", one.ended_at, reason="enrollment")


def fall_due(session: Session, interview: Interview, shows: Shows) -> None:
    """Do what the schedule does with a locked room whose moment has come."""
    name, at = rules.due_move(interview.status, interview.scheduled_at), interview.due_at
    running = interview.status == "active"
    move(session, interview, name, shows, at=at if running else None)
    if running:
        rooms.note(session, interview, "end", "system", at, reason="time_up")


def mail(session: Session, caller: Caller, interviews: Sequence[Interview], what: str, shows: Shows) -> None:
    """Mail candidates who are to be mailed, and all who interview, what became of their interviews."""
    members: dict[UUID, list[Member]] = defaultdict(list)
    wanted = select(Interviewer.interview_id, Member).join(Member, Member.user_id == Interviewer.user_id)
    ids = [one.id for one in interviews]
    for id, member in session.execute(wanted.where(Interviewer.interview_id.in_(ids)).order_by(Member.id)):
        members[id].append(member)
    told = [one for one in interviews if one.send_invite or members[one.id]]
    if not told:
        return
    name = organisations.name(session, caller)
    work = [shows.interview_mail(one, name, what) for one in told if one.send_invite and one.candidate_email]
    work += [
        shows.interview_mail(one, name, what, interviewer=member)
        for one in told
        for member in members[one.id]
    ]
    outbox.add_all(session, caller, "mail", work)
