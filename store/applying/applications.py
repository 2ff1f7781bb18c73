"""Applications, their answers and their history."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import (
    Computed,
    ForeignKey,
    Index,
    Numeric,
    Select,
    delete,
    desc,
    func,
    select,
    text,
    update,
)
from sqlalchemy.orm import Mapped, Session, mapped_column, relationship

from rules.caller import Caller
from rules.clock import now
from rules.errors import NotFound
from store.applying.screening import Screening
from store.assessing.invitations import Invitation
from store.database.base import Base, Identified, Owned, Updated, beside, visible
from store.database.ids import new_id
from store.hiring.jobs import Job

LIVE = text("withdrawn_at IS NULL")


class Application(Base, Owned, Updated):
    """One person's application for one job; who withdrew may apply again."""

    __tablename__ = "applications"
    __table_args__ = (
        Index("uq_applications_live", "job_id", "email_key", unique=True, postgresql_where=LIVE),
        *(
            # What changed since a moment is sifted out in the index, in the list's order.
            Index(f"ix_applications_{name}_{order}", *owner, *keys, "id", "updated_at")
            for name, owner in {
                "owner": ("organisation_id", "livemode"),
                "owner_status": ("organisation_id", "livemode", "status"),
                "job": ("job_id",),
                "job_status": ("job_id", "status"),
            }.items()
            for order, keys in {"score": ("l3_rank", "submitted_at"), "time": ("submitted_at",)}.items()
        ),
        Index("ix_applications_owner_updated_at", "organisation_id", "livemode", "updated_at"),
        Index("ix_applications_email", "organisation_id", "livemode", "email_key", "l3_rank", "submitted_at", "id"),
        Index(
            "ix_applications_invitation",
            "invitation_id",
            postgresql_where=text("invitation_id IS NOT NULL"),
        ),
        Index("ix_applications_candidate", "candidate_id", "id"),
        # All that the funnel (store.measuring) asks of one.
        Index(
            "ix_applications_funnel",
            "organisation_id",
            "livemode",
            "submitted_at",
            postgresql_include=[
                "id", "job_id", "source", "invitation_id", "enrollment_id",
                "first_screened_at", "first_advanced_at", "first_hired_at", "origin",
            ],
        ),
        Index(
            "ix_applications_rejection_mails",
            "rejection_mail_at",
            postgresql_where=text(
                "status IN ('rejected', 'knockout_failed') AND rejection_mail_at IS NOT NULL"
            ),
        ),
    )  # fmt: skip

    job_id: Mapped[UUID] = mapped_column(ForeignKey("jobs.id"))
    candidate_id: Mapped[UUID] = mapped_column(ForeignKey("candidates.id"))
    email: Mapped[str]
    email_key: Mapped[str]  # case-folded: what makes two addresses the same
    full_name: Mapped[str]
    phone: Mapped[str] = mapped_column(default="")
    status: Mapped[str] = mapped_column(default="submitted")
    held_from: Mapped[str | None]  # the status before the hold
    source: Mapped[str]
    # What the link said that led here; None where that is not kept.
    source_detail: Mapped[dict[str, Any] | None]
    consent_at: Mapped[datetime | None]
    consent_text_hash: Mapped[str | None]  # of the privacy notice as it stood then: SHA-256, hexadecimal
    external_id: Mapped[str | None]
    invitation_id: Mapped[UUID | None] = mapped_column(ForeignKey("invitations.id", ondelete="SET NULL"))
    enrollment_id: Mapped[UUID | None]
    reject_reason: Mapped[str] = mapped_column(default="")
    rejection_mail_at: Mapped[datetime | None]  # when the candidate is to hear of it; none once that is done
    rejection_mailed_at: Mapped[datetime | None]
    submitted_at: Mapped[datetime] = mapped_column(default=now)
    withdrawn_at: Mapped[datetime | None]
    # The database keeps these four, for the funnel: triggers, of the history's lines and of `source_detail`.
    first_screened_at: Mapped[datetime | None]
    first_advanced_at: Mapped[datetime | None]
    first_hired_at: Mapped[datetime | None]
    origin: Mapped[str | None]
    l3_score: Mapped[Decimal | None] = mapped_column(Numeric(5, 2))
    # Lists run by this: a keyset needs a value, and no score comes after every score.
    l3_rank: Mapped[Decimal] = mapped_column(
        Numeric(5, 2), Computed("COALESCE(l3_score, -1)", persisted=True)
    )

    job: Mapped[Job] = relationship(lazy="raise", innerjoin=True)
    screening: Mapped[Screening] = relationship(lazy="raise", innerjoin=True)


class ApplicationAnswer(Base, Identified):
    """One answer, with the question as it was."""

    __tablename__ = "application_answers"
    __table_args__ = (Index("ix_application_answers_application", "application_id", "id"),)

    application_id: Mapped[UUID] = mapped_column(ForeignKey("applications.id"))
    field_id: Mapped[UUID]  # the question may be deleted since
    field_key: Mapped[str]
    field_label: Mapped[str]
    field_type: Mapped[str]
    value_text: Mapped[str] = mapped_column(default="")
    value_number: Mapped[Decimal | None] = mapped_column(Numeric(18, 6))
    value_boolean: Mapped[bool | None]
    value_json: Mapped[list[Any] | None]

    def as_rules_see_it(self) -> dict[str, Any]:
        """Return the answer as rules measure it."""
        return {name: getattr(self, name) for name in TYPED}


