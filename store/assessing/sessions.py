"""Candidate sessions: what was asked, what was answered, what it scored.

The invitation's row is the lock of everything a candidate does: whoever moves or writes a session takes it first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any
from uuid import UUID

from sqlalchemy import (
    DateTime,
    ForeignKey,
    Index,
    Numeric,
    UniqueConstraint,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, Session, contains_eager, mapped_column, relationship
from sqlalchemy.orm.attributes import set_committed_value

import rules.sessions
from rules.errors import NotFound
from rules.moves import take
from store import events, outbox
from store.accounts.organisations import Organisation
from store.assessing import snapshots
from store.assessing.assessments import Assessment
from store.assessing.invitations import Invitation
from store.auditing import trail
from store.database.aside import Row
from store.database.base import Base, Identified, Owned, Updated
from store.database.due import Due
from store.database.ids import new_id

WAITING = text("graded_at IS NOT NULL AND settled_at IS NULL")


class CandidateSession(Base, Owned, Updated):
    """One sitting of one invitation; made when the candidate starts."""

    __tablename__ = "sessions"
    __table_args__ = (
        # What the columns after the id ask for is sifted out in the index, in the list's order.
        Index("ix_sessions_list", "assessment_id", "id", "updated_at", "completed_at"),
        Index(
            "ix_sessions_running",
            "assessment_id",
            "id",
            "updated_at",
            postgresql_where=text("completed_at IS NULL"),
        ),
        Index("ix_sessions_passed", "assessment_id", "passed", "id", "updated_at"),
        Index(
            "ix_sessions_settled",
            "assessment_id",
            "id",
            "score_percentage",
            postgresql_where=text("settled_at IS NOT NULL"),
        ),
        Index("ix_sessions_updated_at", "assessment_id", "updated_at"),
        Index("ix_sessions_begun", "organisation_id", "livemode", "started_at", "assessment_id"),
        Index(
            "ix_sessions_ended",
            "organisation_id",
            "livemode",
            "completed_at",
            "assessment_id",
            postgresql_where=text("completed_at IS NOT NULL"),
        ),
        # What waits for a person.
        Index("ix_sessions_waiting", "organisation_id", "livemode", "id", postgresql_where=WAITING),
        Index("ix_sessions_waiting_of_assessment", "assessment_id", "id", postgresql_where=WAITING),
        Index("ix_sessions_deadline", "deadline_at", postgresql_where=text("completed_at IS NULL")),
    )

    invitation_id: Mapped[UUID] = mapped_column(ForeignKey("invitations.id"), unique=True)
    assessment_id: Mapped[UUID] = mapped_column(ForeignKey("assessments.id"))
    started_at: Mapped[datetime]
    deadline_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]
    saved_at: Mapped[datetime | None]  # the last answer; with it, updated_at stays
    passing_score: Mapped[int]  # as it stood at the start
    violation_counts: Mapped[dict[str, Any]] = mapped_column(default=dict)  # violation_type -> number
    # `needs_review` once violations reach the assessment's threshold.
    integrity_review_status: Mapped[str | None]
    graded_at: Mapped[datetime | None]  # every case has its grade or waits for review
    settled_at: Mapped[datetime | None]  # nothing is pending_review; the verdict, if there is one, was told
    score: Mapped[Decimal | None] = mapped_column(Numeric(12, 2))
    max_score: Mapped[Decimal | None] = mapped_column(Numeric(12, 2))
    score_percentage: Mapped[Decimal | None] = mapped_column(Numeric(5, 2))
    passed: Mapped[bool | None]
    time_spent_seconds: Mapped[int | None]
    consent_at: Mapped[datetime | None]
    consent_text_hash: Mapped[str | None]  # of the privacy notice as it stood then: SHA-256, hexadecimal
    # What the candidate agreed to have recorded: kinds, days, the notice as it was shown, accepted_at.
    recording: Mapped[dict[str, Any] | None]

    invitation: Mapped[Invitation] = relationship(lazy="raise")


class SessionCase(Base, Identified, Updated):
    """One case of one session: a snapshot of its content, the answer, the grade."""

    __tablename__ = "session_cases"
    __table_args__ = (
        UniqueConstraint("session_id", "case_order"),
        Index(
            "ix_session_cases_claimed", "claimed_until", postgresql_where=text("claimed_until IS NOT NULL")
        ),
    )

    session_id: Mapped[UUID] = mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"))
    assessment_case_id: Mapped[UUID]  # the place it was taken from; a snapshot outlives it
    case_order: Mapped[int]
    weight: Mapped[Decimal] = mapped_column(Numeric(8, 2))
    content: Mapped[dict[str, Any]]  # the case as it stood at the start, correct answers included
    answer: Mapped[list[Any] | None]  # [value]: an array of one, so that "not answered" differs from null
    saved_at: Mapped[datetime | None]
    language: Mapped[str | None]  # of the answer's code, where the candidate chose it
    tests: Mapped[list[Any] | None]  # how each test of the content went, once the program has run
    time_spent_seconds: Mapped[int] = mapped_column(default=0)
    status: Mapped[str | None]  # correct, partial, incorrect, skipped, pending_review
    score: Mapped[Decimal | None] = mapped_column(Numeric(16, 6))  # a third of a point is one
    max_score: Mapped[Decimal] = mapped_column(Numeric(12, 2))
    comment: Mapped[str | None]
    # Who has its review in hand (type, id, name), and until when.
    claimed_by: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    claimed_until: Mapped[datetime | None]

    @property
    def code_language(self) -> str | None:
        """The language of the answer's code: the case's, unless the candidate chose another one."""
        return self.language or self.content["language"]

    def grade(self, status: str, score: Decimal | None) -> None:
        """Keep how right the answer is; nobody has it in hand any more."""
        self.status, self.score = status, score
        self.claimed_by = self.claimed_until = None


@dataclass
class Sitting:
    """An invitation as its candidate meets it at one moment of the database's clock."""

    invitation: Invitation  # with its assessment
    organisation_name: str
    session: CandidateSession | None  # None before the start
    moment: datetime

    @property
    def status(self) -> str:
        """What the invitation is at that moment."""
        return rules.sessions.status(
            self.invitation.status,
            expires_at=self.invitation.expires_at,
            deadline_at=self.session.deadline_at if self.session else None,
            moment=self.moment,
        )

    @property
    def is_overdue(self) -> bool:
        """Say whether time is up and nobody has finished the session yet."""
        return self.invitation.status == "started" and self.status == "completed"


