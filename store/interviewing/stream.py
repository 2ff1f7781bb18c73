"""What happens in rooms: kept in the order of its numbers, many rooms' acts at once, and read from a number on.

A room's row is the lock of its stream: whoever adds to it takes numbers from `last_number`, so they commit in order and
whoever has seen a number has seen all below it. Events and updates of the shared document are numbered together.
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm.attributes import set_committed_value

from rules import rooms
from rules.clock import now
from rules.errors import LimitReached
from rules.speaking import takes_part
from rules.words import say
from store import outbox
from store.database.engine import Change, Means, Writing
from store.database.ids import new_id
from store.database.prepared import Prepared, rows

UPDATE: Literal["update"] = "update"


@dataclass(frozen=True, slots=True)
class Act:
    """One thing to keep: an event, or an update of the document. The id makes it itself: again, it adds nothing."""

    interview_id: UUID
    kind: str
    actor: str
    actor_name: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    update: bytes = b""
    id: UUID = field(default_factory=new_id)


@dataclass(frozen=True, slots=True)
class Kept:
    """How an act went: its number; None where the room is closed, or `held` by somebody else: then again."""

    number: int | None
    held: bool = False
    at: datetime | None = None


class Event(NamedTuple):
    """An event of a room, as it is read or was just kept."""

    interview_id: UUID
    number: int
    id: UUID
    kind: str
    actor: str
    actor_name: str
    data: dict[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True)
class News:
    """What is new in a room since a number."""

    last_number: int
    status: str
    events: list[Any]
    updates: list[bytes]


# A room that somebody holds is left for the next time, so that nobody waits for it but itself.
_KEEP = Prepared(
    text("""
    WITH given AS (
        SELECT * FROM jsonb_to_recordset(CAST(:acts AS jsonb))
        AS one (place int, room uuid, id uuid, kind text, actor text, actor_name text, data jsonb, bytes text)
    ), held AS MATERIALIZED (
        SELECT id, last_number, status IN ('waiting', 'active') AND (due_at IS NULL OR due_at > :moment) AS is_open,
               organisation_id, livemode, interviewer_mode <> 'human_only' AND status = 'active' AS is_heard
        FROM interviews WHERE id IN (SELECT room FROM given)
        ORDER BY id FOR UPDATE SKIP LOCKED
    ), known AS MATERIALIZED (  -- by its own index, however few events there were when they were last counted
        SELECT place, (
            SELECT e.number FROM interview_events e WHERE e.interview_id = given.room AND e.id = given.id
        ) AS number FROM given WHERE kind <> 'update'
    ), fresh AS (
        SELECT given.place, given.room, given.id, given.kind, given.actor, given.actor_name, given.data, given.bytes,
               held.last_number + row_number() OVER (PARTITION BY room ORDER BY given.place) AS number
        FROM given JOIN held ON held.id = room LEFT JOIN known ON known.place = given.place
        WHERE is_open AND held.last_number < :most AND known.number IS NULL
    ), counted AS (
        UPDATE interviews SET
            last_number = interviews.last_number + added.count,
            updated_at = CASE WHEN added.are_shown THEN :moment ELSE interviews.updated_at END
        FROM (
            SELECT room, count(*) AS count, bool_or(kind = ANY (:shown)) AS are_shown FROM fresh GROUP BY room
        ) AS added WHERE interviews.id = added.room
    ), told AS (
        INSERT INTO interview_events (interview_id, number, id, kind, actor, actor_name, data, at)
        SELECT room, number, id, kind, actor, actor_name, data, :moment FROM fresh WHERE kind <> 'update'
    ), changed AS (
        INSERT INTO interview_updates (interview_id, number, update, actor, at)
        SELECT room, number, decode(bytes, 'base64'), actor, :moment FROM fresh WHERE kind = 'update'
    ), heard AS (
        INSERT INTO outbox (id, created_at, organisation_id, livemode, due_at, job, arguments, attempts)
        SELECT gen_random_uuid(), :moment, organisation_id, livemode, :moment, 'speak',
               jsonb_build_object('interview_id', id), 0
        FROM held WHERE is_heard AND EXISTS (
            SELECT FROM fresh WHERE fresh.room = held.id AND fresh.kind = 'message' AND fresh.actor = 'candidate'
        )
        RETURNING id
    )
    SELECT given.place, held.id IS NULL AS held, coalesce(fresh.number, known.number) AS number,
           EXISTS (SELECT FROM heard) AS rings
    FROM given LEFT JOIN held ON held.id = given.room
    LEFT JOIN fresh ON fresh.place = given.place LEFT JOIN known ON known.place = given.place
    ORDER BY given.place
    """)
)


def keep(writing: Writing, acts: Sequence[Act]) -> list[Kept]:
    """Keep the acts of many rooms, each in its order; each id must stand there once."""
    given = [
        {
            "place": place,
            "room": act.interview_id,
            "id": act.id,
            "kind": act.kind,
            "actor": act.actor,
            "actor_name": act.actor_name,
            "data": act.data,
            "bytes": b64encode(act.update).decode(),
        }
        for place, act in enumerate(acts)
    ]
    moment = now()
    found = _KEEP.all(
        writing, acts=rows(given), moment=moment, most=rooms.MOST_NUMBERS, shown=list(rooms.SHOWN)
    )
    if any(row.rings for row in found):
        outbox.ring(writing)
    return [Kept(row.number, row.held, moment) for row in found]


# --- In a transaction of its own, whose room is locked

# `updated_at` stays, which would rewrite an index, but for what the room shows.
_NUMBER = Prepared(
    text("""
    UPDATE interviews SET last_number = last_number + 1, updated_at = coalesce(:shown_at, updated_at)
    WHERE id = :id RETURNING last_number, updated_at
    """)
)
_ADD = Prepared(
    text("""
    INSERT INTO interview_events (interview_id, number, id, kind, actor, actor_name, data, at)
    VALUES (:interview_id, :number, :id, :kind, :actor, :actor_name, CAST(:data AS jsonb), :at)
    """)
)
_CHANGE = Prepared(
    text("""
    INSERT INTO interview_updates (interview_id, number, update, actor, at)
    VALUES (:interview_id, :number, :update, :actor, :at)
    """)
)
_WEIGHT = Prepared(
    text(
        "SELECT coalesce(sum(octet_length(update)), 0) AS bytes"
        " FROM interview_updates WHERE interview_id = :interview_id"
    )
)
_KNOWN = Prepared(text("SELECT number FROM interview_events WHERE interview_id = :interview_id AND id = :id"))


def add(change: Change, interview: Any, act: Act, at: datetime | None = None) -> int:
    """Keep an act of a locked room and return its number; again, the number that it has."""
    known = _KNOWN.first(change, interview_id=interview.id, id=act.id)
    if known is not None:
        return int(known.number)
    if interview.last_number >= rooms.MOST_NUMBERS and act.kind not in rooms.ALWAYS:
        raise LimitReached(say("Too much has happened in this interview."), limit=rooms.MOST_NUMBERS)
    if act.kind == UPDATE:
        rooms.check_document(_WEIGHT.first(change, interview_id=interview.id).bytes)
    shown_at = now() if act.kind in rooms.SHOWN else None
    number, updated_at = _NUMBER.first(change, id=interview.id, shown_at=shown_at)
    set_committed_value(interview, "last_number", number)
    set_committed_value(interview, "updated_at", updated_at)
    numbered = {"interview_id": interview.id, "number": number, "at": at or now()}
    if act.kind == UPDATE:
        _CHANGE.run(change, update=act.update, actor=act.actor, **numbered)
    else:
        _ADD.run(
            change,
            id=act.id,
            kind=act.kind,
            actor=act.actor,
            actor_name=act.actor_name,
            data=rows(act.data),  # type: ignore[arg-type]  # any JSON
            **numbered,
        )
    if (act.kind, act.actor) == ("message", "candidate") and takes_part(
        interview.interviewer_mode, interview.status
    ):
        outbox.add(change, interview, "speak", interview_id=str(interview.id))
    change.info.setdefault("rooms", set()).add(interview.id)
    return int(number)


# --- Reading

_HEADS = Prepared(
    text("""
    SELECT id, last_number, status FROM interviews
    WHERE id = ANY(SELECT CAST(jsonb_array_elements_text(CAST(:ids AS jsonb)) AS uuid))
    """)
)
_EVENTS = Prepared(
    text("""
    SELECT found.interview_id, found.number, found.id, found.kind, found.actor, found.actor_name, found.data, found.at
    FROM jsonb_to_recordset(CAST(:seen AS jsonb)) AS given (room uuid, seen bigint, last bigint),
    LATERAL (
        SELECT interview_id, number, id, kind, actor, actor_name, data, at FROM interview_events
        WHERE interview_id = given.room AND number > given.seen AND number <= given.last
        ORDER BY number LIMIT :most
    ) AS found
    """)
)
# Updates that were put together have the number of the last one: whoever missed one of them gets the whole.
_UPDATES = Prepared(
    text("""
    SELECT found.interview_id, found.number, found.update
    FROM jsonb_to_recordset(CAST(:seen AS jsonb)) AS given (room uuid, seen bigint, last bigint),
    LATERAL (
        SELECT interview_id, number, update FROM interview_updates
        WHERE interview_id = given.room AND number > given.seen AND number <= given.last
        ORDER BY number
    ) AS found
    """)
)


def just_kept(room: UUID, status: str, seen: int, kept: Iterable[tuple[Act, Kept]]) -> News | None:
    """Return acts of a room as news since a number; None where there is something between them and that."""
    found = News(seen, status, [], [])
    number = seen
    for act, how in sorted(kept, key=lambda one: one[1].number or 0):
        if how.number is None or how.at is None or how.number <= seen:
            continue  # not kept, or kept long ago
        number += 1
        if how.number != number:
            return None
        if act.kind == UPDATE:
            found.updates.append(act.update)
        else:
            found.events.append(
                Event(room, number, act.id, act.kind, act.actor, act.actor_name, act.data, how.at)
            )
    return replace(found, last_number=number)


def news(means: Means, seen: Mapping[UUID, int]) -> dict[UUID, News]:
    """Return what is new in rooms since the numbers given; rooms that are gone are left out.

    More than EVENTS_AT_ONCE events of a room come in several calls: then its `last_number` is that of the last one.
    """
    heads = {row.id: row for row in _HEADS.all(means, ids=rows(list(seen)))}  # type: ignore[arg-type]  # of ids
    wanted = [
        {"room": id, "seen": seen[id], "last": head.last_number}
        for id, head in heads.items()
        if head.last_number > seen[id]
    ]
    found = {id: News(head.last_number, head.status, [], []) for id, head in heads.items()}
    if not wanted:
        return found
    most = rooms.EVENTS_AT_ONCE
    for row in _EVENTS.all(means, seen=rows(wanted), most=most):
        found[row.interview_id].events.append(row)
    for one in wanted:
        id = one["room"]
        if len(found[id].events) == most:
            one["last"] = found[id].events[-1].number
            found[id] = News(one["last"], found[id].status, found[id].events, [])
    for row in _UPDATES.all(means, seen=rows(wanted)):
        found[row.interview_id].updates.append(row.update)
    return found


def events(means: Means, interview_id: UUID, after: int, most: int = rooms.EVENTS_AT_ONCE) -> list[Any]:
    """List a room's events after a number, in order."""
    given = [{"room": interview_id, "seen": after, "last": 1 << 62}]
    return _EVENTS.all(means, seen=rows(given), most=most)


def updates(means: Means, interview_id: UUID) -> list[bytes]:
    """List all updates of a room's document."""
    given = [{"room": interview_id, "seen": -1, "last": 1 << 62}]
    return [row.update for row in _UPDATES.all(means, seen=rows(given))]