TYPED = (
    "field_key",
    "field_label",
    "field_type",
    "value_text",
    "value_number",
    "value_boolean",
    "value_json",
)


class ApplicationEvent(Base, Identified):
    """One thing that happened to an application."""

    __tablename__ = "application_events"
    __table_args__ = (Index("ix_application_events_application", "application_id", "id"),)

    application_id: Mapped[UUID] = mapped_column(ForeignKey("applications.id"))
    type: Mapped[str]
    from_status: Mapped[str | None]
    to_status: Mapped[str]
    actor: Mapped[str]  # candidate, public_api, system
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)


def get(session: Session, caller: Caller, id: UUID, *, for_update: bool = False) -> Application:
    """Load one with its job and its screening, or raise NotFound."""
    found = whole(visible(caller, Application).where(Application.id == id), locked=for_update)
    rows = session.scalars(found.with_for_update(of=Application) if for_update else found)
    row: Application | None = rows.first()
    if row is None:
        raise NotFound("There is no such application.")
    return row


def whole(rows: Select[Any], *, locked: bool = False) -> Select[Any]:
    """Load applications with their jobs and their screenings."""
    return rows.options(*beside(Application.job, Application.screening, locked=locked))


def hold_invited(session: Session, caller: Caller, token: str) -> None:
    """Lock the applications that an invitation came of, which come before it in the order of store.database.locks."""
    invited = select(Invitation.id).where(Invitation.token == token).scalar_subquery()
    mine = visible(caller, Application).where(Application.invitation_id == invited).order_by(Application.id)
    session.execute(mine.with_only_columns(Application.id).with_for_update(of=Application))


def name_instead(session: Session, invitation: Invitation, other: UUID | None) -> None:
    """Have applications that name an invitation name another one, or none."""
    came_of_it = update(Application).where(Application.invitation_id == invitation.id)
    session.execute(came_of_it.values(invitation_id=other))


def live(session: Session, job: Job, email: str, *, for_update: bool = False) -> Application | None:
    """Find the application that this person has for a job and did not withdraw."""
    rows = whole(select(Application), locked=for_update).where(
        Application.job_id == job.id,
        Application.email_key == email.casefold(),
        Application.withdrawn_at.is_(None),
    )
    if for_update:
        rows = rows.with_for_update(of=Application)
    row: Application | None = session.scalars(rows).first()
    return row


def answers(session: Session, application: Application) -> list[ApplicationAnswer]:
    """Load an application's answers in the order of the questions."""
    rows = select(ApplicationAnswer).where(ApplicationAnswer.application_id == application.id)
    return list(session.scalars(rows.order_by(ApplicationAnswer.id)))


def replace_answers(
    session: Session, application: Application, asked: Sequence[str], answers: Sequence[Mapping[str, Any]]
) -> None:
    """Put other answers in the place of those to what is asked; what is not asked any more stays."""
    known = delete(ApplicationAnswer).where(
        ApplicationAnswer.application_id == application.id, ApplicationAnswer.field_key.in_(asked)
    )
    session.execute(known)
    session.add_all(
        ApplicationAnswer(id=new_id(), application_id=application.id, **answer) for answer in answers
    )
    session.flush()


def first_of(session: Session, application: Application, type: str) -> ApplicationEvent | None:
    """Find when something first happened to an application."""
    rows = select(ApplicationEvent).where(
        ApplicationEvent.application_id == application.id, ApplicationEvent.type == type
    )
    return session.scalars(rows.order_by(ApplicationEvent.id).limit(1)).first()


def count_of(session: Session, application: Application, type: str) -> int:
    """Count how often something happened to an application."""
    rows = select(func.count()).where(
        ApplicationEvent.application_id == application.id, ApplicationEvent.type == type
    )
    return int(session.scalar(rows) or 0)


def history(session: Session, application: Application) -> list[ApplicationEvent]:
    """Load what happened to an application, in order."""
    rows = select(ApplicationEvent).where(ApplicationEvent.application_id == application.id)
    return list(session.scalars(rows.order_by(desc(ApplicationEvent.id)).limit(MOST_EVENTS)))[::-1]


MOST_EVENTS = 10_000


def happened(
    session: Session, application: Application, type: str, *, was: str | None, actor: str, **details: Any
) -> None:
    """Write a line of an application's history."""
    session.add(line(application, type, was=was, actor=actor, **details))
    session.flush()


def line(
    application: Application, type: str, *, was: str | None, actor: str, **details: Any
) -> ApplicationEvent:
    """Return a line of an application's history, which is still to be kept."""
    return ApplicationEvent(
        application_id=application.id,
        type=type,
        from_status=was,
        to_status=application.status,
        actor=actor,
        details=details,
    )
