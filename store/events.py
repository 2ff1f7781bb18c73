"""What happened: written with the change it tells of, numbered when the change commits."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, BigInteger, DateTime, ForeignKey, Index, Uuid, bindparam, func, text, update
from sqlalchemy.orm import Mapped, mapped_column

from rules.clock import now
from rules.moves import Move
from store.auditing import trail
from store.database import listing
from store.database.base import ANYONE, Base, Owned, Owner, Party, visible
from store.database.engine import Change
from store.database.ids import new_id
from store.database.prepared import Bound, Prepared, rows


class Event(Base, Owned):
    """One event; `data` is a snapshot taken in the transaction."""

    __tablename__ = "events"
    __table_args__ = (
        Index("uq_events_sequence", "organisation_id", "livemode", "sequence", unique=True),
        Index(
            "ix_events_to_fan_out",
            "organisation_id",
            "livemode",
            "sequence",
            postgresql_where=text("fanned_out_at IS NULL"),
        ),
        Index("ix_events_type", "organisation_id", "livemode", "type", "sequence"),
        Index("ix_events_owner_created_at", "organisation_id", "livemode", "created_at"),
        # What tells of a person, for whoever is to be erased.
        Index(
            "ix_events_person",
            "organisation_id",
            "livemode",
            text("lower(coalesce(data ->> 'email', data ->> 'candidate_email'))"),
        ),
    )

    sequence: Mapped[int] = mapped_column(BigInteger)
    type: Mapped[str]
    data: Mapped[dict[str, Any]]
    fanned_out_at: Mapped[datetime | None]


class EventSequence(Base):
    """The last number given out in one organisation and mode."""

    __tablename__ = "event_sequences"

    organisation_id: Mapped[UUID] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    livemode: Mapped[bool] = mapped_column(primary_key=True)
    last: Mapped[int] = mapped_column(BigInteger)


@dataclass(frozen=True)
class _Recorded:
    organisation_id: UUID
    livemode: bool
    type: str
    data: dict[str, Any]


Shape = Callable[[Any], dict[str, Any]]  # what an event tells of a row, ready for JSON


def apply(
    session: Change, row: Any, move: Move, shape: Shape | None = None, *, at: datetime | None = None
) -> None:
    """Make a move of a locked row: its status, the moment of it (now, unless it was `at`), `updated_at`, its event."""
    moment = now()
    row.status, row.updated_at = move.target, moment
    if move.stamp:
        setattr(row, move.stamp, at or moment)
    if move.event and shape:
        record(session, move.event, row, shape(row))
    else:
        trail.told(session, f"{trail.kind_of(row)}.{move.target}", row)


def apply_all(session: Change, model: type[Base], rows: Sequence[Any], move: Move, shape: Shape) -> None:
    """Make a move of many locked rows that were read with `Prepared`, in one statement; events in the rows' order."""
    moment = now()
    changes: dict[str, Any] = {"status": move.target, "updated_at": moment}
    changes |= {move.stamp: moment} if move.stamp else {}
    _moving(model, *changes).run(session, ids=[row.id for row in rows], **changes)
    for row in rows:
        record(session, str(move.event), row, shape(row._replace(**changes)))


@functools.cache
def _moving(model: Any, *columns: str) -> Prepared:
    moved = update(model).where(model.id == func.any(bindparam("ids", type_=ARRAY(Uuid()))))
    return Prepared(moved.values({name: bindparam(name) for name in columns}))


def record(session: Change, type: str, owner: Owner, data: dict[str, Any]) -> None:
    """Tell of what is no move; `data` must be ready for JSON. It is written at the commit, which rings the relay."""
    recorded = _Recorded(owner.organisation_id, owner.livemode, type, data)
    session.info.setdefault("events", []).append(recorded)
    trail.told(session, type, owner)


NUMBER = """
    INSERT INTO event_sequences AS counter (organisation_id, livemode, last)
    SELECT :organisation_id, :livemode, CAST(:told AS bigint) {where}
    ON CONFLICT (organisation_id, livemode) DO UPDATE SET last = counter.last + excluded.last
    RETURNING last
"""
WRITE = """
    INSERT INTO events (id, created_at, organisation_id, livemode, sequence, type, data)
    SELECT event.id, :moment, :organisation_id, :livemode,
           numbers.last - :told + event.number, event.type, event.data
    FROM numbers, jsonb_to_recordset(CAST(:events AS jsonb)) AS event (id uuid, number int, type text, data jsonb)
"""
_WRITE = Prepared(text(f"WITH numbers AS ({NUMBER.format(where='')}) {WRITE}"))


def to_write(session: Change) -> list[Bound]:
    """Return what numbers and writes what was recorded; the relay is to be rung after the commit.

    Numbers are taken last, so the counter's lock is held for the commit alone: commits of one organisation and
    mode are numbered in their order, without gaps, and no other lock is ever awaited while holding it.
    """
    recorded: list[_Recorded] = session.info.pop("events", [])
    by_owner: dict[Party, list[_Recorded]] = {}
    for one in recorded:
        by_owner.setdefault((one.organisation_id, one.livemode), []).append(one)
    return [
        _WRITE.bound(
            organisation_id=organisation_id,
            livemode=livemode,
            told=len(mine),
            moment=now(),
            events=rows(
                [
                    {"id": new_id(), "number": number, "type": one.type, "data": one.data}
                    for number, one in enumerate(mine, start=1)
                ]
            ),
        )
        for (organisation_id, livemode), mine in sorted(by_owner.items(), key=lambda item: item[0])
    ]


# What was written some time before a moment has a lower number than what was written after it, but for transactions
# that waited for each other, on machines whose clocks differ.
_BEFORE = func.coalesce(
    visible(ANYONE, Event)
    .with_only_columns(Event.sequence)
    .where(Event.created_at < bindparam("since", type_=DateTime(timezone=True)) - timedelta(minutes=1))
    .order_by(Event.created_at.desc())
    .limit(1)
    .scalar_subquery(),
    0,
)
LIST = listing.Listing(
    visible(ANYONE, Event).with_only_columns(
        Event.id, Event.created_at, Event.livemode, Event.sequence, Event.type, Event.data
    ),
    {"sequence": (Event.sequence,)},
    {
        "type": listing.equals(Event.type),
        "after": listing.Filter(Event.sequence > bindparam("after")),
        "since": listing.Filter((Event.sequence > _BEFORE) & (Event.created_at >= bindparam("since"))),
    },
)
