"""What jobs look for."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, bindparam, delete, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from store.database import listing
from store.database.base import Base, Identified
from store.hiring.jobs import Job


class Requirement(Base, Identified):
    """One thing that a job looks for in CVs and answers."""

    __tablename__ = "job_requirements"
    __table_args__ = (
        UniqueConstraint("job_id", "key"),
        Index("ix_job_requirements_order", "job_id", "sort_order", "id"),
    )

    job_id: Mapped[UUID] = mapped_column(ForeignKey("jobs.id"))
    kind: Mapped[str]
    importance: Mapped[str]
    field: Mapped[str | None]
    key: Mapped[str]
    label: Mapped[str]
    weight: Mapped[int]
    min_years: Mapped[int | None]
    values: Mapped[list[str]]
    sort_order: Mapped[int]
    is_active: Mapped[bool]

    def as_rules_see_it(self) -> dict[str, Any]:
        """Return the requirement as it is scored."""
        return {name: getattr(self, name) for name in SCORED}


SCORED = (
    "kind",
    "importance",
    "field",
    "key",
    "label",
    "weight",
    "min_years",
    "values",
    "sort_order",
    "is_active",
)


LIST = listing.Listing(
    select(Requirement).where(Requirement.job_id == bindparam("job_id")),
    {"sort_order": (Requirement.sort_order, Requirement.id)},
)


def all_of(session: Session, job: Job) -> list[Requirement]:
    """Load all requirements of a job in their order."""
    return LIST.everything(session, job_id=job.id)


def replace(session: Session, job: Job, requirements: Sequence[Mapping[str, Any]]) -> list[Requirement]:
    """Make the given requirements the full set; the same again changes nothing. The job row must be locked."""
    there = all_of(session, job)
    if [one.as_rules_see_it() for one in there] == list(requirements):
        return there
    session.execute(delete(Requirement).where(Requirement.job_id == job.id))
    session.add_all(Requirement(job_id=job.id, **one) for one in requirements)
    session.flush()
    return all_of(session, job)