def look(session: Session, token: str, show: events.Shape) -> Sitting | None:
    """Load the sitting behind a token, or None; without a lock, unless its time is up and it must be finished."""
    sitting = _read(session, token)
    return hold(session, token, show) if sitting and sitting.is_overdue else sitting


def hold(session: Session, token: str, show: events.Shape) -> Sitting:
    """Load and lock the sitting behind a token, finished first where its time is up, or refuse: NOT_FOUND."""
    session.execute(select(Invitation.id).where(Invitation.token == token).with_for_update())
    # Read after the lock: both the rows and the moment are those of our turn.
    sitting = _read(session, token)
    if sitting is None:
        raise NotFound
    trail.about(session, "invitation", sitting.invitation)
    if sitting.session and sitting.is_overdue:
        finish(session, sitting.session, sitting.moment, show)
    return sitting


def _read(session: Session, token: str) -> Sitting | None:
    row = session.execute(
        select(Invitation, Organisation.name, CandidateSession, func.clock_timestamp())
        .join(Invitation.assessment)
        .join(Organisation, Organisation.id == Invitation.organisation_id)
        .outerjoin(CandidateSession, CandidateSession.invitation_id == Invitation.id)
        .options(contains_eager(Invitation.assessment))
        .where(Invitation.token == token)
        .execution_options(populate_existing=True)
    ).one_or_none()
    if row is None:
        return None
    sitting = Sitting(*row)
    if sitting.session:
        set_committed_value(sitting.session, "invitation", sitting.invitation)
    return sitting


