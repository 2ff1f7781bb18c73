"""The people who apply: one profile per organisation, mode and address."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import UniqueConstraint, func
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.caller import Caller
from rules.clock import now
from store.database.base import Base, Owned, Updated
from store.database.ids import new_id


class Candidate(Base, Owned, Updated):
    """What an organisation knows of a person."""

    __tablename__ = "candidates"
    __table_args__ = (UniqueConstraint("organisation_id", "livemode", "email_key"),)

    email: Mapped[str]
    email_key: Mapped[str]  # case-folded: what makes two addresses the same
    full_name: Mapped[str] = mapped_column(default="")
    phone: Mapped[str] = mapped_column(default="")
    last_activity_at: Mapped[datetime | None]


def meet(session: Session, caller: Caller, *, email: str, full_name: str, phone: str) -> UUID:
    """Return the id of a person's profile, made if need be; what is known already stays, blanks are filled in."""
    moment = now()
    row = insert(Candidate).values(
        id=new_id(),
        created_at=moment,
        updated_at=moment,
        organisation_id=caller.organisation_id,
        livemode=caller.livemode,
        email=email,
        email_key=email.casefold(),
        full_name=full_name,
        phone=phone,
        last_activity_at=moment,
    )
    return session.execute(
        row.on_conflict_do_update(
            index_elements=[Candidate.organisation_id, Candidate.livemode, Candidate.email_key],
            set_={
                "full_name": func.coalesce(func.nullif(Candidate.full_name, ""), full_name),
                "phone": func.coalesce(func.nullif(Candidate.phone, ""), phone),
                "last_activity_at": moment,
                "updated_at": moment,
            },
        ).returning(Candidate.id)
    ).scalar_one()
