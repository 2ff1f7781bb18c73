"""Requests counted by hour: reads and writes, how long they took, and what was refused. Written in batches."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.clock import now
from store.database.base import Base, Owned
from store.database.due import Due
from store.database.ids import new_id
from store.database.prepared import Prepared, rows


class RequestCount(Base, Owned):
    """How many requests an organisation's keys of one mode made in one hour."""

    __tablename__ = "request_counts"
    __table_args__ = (
        Index("uq_request_counts_hour", "organisation_id", "livemode", "hour", unique=True),
        Index("ix_request_counts_hour", "hour"),
    )

    hour: Mapped[datetime]
    reads: Mapped[int]
    writes: Mapped[int]
    faults: Mapped[int]  # answered 5xx


class RequestSketch(Base, Owned):
    """How many of them took as long as a bucket says (rules.sketches)."""

    __tablename__ = "request_sketches"
    __table_args__ = (
        Index("uq_request_sketches_bucket", "organisation_id", "livemode", "hour", "bucket", unique=True),
        Index("ix_request_sketches_hour", "hour"),
    )

    hour: Mapped[datetime]
    bucket: Mapped[int]
    count: Mapped[int]


class RequestRefusal(Base, Owned):
    """How many of them were answered with an error code."""

    __tablename__ = "request_refusals"
    __table_args__ = (
        Index("uq_request_refusals_code", "organisation_id", "livemode", "hour", "code", unique=True),
        Index("ix_request_refusals_hour", "hour"),
    )

    hour: Mapped[datetime]
    code: Mapped[str]
    count: Mapped[int]
    last_seen: Mapped[datetime] = mapped_column(default=now)


# Usage is asked for half a year back, the rest for a day.
COUNTS = Due("request counts", RequestCount, RequestCount.hour, after=timedelta(days=400))
SKETCHES = Due("request sketches", RequestSketch, RequestSketch.hour, after=timedelta(days=2))
REFUSALS = Due("request refusals", RequestRefusal, RequestRefusal.hour, after=timedelta(days=8))


@dataclass
class Batch:
    """What is to be added, ready for JSON: dicts of the columns that the statements name."""

    hours: list[dict[str, Any]]
    buckets: list[dict[str, Any]]
    refusals: list[dict[str, Any]]


def _adding(table: str, columns: dict[str, str], key: str, change: str) -> Prepared:
    names = ", ".join(columns)
    typed = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    # In one order, so that two processes which add to the same rows never wait in a circle.
    return Prepared(
        text(f"""
        INSERT INTO {table} AS known (id, created_at, organisation_id, livemode, hour, {names})
        SELECT id, :moment, organisation_id, livemode, hour, {names}
        FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS one (
            id uuid, organisation_id uuid, livemode boolean, hour timestamptz, {typed}
        )
        ORDER BY organisation_id, livemode, hour{key}
        ON CONFLICT (organisation_id, livemode, hour{key}) DO UPDATE SET {change}
        """)  # noqa: S608 - names of our own
    )


_HOURS = _adding(
    "request_counts",
    {"reads": "int", "writes": "int", "faults": "int"},
    "",
    "reads = known.reads + excluded.reads, writes = known.writes + excluded.writes,"
    " faults = known.faults + excluded.faults",
)
_BUCKETS = _adding(
    "request_sketches", {"bucket": "int", "count": "int"}, ", bucket", "count = known.count + excluded.count"
)
_REFUSALS = _adding(
    "request_refusals",
    {"code": "text", "count": "int", "last_seen": "timestamptz"},
    ", code",
    "count = known.count + excluded.count, last_seen = greatest(known.last_seen, excluded.last_seen)",
)


def add(session: Session, batch: Batch) -> None:
    """Add to what is counted, in one statement for each kind."""
    for statement, given in ((_HOURS, batch.hours), (_BUCKETS, batch.buckets), (_REFUSALS, batch.refusals)):
        if given:
            statement.run(session, moment=now(), rows=rows([{"id": new_id(), **one} for one in given]))
