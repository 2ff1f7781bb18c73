"""Rooms: one for each interview, and what was frozen into it."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ForeignKey,
    Index,
    UniqueConstraint,
    bindparam,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.caller import Caller
from rules.clock import now
from rules.errors import NotFound
from rules.tokens import new_token
from store.database.aside import Row
from store.database.base import Base, Identified, Owned, Party, Updated, visible
from store.database.due import Due
from store.database.engine import Means
from store.database.ids import new_id
from store.database.prepared import Prepared

WORDS = "searched(title, candidate_name, ARRAY[candidate_email])"


class Interview(Base, Owned, Updated):
    """One interview's room; both tokens are credentials, the candidate's and the interviewers'."""

    __tablename__ = "interviews"
    __table_args__ = (
        # What changed since a moment is sifted out in the index, in the list's order.
        *(
            Index(f"ix_interviews_{name}", "organisation_id", "livemode", *keys, "id", "updated_at")
            for name, keys in {
                "owner": (),
                "owner_status": ("status",),
                "owner_interview_type": ("interview_type",),
                "owner_interviewer_mode": ("interviewer_mode",),
            }.items()
        ),
        Index("ix_interviews_owner_updated_at", "organisation_id", "livemode", "updated_at"),
        Index("ix_interviews_candidate", "candidate_id", "id"),
        Index(
            "ix_interviews_enrollment",
            "pipeline_enrollment_id",
            "stage",
            "id",
            postgresql_where=text("pipeline_enrollment_id IS NOT NULL"),
        ),
        Index("ix_interviews_due", "due_at", postgresql_where=text("due_at IS NOT NULL")),
        Index("ix_interviews_parts", text(f"parts({WORDS}, 1)"), postgresql_using="gin"),
    )

    title: Mapped[str]
    candidate_token: Mapped[str] = mapped_column(unique=True, default=new_token)
    interviewer_token: Mapped[str] = mapped_column(unique=True, default=new_token)
    candidate_id: Mapped[UUID | None] = mapped_column(ForeignKey("candidates.id"))  # None without an address
    candidate_email: Mapped[str] = mapped_column(default="")
    candidate_name: Mapped[str] = mapped_column(default="")
    status: Mapped[str] = mapped_column(default="prepared")  # rules.interviews.STATUSES
    interview_type: Mapped[str]
    interviewer_mode: Mapped[str]
    human_can_join: Mapped[bool]
    voice_mode: Mapped[bool]
    active_language: Mapped[str]
    time_limit_minutes: Mapped[int]  # 0: no limit
    scheduled_at: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    candidate_joined_at: Mapped[datetime | None]
    interviewer_joined_at: Mapped[datetime | None]
    consent_at: Mapped[datetime | None]
    consent_text: Mapped[str | None]  # what the candidate agreed to, in its words
    integrity_config: Mapped[Any] = mapped_column(JSONB, default=dict)
    whiteboard_snapshot: Mapped[Any] = mapped_column(JSONB(none_as_null=True), nullable=True)
    session_metadata: Mapped[dict[str, Any]] = mapped_column(default=dict)
    job_description: Mapped[str] = mapped_column(default="")
    resume_text: Mapped[str] = mapped_column(default="")
    target_role: Mapped[str] = mapped_column(default="")
    target_company: Mapped[str] = mapped_column(default="")
    difficulty: Mapped[str] = mapped_column(default="")
    # With the session below, as it was at first.
    identity_match: Mapped[str] = mapped_column(default="unlinked")
    candidate_session_id: Mapped[UUID | None] = mapped_column(ForeignKey("sessions.id"))
    pipeline_enrollment_id: Mapped[UUID | None] = mapped_column(ForeignKey("enrollments.id"))
    stage: Mapped[int | None]  # where the enrollment stood, if that is an interview: whose outcome this is
    template_id: Mapped[UUID | None] = mapped_column(ForeignKey("interview_templates.id"))
    # Of the calendar's entry: rises with each change of it.
    ics_sequence: Mapped[int] = mapped_column(default=0)
    # Of the room's events and updates together.
    last_number: Mapped[int] = mapped_column(BigInteger, default=0)
    speaking_since: Mapped[datetime | None]  # when an AI took its turn, which it has not ended
    analysis_status: Mapped[str] = mapped_column(default="pending")  # pending, ready, failed
    analysis: Mapped[dict[str, Any] | None]
    analysis_at: Mapped[datetime | None]
    recommendation: Mapped[str | None]  # advance, reject, hold
    outcome_comment: Mapped[str] = mapped_column(default="")
    outcome_by: Mapped[str | None]
    outcome_at: Mapped[datetime | None]
    due_at: Mapped[datetime | None]  # when the schedule moves it: rules.interviews.due_at
    send_invite: Mapped[bool] = mapped_column(default=False)  # whether the candidate is mailed about it
    mail_error: Mapped[str | None]  # why the last mail did not reach the candidate


class InterviewQuestion(Base, Identified):
    """One question of a room, as it stood when the room was made."""

    __tablename__ = "interview_questions"
    __table_args__ = (UniqueConstraint("interview_id", "position"),)

    interview_id: Mapped[UUID] = mapped_column(ForeignKey("interviews.id", ondelete="CASCADE"))
    position: Mapped[int]  # from 0: shown as `order`
    title: Mapped[str]
    platform_case_id: Mapped[UUID | None]  # the case it was taken from
    source: Mapped[str]  # case, manual
    question_type: Mapped[str]
    body: Mapped[str] = mapped_column(default="")
    starter_code: Mapped[str] = mapped_column(default="")
    solution: Mapped[str] = mapped_column(default="")
    expected_answer: Mapped[str] = mapped_column(default="")
    hints: Mapped[Any] = mapped_column(JSONB(none_as_null=True), nullable=True)
    difficulty: Mapped[str] = mapped_column(default="")
    is_active: Mapped[bool] = mapped_column(default=False)  # it is the one that the room looks at
    current_code: Mapped[str] = mapped_column(default="")
    current_language: Mapped[str] = mapped_column(default="")


