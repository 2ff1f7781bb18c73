"""Organisations, assessments and invitations for the tests of the candidate's side."""

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import select, update

import store
from rules.clock import now
from rules.tokens import new_token
from store.accounts import organisations
from store.assessing.assessments import Assessment, AssessmentCase
from store.assessing.cases import Case
from store.assessing.invitations import Invitation
from store.assessing.sessions import CandidateSession, SessionCase
from store.database.ids import new_id
from store.events import Event
from store.outbox import OutboxItem

CHOICE = {
    "title": "A created resource",
    "case_type": "mcq",
    "difficulty": "easy",
    "question": "Which status tells that a resource was **created**?",
    "options": [
        {"id": "a", "text": "200 OK", "is_correct": False},
        {"id": "b", "text": "201 Created", "is_correct": True},
        {"id": "c", "text": "204 No Content", "is_correct": False},
    ],
}
CHOICES = {
    "title": "Safe methods",
    "case_type": "mcq",
    "difficulty": "medium",
    "question": "Which methods are *safe*? Choose every one that is.",
    "allow_multiple": True,
    "options": [
        {"id": "g", "text": "GET", "is_correct": True},
        {"id": "h", "text": "HEAD", "is_correct": True},
        {"id": "p", "text": "PATCH", "is_correct": False},
    ],
}
NUMBER = {
    "title": "Requests per second",
    "case_type": "numeric",
    "difficulty": "medium",
    "question": "A service answers 5,400 requests in 90 minutes. How many is that **per second**?",
    "answer_number": Decimal(1),
    "tolerance": Decimal("0.01"),
}
TEXT = {
    "title": "Explain an index",
    "case_type": "text",
    "difficulty": "hard",
    "question": "In a sentence or two: when does an index make a query *slower*?",
    "rubric": "Writes; low selectivity.",
}
CODE = {
    "title": "Sum of a line",
    "case_type": "coding",
    "difficulty": "easy",
    "question": "Read one line of whole numbers and print their **sum**.\n\n```\n1 2 3  ->  6\n```",
    "language": "python",
    "starter_code": "numbers = input().split()\n",
    "test_cases": [
        {"input": "1 2\n", "expected_output": "3\n", "weight": 1, "hidden": False},
        {"input": "-5 5 7\n", "expected_output": "7\n", "weight": 1, "hidden": False},
        {"input": "40000000000000 2\n", "expected_output": "40000000000002\n", "weight": 2, "hidden": True},
    ],
}
EVERY_KIND = (CHOICE, CHOICES, NUMBER, TEXT, CODE)


@dataclass
class Invited:
    """An invitation, known by its token."""

    token: str
    cases: list[str] = field(default_factory=list)  # assessment_case_ids in the assessment's order

    @property
    def url(self) -> str:
        return f"/api/v1/candidate/invites/{self.token}/"

    def invitation(self) -> Invitation:
        with store.transaction() as session:
            return session.scalars(select(Invitation).where(Invitation.token == self.token)).one()

    def session(self) -> CandidateSession | None:
        with store.transaction() as session:
            return session.scalar(
                select(CandidateSession).join(Invitation).where(Invitation.token == self.token)
            )

    def rows(self) -> list[SessionCase]:
        with store.transaction() as session:
            return list(
                session.scalars(
                    select(SessionCase)
                    .join(CandidateSession, CandidateSession.id == SessionCase.session_id)
                    .join(Invitation)
                    .where(Invitation.token == self.token)
                    .order_by(SessionCase.case_order)
                )
            )

    def answers(self) -> list[Any]:
        return [row.answer and row.answer[0] for row in self.rows()]

    def events(self, *types: str) -> list[Event]:
        owner = self.invitation().organisation_id
        with store.transaction() as session:
            found = session.scalars(
                select(Event).where(Event.organisation_id == owner).order_by(Event.sequence)
            )
            return [event for event in found if not types or event.type in types]

    def grading_asked(self) -> list[dict[str, Any]]:
        sitting = self.session()
        with store.transaction() as session:
            jobs = session.scalars(
                select(OutboxItem).where(OutboxItem.job == "grade").order_by(OutboxItem.id)
            )
            return [
                one.arguments for one in jobs if sitting and one.arguments == {"session_id": str(sitting.id)}
            ]

    def ends_in(self, seconds: float) -> None:
        """Move the running session's deadline; a negative number puts it into the past."""
        with store.transaction() as session:
            session.execute(
                update(CandidateSession)
                .where(CandidateSession.invitation_id == self.invitation().id)
                .values(deadline_at=now() + timedelta(seconds=seconds))
            )

    def change(self, **values: Any) -> None:
        with store.transaction() as session:
            session.execute(update(Invitation).where(Invitation.token == self.token).values(**values))


def invite(
    *cases: dict[str, Any],
    name: str = "Amina Diallo",
    extra_time_percent: int = 0,
    external_id: str | None = None,
    expires_in: timedelta = timedelta(days=7),
    **assessment: Any,
) -> Invited:
    """Make an organisation with an active assessment of these cases, and invite one candidate."""
    with store.transaction() as session:
        owner = organisations.create(session, name="Northwind Labs", plan="growth")
        made = Assessment(
            **{
                "organisation_id": owner.id,
                "livemode": True,
                "slug": "backend-engineer",
                "title": "Backend engineer",
                "description": "A few short tasks on SQL, HTTP and Python.",
                "status": "active",
                "time_limit_minutes": 45,
                "case_count": len(cases),
            }
            | assessment
        )
        session.add(made)
        session.flush()
        places = []
        for order, fields in enumerate(cases, start=1):
            case = Case(organisation_id=owner.id, livemode=True, **fields)
            session.add(case)
            session.flush()
            place = AssessmentCase(id=new_id(), assessment_id=made.id, case_id=case.id, order=order)
            session.add(place)
            places.append(str(place.id))
        token = new_token()
        session.add(
            Invitation(
                organisation_id=owner.id,
                livemode=True,
                assessment_id=made.id,
                token=token,
                email="amina@example.com",
                email_key="amina@example.com",
                name=name,
                external_id=external_id,
                extra_time_percent=extra_time_percent,
                expires_at=now() + expires_in,
            )
        )
    return Invited(token, places)
