"""Offers: what an application's candidate is offered, as a letter."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, Select, bindparam, select, text, update
from sqlalchemy.orm import Mapped, Session, mapped_column, relationship
from sqlalchemy.orm.attributes import set_committed_value

from rules.caller import Caller
from rules.errors import NotFound
from rules.tokens import new_token
from store.accounts import organisations
from store.applying import applications
from store.applying.applications import Application
from store.auditing import trail
from store.database import listing
from store.database.aside import Row
from store.database.base import ANYONE, Base, Owned, Party, Updated, beside, visible
from store.database.due import Due
from store.database.engine import Means
from store.database.prepared import Prepared
from store.hiring import jobs
from store.hiring.jobs import Job


class Offer(Base, Owned, Updated):
    """One offer; nothing of it changes once it was sent but its status and the answer to it."""

    __tablename__ = "offers"
    __table_args__ = (
        Index("uq_offers_sent", "application_id", unique=True, postgresql_where=text("status = 'sent'")),
        # What changed since a moment is sifted out in the index, in the list's order.
        *(
            Index(f"ix_offers_{name}", *keys, "id", "updated_at")
            for name, keys in {
                "owner": ("organisation_id", "livemode"),
                "owner_status": ("organisation_id", "livemode", "status"),
                "job": ("job_id",),
                "job_status": ("job_id", "status"),
                "application": ("application_id",),
            }.items()
        ),
        Index("ix_offers_owner_updated_at", "organisation_id", "livemode", "updated_at"),
        Index(
            "ix_offers_sent",
            "organisation_id",
            "livemode",
            "sent_at",
            postgresql_include=["application_id", "status", "responded_at"],
            postgresql_where=text("sent_at IS NOT NULL"),
        ),
        Index("ix_offers_sendings", "scheduled_send_at", postgresql_where=text("status = 'scheduled'")),
        Index("ix_offers_expiry", "expires_at", postgresql_where=text("status = 'sent'")),
    )

    application_id: Mapped[UUID] = mapped_column(ForeignKey("applications.id"))
    job_id: Mapped[UUID] = mapped_column(ForeignKey("jobs.id"))  # the application's, for lists
    token: Mapped[str] = mapped_column(unique=True, default=new_token)
    status: Mapped[str] = mapped_column(default="draft")  # rules.offers.STATUSES
    title: Mapped[str] = mapped_column(default="")
    body_html: Mapped[str] = mapped_column(default="")
    compensation_text: Mapped[str] = mapped_column(default="")
    start_date: Mapped[date | None]
    expires_at: Mapped[datetime | None]
    scheduled_send_at: Mapped[datetime | None]
    send_error: Mapped[str | None]  # why the schedule could not send it; a change of the offer clears it
    sent_at: Mapped[datetime | None]
    responded_at: Mapped[datetime | None]
    decline_reason: Mapped[str] = mapped_column(default="")
    letter: Mapped[dict[str, Any] | None]  # what it said when it was sent, names included
    mail_error: Mapped[str | None]  # why the mail with it did not reach the candidate

    application: Mapped[Application] = relationship(lazy="raise", innerjoin=True)
    job: Mapped[Job] = relationship(lazy="raise", innerjoin=True)


def _whole(rows: Select[Any], *, locked: bool = False) -> Select[Any]:
    return rows.options(*beside(Offer.application, Offer.job, locked=locked))


def get(session: Session, caller: Caller, id: UUID) -> Offer:
    """Load one with its application and job, or raise NotFound."""
    found: Offer | None = session.scalars(_whole(visible(caller, Offer).where(Offer.id == id))).first()
    if found is None:
        raise NotFound("There is no such offer.")
    return found


def hold(session: Session, caller: Caller, id: UUID) -> Offer:
    """Lock one, after its application, which comes first in the order of store.database.locks; or raise NotFound."""
    mine = visible(caller, Offer).where(Offer.id == id)
    application_id = session.scalar(mine.with_only_columns(Offer.application_id))
    if application_id is None:
        raise NotFound("There is no such offer.")
    application = applications.get(session, caller, application_id, for_update=True)
    offer: Offer = session.scalars(mine.with_for_update(of=Offer)).one()
    return _of(offer, application)


def _of(offer: Offer, application: Application) -> Offer:
    set_committed_value(offer, "application", application)
    set_committed_value(offer, "job", application.job)
    return offer


def find(session: Session, token: str) -> Offer | None:
    """Find the one behind a link that went out: before it is sent nobody outside knows of it."""
    sent = select(Offer).where(Offer.token == token, Offer.sent_at.is_not(None))
    found: Offer | None = session.scalars(_whole(sent)).first()
    return found


def seen(session: Session, token: str) -> Offer:
    """Load the one behind a link that went out, or raise NotFound."""
    found = find(session, token)
    if found is None:
        raise NotFound("There is no such offer.")
    return found


def hold_seen(session: Session, token: str) -> Offer:
    """Lock the one behind a link that went out, or raise NotFound."""
    sent = select(Offer.id, Offer.organisation_id, Offer.livemode)
    found = session.execute(sent.where(Offer.token == token, Offer.sent_at.is_not(None))).first()
    if found is None:
        raise NotFound("There is no such offer.")
    trail.about(session, "offer", found)
    return hold(session, organisations.caller_of(session, found), found.id)


_OWNER = Prepared(select(Offer.organisation_id, Offer.livemode).where(Offer.token == bindparam("token")))


def owner(means: Means, token: str) -> Party | None:
    """Say whose and of which mode the offer behind a token is; None where there is none."""
    row = _OWNER.first(means, token=token)
    return row and (row.organisation_id, row.livemode)


LIST = listing.Listing(
    visible(ANYONE, Offer),
    {"-id": (Offer.id,)},
    {
        "status": listing.equals(Offer.status),
        "application_id": listing.equals(Offer.application_id),
        "job": listing.Filter(Offer.job_id == bindparam("job"), find=jobs.find_id),
        "updated_after": listing.updated_after(Offer),
    },
    {
        "application": (
            lambda page: Application.id == page.c.application_id,
            (Application.email, Application.full_name),
        ),
        "job": (lambda page: Job.id == page.c.job_id, (Job.slug, Job.title)),
    },
)


def create(session: Session, caller: Caller, application: Application, settings: Mapping[str, Any]) -> Offer:
    """Draft one for an application."""
    offer = Offer(
        organisation_id=caller.organisation_id,
        livemode=caller.livemode,
        application_id=application.id,
        job_id=application.job_id,
        **settings,
    )
    session.add(offer)
    session.flush()
    return _of(offer, application)


def is_out(session: Session, application: Application) -> bool:
    """Say whether the candidate of a locked application has an offer to answer."""
    sent = select(Offer.id).where(Offer.application_id == application.id, Offer.status == "sent")
    return session.scalar(sent) is not None


def unanswered(session: Session, application: Application) -> list[Offer]:
    """Lock those of a locked application that may still be withdrawn, the first that was made first."""
    rows = select(Offer).where(
        Offer.application_id == application.id, Offer.status.in_(("draft", "scheduled", "sent"))
    )
    found = session.scalars(rows.order_by(Offer.id).with_for_update()).all()
    return [_of(offer, application) for offer in found]


# It is not locked where it is chosen, because its application comes first.
SENDINGS = Due("offers to send", Offer, Offer.scheduled_send_at, Offer.status == "scheduled", locked=False)
EXPIRIES = Due("offer expiries", Offer, Offer.expires_at, Offer.status == "sent")


def overdue(session: Session, rows: Sequence[Row]) -> Sequence[Offer]:
    """Take those sent offers whose time is over, the first that ended first."""
    return session.scalars(
        _whole(select(Offer), locked=True)
        .where(*EXPIRIES.among(rows))
        .order_by(Offer.expires_at)
        .with_for_update(of=Offer, skip_locked=True)
    ).all()


def note_refusal(session: Session, id: UUID, words: str) -> None:
    """Note why the mail with an offer did not reach its candidate; nothing where they were erased meanwhile."""
    here = update(Offer).where(Offer.id == id, Offer.letter.is_not(None))
    session.execute(here.values(mail_error=words))
