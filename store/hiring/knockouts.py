"""Knockout rules of jobs."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, bindparam, delete, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from store.database import listing
from store.database.base import Base, Identified
from store.hiring.jobs import Job


class KnockoutRule(Base, Identified):
    """A condition that an answer has to meet."""

    __tablename__ = "knockout_rules"
    __table_args__ = (Index("ix_knockout_rules_order", "job_id", "sort_order", "id"),)

    job_id: Mapped[UUID] = mapped_column(ForeignKey("jobs.id"))
    field_key: Mapped[str]
    operator: Mapped[str]
    # Holds the one value, because JSON's null and no value are two things to a column.
    value: Mapped[list[Any]]
    on_fail: Mapped[str]
    is_active: Mapped[bool]
    sort_order: Mapped[int]

    def as_rules_see_it(self) -> dict[str, Any]:
        """Return the rule as it is evaluated."""
        return {
            "id": str(self.id),
            "field_key": self.field_key,
            "operator": self.operator,
            "value": self.value[0],
            "on_fail": self.on_fail,
            "is_active": self.is_active,
            "sort_order": self.sort_order,
        }


LIST = listing.Listing(
    select(KnockoutRule).where(KnockoutRule.job_id == bindparam("job_id")),
    {"sort_order": (KnockoutRule.sort_order, KnockoutRule.id)},
)


def all_of(session: Session, job: Job) -> list[KnockoutRule]:
    """Load all rules of a job in their order."""
    return LIST.everything(session, job_id=job.id)


def replace(session: Session, job: Job, rules: Sequence[Mapping[str, Any]]) -> list[KnockoutRule]:
    """Make the given rules the full set; the same again changes nothing. The job row must be locked."""
    wanted = [{"sort_order": number, **rule, "value": rule.get("value")} for number, rule in enumerate(rules)]
    there = [
        {name: value for name, value in one.as_rules_see_it().items() if name != "id"}
        for one in all_of(session, job)
    ]
    if there == wanted:
        return all_of(session, job)
    session.execute(delete(KnockoutRule).where(KnockoutRule.job_id == job.id))
    session.add_all(KnockoutRule(job_id=job.id, **rule | {"value": [rule["value"]]}) for rule in wanted)
    session.flush()
    return all_of(session, job)
