"""Invitations: one per assessment and email."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, and_, bindparam, select, text, update
from sqlalchemy.orm import Mapped, Session, mapped_column, relationship

from rules.caller import Caller
from rules.clock import now
from rules.errors import NotFound
from rules.invitations import MOVES
from rules.tokens import new_token
from store import events
from store.assessing import assessments
from store.assessing.assessments import Assessment
from store.auditing import trail
from store.database import listing
from store.database.aside import Row
from store.database.base import ANYONE, Base, Owned, Party, Updated, beside, visible
from store.database.due import Due
from store.database.engine import Means
from store.database.prepared import Prepared
from store.database.usage import USED
from store.people.candidates import Candidate


class Invitation(Base, Owned, Updated):
    """One candidate's way into one assessment; the token is the credential."""

    __tablename__ = "invitations"
    __table_args__ = (
        # What is there once for each attempt at an assessment, and is looked for in all of an organisation's.
        Index(
            "uq_invitations_attempts_email_key",
            "organisation_id",
            "livemode",
            "email_key",
            "assessment_id",
            "attempt",
            unique=True,
        ),
        Index(
            "uq_invitations_attempts_external_id",
            "organisation_id",
            "livemode",
            "external_id",
            "assessment_id",
            "attempt",
            unique=True,
            postgresql_where=text("external_id IS NOT NULL"),
        ),
        # Their last column sifts out in the index, in the list's order, what changed since a moment.
        Index("ix_invitations_owner", "organisation_id", "livemode", "id", "updated_at"),
        Index("ix_invitations_owner_status", "organisation_id", "livemode", "status", "id", "updated_at"),
        Index("ix_invitations_made", "organisation_id", "livemode", "created_at", "assessment_id"),
        Index("ix_invitations_owner_updated_at", "organisation_id", "livemode", "updated_at"),
        Index("ix_invitations_assessment", "assessment_id", "id", "updated_at"),
        Index("ix_invitations_assessment_status", "assessment_id", "status", "id", "updated_at"),
        Index("ix_invitations_tags", "tags", postgresql_using="gin", postgresql_where=text("tags <> '{}'")),
        Index("ix_invitations_candidate", "candidate_id", "id"),
        Index("ix_invitations_expiry", "expires_at", postgresql_where=text("status = 'pending'")),
    )

    assessment_id: Mapped[UUID] = mapped_column(ForeignKey("assessments.id"))
    token: Mapped[str] = mapped_column(unique=True, default=new_token)
    email: Mapped[str]
    email_key: Mapped[str]  # case-folded: what makes two addresses the same
    name: Mapped[str] = mapped_column(default="")
    role: Mapped[str] = mapped_column(default="")
    status: Mapped[str] = mapped_column(default="pending")  # pending, started, completed, expired
    external_id: Mapped[str | None]
    tags: Mapped[list[str]] = mapped_column(default=list)
    extra_time_percent: Mapped[int] = mapped_column(default=0)
    expires_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]
    reminded_at: Mapped[datetime | None]
    enrollment_id: Mapped[UUID | None]
    # None while a version that knew no profiles is still running beside this one.
    candidate_id: Mapped[UUID | None] = mapped_column(ForeignKey("candidates.id"))
    mail_error: Mapped[str | None]  # why the last mail did not reach the address
    # 1, then 2 of a retake, and so on: of a person's invitations to an assessment the highest is the one that counts.
    attempt: Mapped[int] = mapped_column(default=1, server_default="1")
    retake_of: Mapped[str | None]  # the token of the attempt before
    language: Mapped[str | None]  # None: the assessment's

    assessment: Mapped[Assessment] = relationship(lazy="raise", innerjoin=True)


def get(session: Session, caller: Caller, token: str, *, for_update: bool = False) -> Invitation:
    """Load one with its assessment, or raise NotFound."""
    found = (
        visible(caller, Invitation)
        .where(Invitation.token == token)
        .options(*beside(Invitation.assessment, locked=for_update))
    )
    row = session.scalars(found.with_for_update(of=Invitation) if for_update else found).first()
    if row is None:
        raise NotFound("There is no such invitation.")
    trail.about(session, "invitation", row)
    return row


