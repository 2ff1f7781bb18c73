"""The links by which applicants see and change what they sent, and how many mails with one a person gets."""

import hashlib
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, bindparam, select, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules import applications as rules
from rules.clock import now
from rules.errors import NotFound
from rules.tokens import new_token
from store.accounts import organisations
from store.applying import applications
from store.applying.applications import Application
from store.auditing import trail
from store.database.base import Base, Identified, Party
from store.database.engine import Means
from store.database.prepared import Prepared


class StatusLink(Base, Identified):
    """One link that went out in a mail; its token is kept as a hash."""

    __tablename__ = "status_links"
    __table_args__ = (Index("ix_status_links_application", "application_id", "created_at"),)

    application_id: Mapped[UUID] = mapped_column(ForeignKey("applications.id"))
    mail: Mapped[str]  # the kind that it went out in
    hash: Mapped[str] = mapped_column(unique=True)


# What the form brought a person lately; each part is asked along an index of theirs.
_LATELY = Prepared(
    text("""
    SELECT (SELECT count(*) FROM applications
            WHERE candidate_id = :candidate_id AND source = 'public_careers' AND submitted_at > :since
           ) AS applications,
           (SELECT count(*) FROM status_links AS link
            JOIN applications ON applications.id = link.application_id
            WHERE candidate_id = :candidate_id AND link.mail = 'applied_before' AND link.created_at > :since
           ) AS again,
           (SELECT count(*) FROM status_links
            WHERE application_id = :application_id AND mail = 'applied_before' AND created_at > :since
           ) AS again_here
    """)
)


def lately(session: Session, application: Application) -> Any:
    """Count what the form brought a person in the last day: `applications`, mails of their being there `again`."""
    session.flush()
    return _LATELY.first(
        session,
        candidate_id=application.candidate_id,
        application_id=application.id,
        since=now() - rules.MAILED_WITHIN,
    )


def make(session: Session, application: Application, mail: str) -> str:
    """Make a link for a mail; return its token, which is kept nowhere else."""
    made, token = new(application, mail)
    session.add(made)
    return token


def new(application: Application, mail: str) -> tuple[StatusLink, str]:
    """Return a link for a mail, which is still to be kept, and its token."""
    token = new_token()
    return StatusLink(application_id=application.id, mail=mail, hash=_hash(token)), token


_OF_TOKEN = Prepared(
    select(Application.id, Application.organisation_id, Application.livemode)
    .join(StatusLink, StatusLink.application_id == Application.id)
    .where(StatusLink.hash == bindparam("hash"), Application.email != "")  # of who was not erased
)


def owner(means: Means, token: str) -> Party | None:
    """Say whose and of which mode the application behind a token is; None where there is none."""
    row = _OF_TOKEN.first(means, hash=_hash(token))
    return row and (row.organisation_id, row.livemode)


def find(session: Session, token: str, *, for_update: bool = False) -> Application:
    """Load the application behind a link with its job and its screening, or raise NotFound."""
    row = _OF_TOKEN.first(session, hash=_hash(token))
    if row is None:
        raise NotFound("There is no such application.")
    trail.about(session, "application", row)
    return applications.get(session, organisations.caller_of(session, row), row.id, for_update=for_update)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
