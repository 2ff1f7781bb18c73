"""The questions that jobs ask."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, bindparam, delete, select, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.errors import NotFound
from rules.fields import LAST_PLACE
from store.database import listing
from store.database.base import Base, Identified, Updated
from store.database.engine import Means
from store.database.prepared import Prepared
from store.hiring.jobs import Job
from store.hiring.knockouts import KnockoutRule
from store.hiring.requirements import Requirement


class ApplicationField(Base, Identified, Updated):
    """One question of one job."""

    __tablename__ = "application_fields"
    __table_args__ = (
        UniqueConstraint("job_id", "key"),
        Index("ix_application_fields_order", "job_id", "sort_order", "id"),
    )

    job_id: Mapped[UUID] = mapped_column(ForeignKey("jobs.id"))
    key: Mapped[str]
    label: Mapped[str]
    field_type: Mapped[str]
    placeholder: Mapped[str] = mapped_column(default="")
    help_text: Mapped[str] = mapped_column(default="")
    is_required: Mapped[bool] = mapped_column(default=False)
    sort_order: Mapped[int]
    is_active: Mapped[bool] = mapped_column(default=True)
    options: Mapped[list[Any]] = mapped_column(default=list)

    def as_rules_see_it(self) -> dict[str, Any]:
        """Return what rules on answers need to know."""
        return {
            "id": self.id,
            "key": self.key,
            "label": self.label,
            "field_type": self.field_type,
            "is_required": self.is_required,
            "is_active": self.is_active,
            "options": self.options,
        }


LIST = listing.Listing(
    select(ApplicationField).where(ApplicationField.job_id == bindparam("job_id")),
    {"sort_order": (ApplicationField.sort_order, ApplicationField.id)},
    {"updated_after": listing.updated_after(ApplicationField)},
)


def all_of(session: Session, job: Job) -> list[ApplicationField]:
    """Load all questions of a job in their order."""
    return LIST.everything(session, job_id=job.id)


_ALL = Prepared(LIST.rows.order_by(*LIST.orders["sort_order"]))


def read_all(means: Means, job: Any) -> list[Any]:
    """Read the columns of all questions of a job in their order."""
    return _ALL.all(means, job_id=job.id)


def get(session: Session, job: Job, id: UUID) -> ApplicationField:
    """Load one question of a job, or raise NotFound."""
    row = session.scalar(
        select(ApplicationField).where(ApplicationField.job_id == job.id, ApplicationField.id == id)
    )
    if row is None:
        raise NotFound("The job has no such question.")
    return row


def create(session: Session, job: Job, content: Mapping[str, Any], *, last: int) -> ApplicationField:
    """Add a question, by default after the `last` place. The job row must be locked."""
    field = ApplicationField(job_id=job.id, **{"sort_order": min(last + 1, LAST_PLACE), **content})
    session.add(field)
    session.flush()
    return field


def rename(session: Session, job: Job, old: str, new: str) -> None:
    """Let the rules and requirements on a question follow its new key."""
    session.execute(
        update(KnockoutRule)
        .where(KnockoutRule.job_id == job.id, KnockoutRule.field_key == old)
        .values(field_key=new)
    )
    session.execute(
        update(Requirement).where(Requirement.job_id == job.id, Requirement.field == old).values(field=new)
    )


def remove(session: Session, field: ApplicationField) -> None:
    """Delete a question with the knockout rules and the requirements that read it."""
    session.execute(
        delete(Requirement).where(Requirement.job_id == field.job_id, Requirement.field == field.key)
    )
    session.execute(
        delete(KnockoutRule).where(KnockoutRule.job_id == field.job_id, KnockoutRule.field_key == field.key)
    )
    session.delete(field)
    session.flush()