def start(
    session: Session, sitting: Sitting, show: events.Shape, agreed: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Begin a pending sitting: snapshot its cases, lock the assessment's, and tell; a later call changes nothing.

    What is kept of the candidate's consent is in `agreed`.
    """
    invitation, assessment = sitting.invitation, sitting.invitation.assessment
    if sitting.session is not None:
        return
    move = take(rules.sessions.MOVES, "start", sitting.status)
    candidate_session = CandidateSession(
        id=new_id(),
        organisation_id=invitation.organisation_id,
        livemode=invitation.livemode,
        invitation=invitation,
        assessment_id=assessment.id,
        started_at=sitting.moment,
        deadline_at=rules.sessions.deadline(
            sitting.moment, assessment.time_limit_minutes, invitation.extra_time_percent
        ),
        passing_score=assessment.passing_score,
        violation_counts={},
        **agreed,
    )
    session.add(candidate_session)
    if not assessment.cases_locked:
        # Whoever changes the cases holds this row, so what is read next stands. No edit: updated_at stays.
        session.execute(
            update(Assessment)
            .where(Assessment.id == assessment.id)
            .values(cases_locked=True, updated_at=Assessment.updated_at)
        )
    session.flush()
    drawn = snapshots.draw(session, assessment, seed=str(invitation.id))
    rows = snapshots.rows(drawn, session_id=candidate_session.id, moment=sitting.moment)
    if rows:
        session.execute(insert(SessionCase).values(rows))
    sitting.session = candidate_session
    events.apply(session, invitation, move, lambda _: show(candidate_session), at=sitting.moment)


def of(session: Session, invitation: Invitation) -> CandidateSession | None:
    """Lock the session of a locked invitation; None before the start."""
    found = select(CandidateSession).where(CandidateSession.invitation_id == invitation.id)
    return session.scalars(found.with_for_update()).first()


DUE = Due("sessions", CandidateSession, CandidateSession.deadline_at, CandidateSession.completed_at.is_(None))


def overdue(session: Session, rows: Sequence[Row]) -> list[CandidateSession]:
    """Take those running sessions whose time is up; whatever somebody else holds is left alone."""
    return list(
        session.scalars(
            select(CandidateSession)
            .join(CandidateSession.invitation)
            .options(contains_eager(CandidateSession.invitation).selectinload(Invitation.assessment))
            .where(*DUE.among(rows))
            .order_by(CandidateSession.deadline_at)
            .with_for_update(of=[Invitation, CandidateSession], skip_locked=True)
        )
    )


def finish(
    session: Session, candidate_session: CandidateSession, moment: datetime, show: events.Shape
) -> None:
    """Complete a locked session and ask for the grades."""
    complete(session, candidate_session, moment, show)
    outbox.add(session, candidate_session, "grade", session_id=str(candidate_session.id))


def complete(
    session: Session, candidate_session: CandidateSession, moment: datetime, show: events.Shape
) -> None:
    """Complete a locked session, at its deadline where that has passed, and tell."""
    invitation = candidate_session.invitation
    move = take(rules.sessions.MOVES, "finish", invitation.status)
    deadline_at = candidate_session.deadline_at
    ended_at = moment if deadline_at is None else min(moment, deadline_at)
    candidate_session.completed_at = ended_at
    candidate_session.time_spent_seconds = rules.sessions.seconds_between(
        candidate_session.started_at, None, ended_at
    )
    events.apply(session, invitation, move, lambda _: show(candidate_session), at=ended_at)


def moment(session: Session) -> datetime:
    """Read the database's clock."""
    return session.scalars(select(func.clock_timestamp(type_=DateTime(timezone=True)))).one()
