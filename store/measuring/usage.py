"""What an organisation used in a span of days: counted from its rows, and requests from their counters."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, Date, Uuid, bindparam, cast, func, select, text

from rules.caller import Caller
from store.assessing.assessments import Assessment
from store.database.base import ANYONE, visible
from store.database.engine import Means
from store.database.prepared import Prepared
from store.measuring.counts import RequestCount

MOST_ASSESSMENTS = 1_000


def _counted(table: str, moment: str) -> Prepared:
    """Count rows by day, and by assessment, in one pass over an index that holds all of it."""
    return Prepared(
        text(f"""
        SELECT CAST({moment} AT TIME ZONE 'UTC' AS date) AS day, assessment_id, count(*) AS count
        FROM {table}
        WHERE organisation_id = :organisation_id AND livemode = :livemode
          AND {moment} >= :first AND {moment} <= :last
        GROUP BY GROUPING SETS ((CAST({moment} AT TIME ZONE 'UTC' AS date)), (assessment_id))
        """)  # noqa: S608 - names of our own
    )


_ROWS = {
    "invitations": _counted("invitations", "created_at"),
    "sessions": _counted("sessions", "started_at"),
    "completions": _counted("sessions", "completed_at"),
}
_DAY = cast(func.timezone("UTC", RequestCount.hour), Date)
_REQUESTS = Prepared(
    visible(ANYONE, RequestCount)
    .with_only_columns(
        _DAY.label("day"),
        func.sum(RequestCount.reads).label("reads"),
        func.sum(RequestCount.writes).label("writes"),
    )
    .where(RequestCount.hour >= bindparam("first"), RequestCount.hour <= bindparam("last"))
    .group_by(_DAY)
)
_TITLES = Prepared(
    select(Assessment.id, Assessment.slug, Assessment.title).where(
        Assessment.organisation_id == ANYONE.organisation_id,
        Assessment.id == func.any(bindparam("ids", type_=ARRAY(Uuid()))),
    )
)


@dataclass
class Usage:
    """Counts by day and name, and by assessment and name."""

    days: dict[date, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    assessments: list[dict[str, Any]] = field(default_factory=list)


def count(means: Means, caller: Caller, first: date, last: date) -> Usage:
    """Count what was used from one day to another, both included."""
    span = {
        "first": datetime.combine(first, time.min, UTC),
        "last": datetime.combine(last, time.max, UTC),  # to the microsecond, as PostgreSQL has it
    }
    usage, by_id = Usage(), defaultdict[UUID, dict[str, int]](dict)
    for name, statement in _ROWS.items():
        for row in statement.all(means, caller, **span):
            place = usage.days[row.day] if row.assessment_id is None else by_id[row.assessment_id]
            place[name] = row.count
    for row in _REQUESTS.all(means, caller, **span):
        usage.days[row.day] |= {"api_reads": int(row.reads), "api_writes": int(row.writes)}
    usage.assessments = _named(means, caller, by_id)
    return usage


def _named(means: Means, caller: Caller, by_id: dict[UUID, dict[str, int]]) -> list[dict[str, Any]]:
    """Name the assessments that were used, the most used first."""
    used = {id: counts for id, counts in by_id.items() if counts.keys() & {"invitations", "completions"}}

    def rank(id: UUID) -> tuple[int, int, UUID]:
        return -used[id].get("invitations", 0), -used[id].get("completions", 0), id

    chosen = sorted(used, key=rank)[:MOST_ASSESSMENTS]
    titles = {row.id: row for row in _TITLES.all(means, caller, ids=chosen)} if chosen else {}
    return [
        {
            "slug": titles[id].slug,
            "title": titles[id].title,
            "invitations": used[id].get("invitations", 0),
            "completions": used[id].get("completions", 0),
        }
        for id in chosen
        if id in titles
    ]
