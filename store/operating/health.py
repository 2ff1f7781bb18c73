"""How the service is doing: what waits, for how long, and whether the servers answer."""

import threading
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import redis
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from store.accounts import limits
from store.database.engine import engine
from store.delivering import pending

OK = "ok"
AWAY = "does not answer"
LOOK_SECONDS = 3.0  # for the database, when somebody asks whether it is there
VERSIONS = Path(__file__).parents[1] / "migrations" / "versions"


_starting = threading.Lock()
_look: "Future[tuple[str, str]] | None" = None


@cache
def newest() -> str:
    """Return the revision of the newest migration."""
    return max(path.name.partition("_")[0] for path in VERSIONS.glob("[0-9]*_*.py"))


def checks() -> dict[str, str]:
    """Say of each thing that a process needs whether it is as it has to be: `ok`, or what is wrong in words."""
    there, migrations = database()
    return {"database": there, "migrations": migrations, "redis": _redis()}


def database() -> tuple[str, str]:
    """Say of the database and of its schema whether they are as they have to be, as `checks` does.

    It is looked at in a thread of its own, one at a time; what does not answer in time is away.
    """
    global _look  # noqa: PLW0603 - one process, one look at a time
    with _starting:
        if _look is None or _look.done():
            _look = Future()
            threading.Thread(target=_keep, args=(_look,), name="readiness", daemon=True).start()
        look = _look
    try:
        return look.result(LOOK_SECONDS)
    except TimeoutError:
        return AWAY, "unknown"


def _keep(look: "Future[tuple[str, str]]") -> None:
    try:
        look.set_result(_database())
    except Exception as fault:  # it is for whoever waits
        look.set_exception(fault)


def _database() -> tuple[str, str]:
    try:
        with engine().connect() as connection:
            there = connection.scalar(text("SELECT to_regclass('alembic_version') IS NOT NULL"))
            found = connection.scalar(text("SELECT max(version_num) FROM alembic_version")) if there else None
    except SQLAlchemyError:
        return AWAY, "unknown"
    # A newer version may have migrated it: those that run go on until they are replaced.
    if found and found >= newest():
        return OK, OK
    return OK, f"the schema is {found or 'not there'}, this version needs {newest()}"


def _redis() -> str:
    try:
        limits.ping()
    except redis.RedisError:
        return AWAY
    return OK


@dataclass(frozen=True)
class Work:
    """Outbox work of one kind that is not done."""

    job: str
    waiting: int
    failing: int  # of them, tried and failed at least once
    oldest_seconds: float  # since it was asked for
    overdue_seconds: float  # since the first of it became due
    last_error: str | None


@dataclass(frozen=True)
class Figures:
    """What waits at one moment."""

    events_waiting: int  # committed, and not yet turned into deliveries
    oldest_event_seconds: float
    deliveries_pending: int  # of endpoints that are switched on
    deliveries_held: int  # of endpoints that are paused or switched off
    oldest_delivery_seconds: float  # since the delivery that waits longest became due
    endpoints_active: int
    endpoints_failing: int  # active, and nothing got through since their last failure
    endpoints_disabled: int  # switched off because they failed
    work: tuple[Work, ...]


_FIGURES = text(f"""
    WITH waiting AS (
        SELECT count(*) AS count, coalesce(extract(epoch FROM now() - min(created_at)), 0) AS oldest
        FROM events
        WHERE fanned_out_at IS NULL AND id NOT IN (SELECT row_id FROM set_aside WHERE kind = 'fan-out')
    )
    SELECT
        (SELECT count FROM waiting),
        (SELECT oldest FROM waiting),
        coalesce(sum({pending.NUMBER}) FILTER (WHERE is_active), 0),
        coalesce(sum({pending.NUMBER}) FILTER (WHERE NOT is_active), 0),
        greatest(0, coalesce(extract(epoch FROM now() - min(first.next_attempt_at)), 0)),
        count(*) FILTER (WHERE is_active),
        count(*) FILTER (WHERE is_active AND failing_since IS NOT NULL),
        count(*) FILTER (WHERE NOT is_active AND disabled_reason IS NOT NULL)
    FROM webhook_endpoints AS endpoint
    LEFT JOIN LATERAL (
        SELECT next_attempt_at FROM deliveries
        WHERE endpoint_id = endpoint.id AND status = 'pending'
          AND endpoint.is_active AND {pending.MAY_BE}
        ORDER BY next_attempt_at LIMIT 1
    ) AS first ON true
""")  # noqa: S608 - parts of our own

_WORK = text("""
    SELECT job, count(*), count(last_error), extract(epoch FROM now() - min(created_at)),
           greatest(0, extract(epoch FROM now() - min(due_at))),
           (array_agg(last_error ORDER BY id DESC) FILTER (WHERE last_error IS NOT NULL))[1]
    FROM outbox WHERE finished_at IS NULL GROUP BY job ORDER BY job
""")


def figures(session: Session) -> Figures:
    """Count what waits, from indexes of what is not done: the cost does not grow with what is kept."""
    row = session.execute(_FIGURES).one()
    work = tuple(
        Work(job, waiting, failing, float(oldest), float(overdue), error)
        for job, waiting, failing, oldest, overdue, error in session.execute(_WORK)
    )
    events, oldest_event, pending, held, oldest, active, failing, disabled = row
    return Figures(
        events, float(oldest_event), int(pending), int(held), float(oldest), active, failing, disabled, work
    )


_GIVEN_UP = text("""
    SELECT job, count(*), (array_agg(last_error ORDER BY id DESC))[1]
    FROM outbox
    WHERE finished_at > now() - interval '1 day' AND last_error IS NOT NULL AND attempts > 0
      AND id NOT IN (SELECT row_id FROM set_aside)
    GROUP BY job ORDER BY job
""")


def given_up(session: Session) -> list[tuple[str, int, str]]:
    """Return what was given up in the last day: job, how many, the newest error. Reads all that is kept."""
    return [(job, count, error) for job, count, error in session.execute(_GIVEN_UP)]


_SET_ASIDE = text("""
    SELECT kind, count(*), greatest(1, max(tries)), (array_agg(reason ORDER BY id DESC))[1]
    FROM set_aside GROUP BY kind ORDER BY kind
""")


def set_aside(session: Session) -> list[tuple[str, int, int, str]]:
    """Return what was set aside: kind, how many rows, how often one was tried at most, the newest one's reason."""
    return [(kind, count, tries, reason) for kind, count, tries, reason in session.execute(_SET_ASIDE)]


_DISABLED = text(f"""
    SELECT organisation.slug, endpoint.url, endpoint.disabled_reason, {pending.NUMBER} AS pending
    FROM webhook_endpoints AS endpoint JOIN organisations AS organisation
      ON organisation.id = endpoint.organisation_id
    WHERE NOT endpoint.is_active AND endpoint.disabled_reason IS NOT NULL
    ORDER BY pending DESC, endpoint.id LIMIT :limit
""")  # noqa: S608 - a part of our own


def disabled_endpoints(session: Session, *, limit: int) -> list[tuple[str, str, str, int]]:
    """Return endpoints that were switched off: organisation, address, why, and how many deliveries wait."""
    return [(slug, url, why, count) for slug, url, why, count in session.execute(_DISABLED, {"limit": limit})]
