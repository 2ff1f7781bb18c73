"""Interviews' rooms for the tests of what happens in them."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select, update

import store
from rules.clock import now
from rules.tokens import new_token
from store.accounts import organisations
from store.database.ids import new_id
from store.events import Event
from store.interviewing.rooms import (
    Interview,
    InterviewEvent,
    InterviewQuestion,
    InterviewShare,
    InterviewUpdate,
    digest,
)

SUM = {
    "title": "Sum of a line",
    "question_type": "coding",
    "body": "Read one line of numbers and print their **sum**.",
    "starter_code": "numbers = input().split()\n",
    "solution": "print(sum(map(int, input().split())))  # SECRET-solution",
    "expected_answer": "SECRET-expected",
    "hints": ["SECRET-hint"],
}
TALK = {"title": "A hard bug", "question_type": "text", "body": "Tell of a bug that took you a day."}


@dataclass
class Prepared:
    """A room, known by its links."""

    id: UUID
    candidate: str
    interviewer: str
    questions: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.of(self.candidate)

    @property
    def inside(self) -> str:
        return self.of(self.interviewer)

    def of(self, token: str) -> str:
        return f"/api/v1/candidate/interviews/{token}/"

    def row(self) -> Interview:
        with store.transaction() as session:
            return session.scalars(select(Interview).where(Interview.id == self.id)).one()

    def change(self, **values: Any) -> None:
        with store.transaction() as session:
            session.execute(update(Interview).where(Interview.id == self.id).values(**values))

    def events(self, *kinds: str) -> list[InterviewEvent]:
        with store.transaction() as session:
            of_room = select(InterviewEvent).where(InterviewEvent.interview_id == self.id)
            found = session.scalars(of_room.order_by(InterviewEvent.number))
            return [one for one in found if not kinds or one.kind in kinds]

    def said(self) -> list[str]:
        return [one.data["content"] for one in self.events("message")]

    def updates(self) -> list[bytes]:
        with store.transaction() as session:
            of_room = select(InterviewUpdate.update).where(InterviewUpdate.interview_id == self.id)
            return list(session.scalars(of_room.order_by(InterviewUpdate.number)))

    def told(self) -> list[str]:
        """The types of the organisation's events about it."""
        with store.transaction() as session:
            found = session.scalars(select(Event).order_by(Event.created_at, Event.sequence))
            return [one.type for one in found if one.data.get("interview_id") == str(self.id)]

    def share(self, expires_in: timedelta = timedelta(days=1)) -> str:
        token = new_token()
        with store.transaction() as session:
            made = InterviewShare(interview_id=self.id, hash=digest(token), expires_at=now() + expires_in)
            session.add(made)
        return token


def prepare(
    *questions: dict[str, Any],
    organisation_id: UUID | None = None,
    livemode: bool = True,
    **fields: Any,
) -> Prepared:
    """Prepare a room, of an organisation of its own unless told whose."""
    with store.transaction() as session:
        owner = organisation_id or organisations.create(session, name="Northwind Labs", plan="growth").id
        made = Interview(
            **{
                "id": new_id(),
                "organisation_id": owner,
                "livemode": livemode,
                "title": "Backend interview",
                "interview_type": "technical",
                "interviewer_mode": "human_only",
                "human_can_join": True,
                "voice_mode": False,
                "active_language": "python",
                "time_limit_minutes": 60,
                "candidate_name": "Amina Diallo",
                "candidate_email": "amina@example.com",
                "send_invite": False,
                "due_at": now() + timedelta(days=30),
            }
            | fields
        )
        session.add(made)
        session.flush()
        asked = [
            InterviewQuestion(interview_id=made.id, position=position, source="manual", **one)
            for position, one in enumerate(questions or (SUM, TALK))
        ]
        session.add_all(asked)
        session.flush()
        return Prepared(made.id, made.candidate_token, made.interviewer_token, [str(one.id) for one in asked])
