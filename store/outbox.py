"""Work that must happen outside the database, kept with the change that asked for it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Index, Update, func, select, text, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.clock import now
from store.database.base import NOBODY, Base, Identified, Owner, Party
from store.database.engine import Change, Reading, set_for
from store.database.ids import new_id
from store.database.prepared import Bound, Prepared, rows

LEASE = timedelta(seconds=45)  # how long who begins it has it; they renew that every so many seconds
RENEWED_SECONDS = 10.0


class OutboxItem(Base, Identified):
    """One piece of work for one actor; done when `finished_at` is set."""

    __tablename__ = "outbox"
    __table_args__ = (
        Index("ix_outbox_job", "job", "due_at", postgresql_where=text("finished_at IS NULL")),
        Index(
            "ix_outbox_turns",
            "job",
            "organisation_id",
            "livemode",
            "due_at",
            postgresql_where=text("finished_at IS NULL"),
        ),
        # Mails to a person or about them, for whoever is to be erased.
        Index(
            "ix_outbox_person",
            "organisation_id",
            "livemode",
            text("lower(coalesce(arguments ->> 'candidate_email', arguments ->> 'to'))"),
            postgresql_where=text("job = 'mail'"),
        ),
        Index("ix_outbox_test", "organisation_id", postgresql_where=text("NOT livemode")),
    )

    organisation_id: Mapped[UUID] = mapped_column(default=NOBODY)
    livemode: Mapped[bool] = mapped_column(default=True)
    job: Mapped[str]  # the actor's name: mail, grade
    arguments: Mapped[dict[str, Any]]
    due_at: Mapped[datetime] = mapped_column(default=now)  # moved ahead while somebody works on it: the lease
    # Whoever counts one has the lease, until somebody counts the next.
    attempts: Mapped[int] = mapped_column(default=0)
    finished_at: Mapped[datetime | None]
    last_error: Mapped[str | None]


def add(
    session: Change, owner: Owner | None, job: str, *, delay: timedelta = timedelta(0), **arguments: Any
) -> None:
    """Ask for work of somebody's to be done after this transaction commits; `arguments` must be ready for JSON."""
    add_all(session, owner, job, [arguments], delay=delay)


ADD = """
    INSERT INTO outbox (id, created_at, organisation_id, livemode, due_at, job, arguments, attempts)
    SELECT item.id, :moment, :owner, :mode, :due_at, :job, item.arguments, 0
    FROM jsonb_to_recordset(CAST(:items AS jsonb)) AS item (id uuid, arguments jsonb)
"""
_ADD = Prepared(text(ADD))


def add_all(
    session: Change,
    owner: Owner | None,
    job: str,
    arguments: list[dict[str, Any]],
    *,
    delay: timedelta = timedelta(0),
) -> None:
    """Ask for the same work many times, in one statement, which is written at the commit."""
    if not arguments:
        return
    moment = now()
    added = {
        "owner": owner.organisation_id if owner else NOBODY,
        "mode": owner.livemode if owner else True,
        "moment": moment,
        "due_at": moment + delay,
        "job": job,
        "items": rows([{"id": new_id(), "arguments": one} for one in arguments]),
    }
    session.info.setdefault("work", []).append(added)
    ring(session)


def to_write(session: Change) -> list[Bound]:
    """Return what writes what was asked for."""
    return [_ADD.bound(**added) for added in session.info.pop("work", ())]


def ring(session: Change) -> None:
    """Wake the relay when this transaction has committed."""
    session.info["outbox"] = True


_DUE = Prepared(
    text("""
    SELECT kind.job, ARRAY (
        SELECT id FROM outbox
        WHERE job = kind.job AND finished_at IS NULL AND due_at <= :moment
        ORDER BY due_at LIMIT kind.room
    )
    FROM unnest(CAST(:jobs AS text[]), CAST(:rooms AS int[])) AS kind (job, room)
    """)
)


# While all work was done nothing seems to wait, and to sort that seems as good as to read it in order.
_IN_ORDER = "SET LOCAL enable_sort = off"


def due(reading: Reading, rooms: Mapping[str, int]) -> dict[str, list[UUID]]:
    """Name what is due, of each kind as far as it has room for, and what was due first before the rest."""
    with set_for(reading, _IN_ORDER):
        return dict(_DUE.all(reading, jobs=list(rooms), rooms=list(rooms.values()), moment=now()))


@dataclass(frozen=True)
class Taken:
    """A piece of work that was begun, for as long as nobody begins it anew."""

    id: UUID
    organisation_id: UUID
    livemode: bool
    job: str
    arguments: dict[str, Any]
    attempts: int
    due_at: datetime  # before it was begun


FIRST_TURN: Party = (NOBODY, False)  # before everybody's

