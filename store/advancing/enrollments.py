"""Enrollments: one candidate's way through one pipeline, with its history and notes."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, bindparam, select, text
from sqlalchemy.orm import Mapped, Session, mapped_column, relationship

from rules.caller import Caller
from rules.clock import now
from rules.errors import NotFound
from store.advancing.pipelines import Pipeline
from store.assessing.invitations import Invitation
from store.database import listing
from store.database.base import ANYONE, Base, Identified, Owned, Updated, beside, visible
from store.database.engine import Means
from store.database.prepared import Prepared
from store.database.usage import USED


class Enrollment(Base, Owned, Updated):
    """One candidate in one pipeline, for ever: a finished one never moves again."""

    __tablename__ = "enrollments"
    __table_args__ = (
        UniqueConstraint("pipeline_id", "email_key"),
        Index("ix_enrollments_pipeline", "pipeline_id", "id", "updated_at"),
        Index("ix_enrollments_pipeline_status", "pipeline_id", "status", "id", "updated_at"),
        Index("ix_enrollments_pipeline_updated_at", "pipeline_id", "updated_at"),
        Index(
            "ix_enrollments_invitation", "invitation_id", postgresql_where=text("invitation_id IS NOT NULL")
        ),
        Index("ix_enrollments_candidate", "candidate_id", "id"),
        Index("ix_enrollments_retry", "retry_at", postgresql_where=text("retry_at IS NOT NULL")),
    )

    pipeline_id: Mapped[UUID] = mapped_column(ForeignKey("pipelines.id"))
    # None while a version that knew no profiles is still running beside this one.
    candidate_id: Mapped[UUID | None] = mapped_column(ForeignKey("candidates.id"))
    email: Mapped[str]
    email_key: Mapped[str]  # case-folded: what makes two addresses the same
    candidate_name: Mapped[str] = mapped_column(default="")
    language: Mapped[str | None]  # of the job that they applied for; None: they did not, or it has none
    send_email: Mapped[bool] = mapped_column(default=True)  # whether the invitations of its stages are mailed
    status: Mapped[str] = mapped_column(default="active")  # active, on_hold, passed, rejected
    current_stage: Mapped[int] = mapped_column(default=0)  # Stage.position
    rejected_at_stage: Mapped[int | None]
    reject_reason: Mapped[str] = mapped_column(default="")
    waiting_reason: Mapped[str | None]  # invite_quota, interview_quota, interviews_not_available
    retry_at: Mapped[datetime | None]  # when what it waits for is tried again
    missed: Mapped[str | None]  # the outcome (passed, failed) that came while it was on hold
    # of the current stage
    invitation_id: Mapped[UUID | None] = mapped_column(ForeignKey("invitations.id", ondelete="SET NULL"))
    enrolled_at: Mapped[datetime]
    completed_at: Mapped[datetime | None]

    pipeline: Mapped[Pipeline] = relationship(lazy="raise", innerjoin=True)


class EnrollmentEvent(Base, Identified):
    """One thing that happened to an enrollment."""

    __tablename__ = "enrollment_events"
    __table_args__ = (Index("ix_enrollment_events_order", "enrollment_id", "id"),)

    enrollment_id: Mapped[UUID] = mapped_column(ForeignKey("enrollments.id", ondelete="CASCADE"))
    kind: Mapped[str]
    from_stage: Mapped[int | None]
    to_stage: Mapped[int | None]
    actor: Mapped[str]
    reason: Mapped[str] = mapped_column(default="")


class EnrollmentNote(Base, Owned):
    """What somebody wrote about an enrollment."""

    __tablename__ = "enrollment_notes"
    __table_args__ = (Index("ix_enrollment_notes_order", "enrollment_id", "id"),)

    enrollment_id: Mapped[UUID] = mapped_column(ForeignKey("enrollments.id", ondelete="CASCADE"))
    body: Mapped[str]
    author: Mapped[str]  # public_api, member
    author_id: Mapped[UUID | None]  # of a member


_READ = Prepared(
    visible(ANYONE, Enrollment)
    .join(Pipeline, Pipeline.id == Enrollment.pipeline_id)
    .outerjoin(Invitation, Invitation.id == Enrollment.invitation_id)
    .with_only_columns(
        *Enrollment.__table__.columns,
        USED,
        Pipeline.slug.label("pipeline.slug"),
        Pipeline.title.label("pipeline.title"),
        Invitation.token.label("invitation.token"),
    )
    .where(Enrollment.id == bindparam("id"))
)
LIST = listing.Listing(
    visible(ANYONE, Enrollment).where(Enrollment.pipeline_id == bindparam("pipeline_id")),
    {"-id": (Enrollment.id,)},
    {"status": listing.equals(Enrollment.status), "updated_after": listing.updated_after(Enrollment)},
    {
        "pipeline": (lambda page: Pipeline.id == page.c.pipeline_id, (Pipeline.slug, Pipeline.title)),
        "invitation": (lambda page: Invitation.id == page.c.invitation_id, (Invitation.token,)),
    },
)
NOTES = listing.Listing(
    visible(ANYONE, EnrollmentNote).where(EnrollmentNote.enrollment_id == bindparam("enrollment_id")),
    {"-id": (EnrollmentNote.id,)},
)
MOST_EVENTS = 200  # of one enrollment that are shown: the last ones
_HISTORY = Prepared(
    text(f"""
    SELECT event.enrollment_id, event.created_at, event.kind, event.from_stage, event.to_stage, event.actor,
           event.reason
    FROM unnest(CAST(:ids AS uuid[])) AS wanted (id) CROSS JOIN LATERAL (
        SELECT id, enrollment_id, created_at, kind, from_stage, to_stage, actor, reason
        FROM enrollment_events WHERE enrollment_id = wanted.id ORDER BY id DESC LIMIT {MOST_EVENTS}
    ) AS event
    ORDER BY event.enrollment_id, event.id
    """)  # noqa: S608 - a number of our own
)


def read(means: Means, caller: Caller, id: UUID) -> Any:
    """Read the columns of one with its pipeline's slug and title and its invitation's token, or raise NotFound."""
    row = _READ.first(means, caller, id=id)
    if row is None:
        raise NotFound("There is no such enrollment.")
    return row


def history(means: Means, ids: Sequence[UUID]) -> dict[UUID, list[Any]]:
    """Read what happened to each of these enrollments, in order."""
    found: dict[UUID, list[Any]] = defaultdict(list)
    for event in _HISTORY.all(means, ids=list(ids)):
        found[event.enrollment_id].append(event)
    return found


def lock(session: Session, *conditions: Any) -> Sequence[Enrollment]:
    """Take the rows that meet conditions with their pipelines, in the order of their ids."""
    rows = select(Enrollment).where(*conditions).options(*beside(Enrollment.pipeline, locked=True))
    return session.scalars(
        rows.order_by(Enrollment.id).with_for_update(of=Enrollment).execution_options(populate_existing=True)
    ).all()


def happened(
    session: Session,
    enrollment: Enrollment,
    kind: str,
    *,
    actor: str,
    from_stage: int | None = None,
    to_stage: int | None = None,
    reason: str = "",
) -> None:
    """Write a line of an enrollment's history."""
    line = {"from_stage": from_stage, "to_stage": to_stage, "actor": actor, "reason": reason}
    session.add(EnrollmentEvent(enrollment_id=enrollment.id, kind=kind, **line))