class InterviewEvent(Base):
    """One thing that happened in a room: what events, replay and analysis read. Messages are those of that kind.

    Numbers rise within the room; those that are missing are of updates.
    """

    __tablename__ = "interview_events"
    __table_args__ = (UniqueConstraint("interview_id", "id"),)  # who sends one again adds nothing

    interview_id: Mapped[UUID] = mapped_column(
        ForeignKey("interviews.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    id: Mapped[UUID]
    kind: Mapped[str]  # rules.interviews.KINDS
    actor: Mapped[str]  # candidate, interviewer, ai, system
    actor_name: Mapped[str] = mapped_column(default="")
    data: Mapped[dict[str, Any]] = mapped_column(default=dict)
    at: Mapped[datetime] = mapped_column(default=now)


class InterviewUpdate(Base):
    """One change of the shared document, in the form of yjs; older ones are together under the last number."""

    __tablename__ = "interview_updates"

    interview_id: Mapped[UUID] = mapped_column(
        ForeignKey("interviews.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    update: Mapped[bytes]
    actor: Mapped[str] = mapped_column(default="system")  # whose it is; system: many together
    at: Mapped[datetime] = mapped_column(default=now)


class InterviewShare(Base, Identified):
    """A link to look at a room and change nothing; its token is kept as a hash."""

    __tablename__ = "interview_shares"
    __table_args__ = (Index("ix_interview_shares_interview", "interview_id", "id"),)

    interview_id: Mapped[UUID] = mapped_column(ForeignKey("interviews.id", ondelete="CASCADE"))
    hash: Mapped[str] = mapped_column(unique=True)  # SHA-256, hexadecimal
    expires_at: Mapped[datetime]


class Interviewer(Base):
    """A member who interviews in a room."""

    __tablename__ = "interview_interviewers"
    __table_args__ = (Index("ix_interview_interviewers_user", "user_id"),)

    interview_id: Mapped[UUID] = mapped_column(
        ForeignKey("interviews.id", ondelete="CASCADE"), primary_key=True
    )
    user_id: Mapped[UUID] = mapped_column(ForeignKey("members.user_id", ondelete="CASCADE"), primary_key=True)


def get(session: Session, caller: Caller, id: UUID, *, for_update: bool = False) -> Interview:
    """Load one, or raise NotFound."""
    found = visible(caller, Interview).where(Interview.id == id)
    if for_update:
        found = found.with_for_update(key_share=True).execution_options(populate_existing=True)
    row = session.scalars(found).first()
    if row is None:
        raise NotFound("There is no such interview.")
    return row


_OF_STAGE = Prepared(
    select(Interview.id, Interview.recommendation)
    .where(
        Interview.pipeline_enrollment_id == bindparam("enrollment_id"),
        Interview.stage == bindparam("stage"),
        text("interviews.status NOT IN ('expired', 'no_show')"),
    )
    .order_by(Interview.id.desc())
    .limit(1)
)


def of_stage(session: Session, enrollment_id: UUID, stage: int) -> Any | None:
    """Read the newest room of an enrollment's stage that may still come to something, or has."""
    return _OF_STAGE.first(session, enrollment_id=enrollment_id, stage=stage)


_OWNER = Prepared(
    select(Interview.organisation_id, Interview.livemode).where(
        (Interview.candidate_token == bindparam("token"))
        | (Interview.interviewer_token == bindparam("token"))
    )
)


def owner(means: Means, token: str) -> Party | None:
    """Say whose and of which mode the interview behind a candidate's or interviewer's token is; None: there is none."""
    row = _OWNER.first(means, token=token)
    return row and (row.organisation_id, row.livemode)


_NUMBER = Prepared(
    text("UPDATE interviews SET last_number = last_number + 1 WHERE id = :id RETURNING last_number")
)


def note(
    session: Session, interview: Interview, kind: str, actor: str, at: datetime | None = None, **data: Any
) -> None:
    """Write into a room's stream what happened there by itself, or from outside."""
    number = _NUMBER.first(session, id=interview.id).last_number
    session.add(
        InterviewEvent(
            interview_id=interview.id,
            number=number,
            id=new_id(),
            kind=kind,
            actor=actor,
            data=data,
            at=at or now(),
        )
    )


def share(session: Session, interview: Interview, token: str, expires_at: datetime) -> InterviewShare:
    """Keep a link to look at a room."""
    made = InterviewShare(interview_id=interview.id, hash=digest(token), expires_at=expires_at)
    session.add(made)
    session.flush()
    return made


def digest(token: str) -> str:
    """Return what is kept of a share's token."""
    return hashlib.sha256(token.encode()).hexdigest()


def note_refusal(session: Session, id: UUID, words: str) -> None:
    """Note why a mail about an interview did not reach its candidate; nothing where they were erased meanwhile."""
    here = update(Interview).where(Interview.id == id, Interview.candidate_email != "")
    session.execute(here.values(mail_error=words))


# Locked where it is looked at: a room whose enrollment is moved by it would have to come after that.
DUE = Due("interviews", Interview, Interview.due_at)


def overdue(session: Session, rows: Sequence[Row]) -> Sequence[Interview]:
    """Take those rooms whose moment has come, the earliest first."""
    due = select(Interview).where(*DUE.among(rows)).order_by(Interview.due_at)
    return session.scalars(due.with_for_update(of=Interview, skip_locked=True)).all()