# From party to party along the index, however much each has waiting: what is read grows with the parties alone. Those
# before the one that had the last turn are only looked at where none after it has anything.
_ROUND = """
    (
        WITH RECURSIVE party AS (
            (SELECT organisation_id, livemode
             FROM outbox
             WHERE job = :job AND finished_at IS NULL AND (organisation_id, livemode) > ({owner}, {mode})
             ORDER BY organisation_id, livemode
             LIMIT 1)
            UNION ALL
            SELECT following.organisation_id, following.livemode
            FROM party CROSS JOIN LATERAL (
                SELECT organisation_id, livemode
                FROM outbox
                WHERE job = :job AND finished_at IS NULL
                  AND (organisation_id, livemode) > (party.organisation_id, party.livemode)
                ORDER BY organisation_id, livemode
                LIMIT 1
            ) AS following
        )
        SELECT item.id, item.due_at
        FROM party CROSS JOIN LATERAL (
            SELECT id, due_at
            FROM outbox
            WHERE job = :job AND finished_at IS NULL AND due_at <= :moment
              AND organisation_id = party.organisation_id AND livemode = party.livemode
            ORDER BY due_at
            LIMIT 1
            FOR UPDATE SKIP LOCKED
        ) AS item
        WHERE party.organisation_id <> ALL (:busy)
        LIMIT 1
    )
"""
_CHOSEN = f"""
    WITH chosen AS MATERIALIZED (
        SELECT id, due_at
        FROM ({_ROUND.format(owner=":owner", mode=":mode")}
            UNION ALL {_ROUND.format(owner=f"CAST('{NOBODY}' AS uuid)", mode="false")}) AS turns
        LIMIT 1
    )
"""  # noqa: S608 - of our own words
_TAKE = Prepared(
    text(f"""
    {_CHOSEN}
    UPDATE outbox SET due_at = :until, attempts = attempts + 1 FROM chosen WHERE outbox.id = chosen.id
    RETURNING outbox.id, outbox.organisation_id, outbox.livemode, outbox.job, outbox.arguments, outbox.attempts,
              chosen.due_at
    """)  # noqa: S608 - of our own words
)


_WHOSE = Prepared(
    text(f"""
    {_CHOSEN}
    SELECT organisation_id FROM chosen JOIN outbox USING (id)
    """)  # noqa: S608 - of our own words
)


def take(
    means: Change, job: str, *, after: Party = FIRST_TURN, busy: Collection[UUID] = (), lease: timedelta
) -> Taken | None:
    """Begin what is due first of the next party after one, but of none that is busy enough; None: nobody has any."""
    moment = now()
    given: dict[str, Any] = {"job": job, "busy": list(busy), "moment": moment, "until": moment + lease}
    found = _TAKE.first(means, owner=after[0], mode=after[1], **given)
    return Taken(*found) if found else None


def whose_turn(means: Change, job: str, *, after: Party, busy: Collection[UUID]) -> UUID | None:
    """Name the organisation of which `take` would begin something."""
    found = _WHOSE.first(means, job=job, owner=after[0], mode=after[1], busy=list(busy), moment=now())
    return found.organisation_id if found else None


# Of one organisation's test mode, whatever the kind, but for some.
_TAKE_OF_TESTS = Prepared(
    text("""
    WITH chosen AS MATERIALIZED (
        SELECT id, due_at FROM outbox
        WHERE organisation_id = :owner AND NOT livemode AND finished_at IS NULL AND due_at <= :moment
          AND job <> ALL (:without)
        ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
    )
    UPDATE outbox SET due_at = :until, attempts = attempts + 1 FROM chosen WHERE outbox.id = chosen.id
    RETURNING outbox.id, outbox.organisation_id, outbox.livemode, outbox.job, outbox.arguments, outbox.attempts,
              chosen.due_at
    """)
)


def take_of_tests(
    means: Change, organisation_id: UUID, *, without: Collection[str], lease: timedelta
) -> Taken | None:
    """Begin what is due first in one organisation's test mode; None where nothing is, or others have it in hand."""
    moment = now()
    found = _TAKE_OF_TESTS.first(
        means, owner=organisation_id, without=list(without), moment=moment, until=moment + lease
    )
    return Taken(*found) if found else None


MOST_MAILS = 50


def test_mails(session: Session, organisation_id: UUID, to: str) -> Sequence[OutboxItem]:
    """Return the newest mails of an organisation's test mode to an address, the newest first."""
    mine = (OutboxItem.organisation_id == organisation_id, ~OutboxItem.livemode, OutboxItem.job == "mail")
    rows = select(OutboxItem).where(*mine, func.lower(OutboxItem.arguments["to"].astext) == to.lower())
    return session.scalars(rows.order_by(OutboxItem.id.desc()).limit(MOST_MAILS)).all()


def renew(session: Session, item: Taken, *, lease: timedelta) -> None:
    """Go on with a piece of work."""
    session.execute(_held(item).values(due_at=now() + lease))


_FINISH = Prepared(text("UPDATE outbox SET finished_at = :moment, last_error = NULL WHERE id = :id"))


def finish(means: Change, item: Taken) -> None:
    """Note that a piece of work is done, whoever has its lease by now."""
    _FINISH.run(means, id=item.id, moment=now())


def give_up(session: Session, item: Taken, *, error: str) -> None:
    """Note that a piece of work failed for the last time."""
    session.execute(_held(item).values(finished_at=now(), last_error=error))


def restart(session: Session, job: str, ids: Sequence[UUID]) -> None:
    """Begin work of a kind anew that was ended."""
    session.execute(
        update(OutboxItem)
        .where(OutboxItem.job == job, OutboxItem.id.in_(ids))
        .values(finished_at=None, last_error=None, attempts=0, due_at=now())
    )
    ring(session)


def put_off(session: Session, item: Taken, *, delay: timedelta, error: str) -> None:
    """Note that a piece of work failed and is to be tried again."""
    session.execute(_held(item).values(due_at=now() + delay, last_error=error))


def _held(item: Taken) -> Update:
    """Change it while its lease is ours: whoever hung for so long that somebody else began it has no say."""
    return update(OutboxItem).where(
        OutboxItem.id == item.id, OutboxItem.attempts == item.attempts, OutboxItem.finished_at.is_(None)
    )
