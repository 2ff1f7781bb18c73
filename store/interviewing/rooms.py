"""Rooms: one for each interview, and what was frozen into it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from rules.clock import now
from rules.tokens import new_token
from store.database.base import Base, Identified, Owned, Updated

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
    identity_match: Mapped[str] = mapped_column(
        default="unlinked"
    )  # with the session below, as it was at first
    candidate_session_id: Mapped[UUID | None] = mapped_column(ForeignKey("sessions.id"))
    pipeline_enrollment_id: Mapped[UUID | None] = mapped_column(ForeignKey("enrollments.id"))
    stage: Mapped[int | None]  # where the enrollment stood, if that is an interview: whose outcome this is
    template_id: Mapped[UUID | None] = mapped_column(ForeignKey("interview_templates.id"))
    ics_sequence: Mapped[int] = mapped_column(
        default=0
    )  # of the calendar's entry: rises with each change of it
    last_number: Mapped[int] = mapped_column(
        BigInteger, default=0
    )  # of the room's events and updates together
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
    """One change of the shared document, in the form of yjs; number 0 is what older ones were put together to."""

    __tablename__ = "interview_updates"

    interview_id: Mapped[UUID] = mapped_column(
        ForeignKey("interviews.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    update: Mapped[bytes]
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