def note(session: Session, caller: Caller, id: UUID, body: str, actor: str) -> EnrollmentNote:
    """Write a note on an enrollment; the actor is who writes it where that is no member."""
    by = {"author": "member" if caller.person else actor, "author_id": caller.author_id}
    owner = {"organisation_id": caller.organisation_id, "livemode": caller.livemode}
    made = EnrollmentNote(enrollment_id=id, body=body, **by, **owner)
    session.add(made)
    session.flush()
    return made


def hold_invited(session: Session, caller: Caller, token: str) -> None:
    """Lock the enrollments that an invitation is of, which come before it in the order of store.database.locks."""
    invited = visible(caller, Invitation).where(Invitation.token == token).with_only_columns(Invitation.id)
    lock(session, Enrollment.invitation_id == invited.scalar_subquery())


def forget_invitation(session: Session, invitation: Invitation, former: UUID | None, actor: str) -> None:
    """Have no enrollment name an invitation that is about to be removed; a stage that it was of waits for a person.

    Where it was a retake, the invitation before it (`former`) is the stage's again, and its outcome counts. Those that
    were linked to it while its row was awaited are among them.
    """
    for enrollment in lock(session, Enrollment.invitation_id == invitation.id):
        enrollment.invitation_id, enrollment.retry_at = former, None
        if enrollment.completed_at is None:
            enrollment.retry_at = now() if former else None
            _stays(session, enrollment, "invitation_cancelled", actor)
    session.flush()


def retake(session: Session, invitation: Invitation, newest: UUID, actor: str) -> None:
    """Have who waits for the outcome of an invitation wait for that of its retake; an outcome on hold is none any more.

    Who has ended stays as it is.
    """
    waiting = lock(session, Enrollment.invitation_id == invitation.id, Enrollment.completed_at.is_(None))
    for enrollment in waiting:
        enrollment.invitation_id, enrollment.missed, enrollment.retry_at = newest, None, None
        _stays(session, enrollment, "invitation_retaken", actor)
    session.flush()


def _stays(session: Session, enrollment: Enrollment, kind: str, actor: str) -> None:
    at = enrollment.current_stage
    happened(session, enrollment, kind, actor=actor, from_stage=at, to_stage=at)
