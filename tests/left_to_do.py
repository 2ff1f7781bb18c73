"""What commits left to do, done at once and in order, as workers would do it later."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, true, update

import store
from rules.clock import now
from store.outbox import OutboxItem
from workers.jobs import JOBS


def do(since: datetime) -> list[str]:
    """Run each job that was asked for since a moment, and those that they ask for; return the names of all.

    What a job puts off is left for then: it might be put off for ever. Raises what a job raises.
    """
    ran = []
    items = _take(since, true())
    while items:
        for id, name, arguments in items:
            JOBS[name].run(id, arguments)
            ran.append(name)
        items = _take(since, OutboxItem.due_at <= OutboxItem.created_at)
    return ran


def _take(since: datetime, wanted: ColumnElement[bool]) -> list[tuple[UUID, str, dict[str, Any]]]:
    with store.transaction() as session:
        due = (OutboxItem.created_at >= since, OutboxItem.finished_at.is_(None), OutboxItem.job.in_(JOBS))
        taken = update(OutboxItem).where(*due, wanted).values(finished_at=now())
        found = session.execute(taken.returning(OutboxItem.id, OutboxItem.job, OutboxItem.arguments))
        return sorted(
            (one.id, one.job, one.arguments) for one in found
        )  # in the order in which they were asked for