_READ = Prepared(
    visible(ANYONE, Invitation)
    .join(Assessment, Assessment.id == Invitation.assessment_id)
    .with_only_columns(
        *Invitation.__table__.columns,
        USED,
        Assessment.slug.label("assessment.slug"),
        Assessment.title.label("assessment.title"),
    )
    .where(Invitation.token == bindparam("token"))
)
_ROWS = visible(ANYONE, Invitation)
_BESIDE: dict[str, listing.Beside] = {
    "assessment": (lambda page: Assessment.id == page.c.assessment_id, (Assessment.slug, Assessment.title))
}
_FILTERS = {"status": listing.equals(Invitation.status), "updated_after": listing.updated_after(Invitation)}
LIST = listing.Listing(
    _ROWS,
    {"-id": (Invitation.id,)},
    {
        **_FILTERS,
        "assessment": listing.Filter(
            Invitation.assessment_id == bindparam("assessment"), find=assessments.find_id
        ),
        "email": listing.address(Invitation.email_key),
        "external_id": listing.equals(Invitation.external_id),
        # The second half only tells PostgreSQL that its index, which holds no row without tags, will do.
        "tag": listing.Filter(
            and_(Invitation.tags.contains(bindparam("tag")), Invitation.tags != text("'{}'")),
            read=lambda tag: [tag],
            skewed=True,
        ),
    },
    _BESIDE,
)
OF_ASSESSMENT = listing.Listing(
    _ROWS.where(Invitation.assessment_id == bindparam("assessment_id")),
    {"-id": (Invitation.id,)},
    _FILTERS,
    _BESIDE,
)


_OWNER = Prepared(
    select(Invitation.organisation_id, Invitation.livemode).where(Invitation.token == bindparam("token"))
)


def owner(means: Means, token: str) -> Party | None:
    """Say whose and of which mode the invitation behind a token is; None where there is none."""
    row = _OWNER.first(means, token=token)
    return row and (row.organisation_id, row.livemode)


def read(means: Means, caller: Caller, token: str) -> Any:
    """Read the columns of one with its assessment's slug and title, or raise NotFound."""
    row = _READ.first(means, caller, token=token)
    if row is None:
        raise NotFound("There is no such invitation.")
    return row


def keep(session: Session, id: UUID) -> bool:
    """Keep an invitation from being cancelled before this transaction ends; say whether it is still there."""
    found = select(Invitation.id).where(Invitation.id == id).with_for_update(read=True, key_share=True)
    return session.scalar(found) is not None


def note_refusal(session: Session, id: UUID, words: str) -> None:
    """Note why a mail about an invitation did not reach its address; nothing where it is gone, or was erased."""
    here = update(Invitation).where(Invitation.id == id, Invitation.email != "")
    session.execute(here.values(mail_error=words))


def former(session: Session, invitation: Invitation) -> UUID | None:
    """Find the invitation that a retake is of; None where it is no retake."""
    if invitation.retake_of is None:
        return None
    return session.scalar(select(Invitation.id).where(Invitation.token == invitation.retake_of))


def hold_profile(session: Session, caller: Caller, token: str) -> None:
    """Lock the profile that counts an invitation, which comes before it in the order of store.database.locks.

    It counts one less from now on, so that its `updated_at` moves.
    """
    invited = visible(caller, Invitation).where(Invitation.token == token)
    its = Candidate.id == invited.with_only_columns(Invitation.candidate_id).scalar_subquery()
    moved = update(Candidate).where(its).values(updated_at=now())
    session.execute(moved, execution_options={"synchronize_session": False})


def remove(session: Session, invitation: Invitation) -> None:
    """Remove an invitation; its link stops working."""
    session.delete(invitation)
    session.flush()
    _count(session, invitation.assessment_id, -1)


DUE = Due("invitations", Invitation, Invitation.expires_at, Invitation.status == "pending")
# By name: a statement that is prepared goes on where a newer version adds a column.
COLUMNS = [column.name for column in Invitation.__table__.columns]
_DUE = Prepared(
    text(f"""
    SELECT {", ".join(f"due.{name}" for name in COLUMNS)},
           assessments.slug AS "assessment.slug", assessments.title AS "assessment.title"
    FROM invitations AS due JOIN assessments ON assessments.id = due.assessment_id
    WHERE due.id = ANY (:ids) AND CASE due.status WHEN 'pending' THEN due.expires_at <= :moment END  -- by id alone
    ORDER BY due.expires_at, due.id
    FOR UPDATE OF due SKIP LOCKED
    """)  # noqa: S608 - names of our own
)


def expire(session: Session, rows: Sequence[Row], show: events.Shape) -> int:
    """Expire those that nobody started in time, with their events; return how many there were."""
    due = _DUE.all(session, ids=[row.id for row in rows], moment=now())
    events.apply_all(session, Invitation, due, MOVES["expire"], show)
    return len(due)


def _count(session: Session, assessment_id: UUID, change: int) -> None:
    session.execute(
        update(Assessment)
        .where(Assessment.id == assessment_id)
        .values(invitation_count=Assessment.invitation_count + change)
    )
