"""The work with psycopg's and redis' asynchronous sides: for every peer that is asynchronous and writes SQL itself."""

from datetime import UTC, datetime

import orjson
import redis.asyncio
import work
from psycopg.rows import namedtuple_row
from psycopg_pool import AsyncConnectionPool

pool = AsyncConnectionPool(
    work.DATABASE_URL,
    min_size=8,
    max_size=16,
    open=False,
    kwargs={"autocommit": True, "row_factory": namedtuple_row},
)
limits = redis.asyncio.Redis.from_url(work.REDIS_URL)
count = limits.register_script(work.LUA)


async def start() -> None:
    await pool.open(wait=True)


async def stop() -> None:
    await pool.close()
    await limits.aclose()


async def admit(authorization: str | None, scope: str, *, reads: bool):
    """Return who asks, and the headers that say where the limit stands."""
    key = work.bearer(authorization)
    row = work.known(key)
    if row is None:
        async with pool.connection() as connection:
            row = await (await connection.execute(work.SQL["key"], {"hash": work.digest(key)})).fetchone()
        row = work.keep(key, row)
    work.check(row, scope)
    keys, arguments = work.limit_arguments(row, reads=reads)
    return row, work.limit_headers(await count(keys=keys, args=arguments))


def _mine(caller, **given):
    mine = {"organisation_id": caller.organisation_id, "livemode": caller.livemode, "month": work.month()}
    return mine | given


async def _assessment(connection, caller, slug: str):
    found = await connection.execute(work.SQL["assessment"], _mine(caller, key=slug, id=None))
    row = await found.fetchone()
    if row is None:
        raise work.Refused(404, "NOT_FOUND", "There is no such assessment.")
    return row


async def get_assessment(caller, slug: str) -> dict:
    async with pool.connection() as connection:
        row = await _assessment(connection, caller, slug)
    return work.assessment(row, row.invites_used)


async def list_invitations(caller, size: int) -> dict:
    async with pool.connection() as connection:
        cursor = connection.cursor(row_factory=_rows)
        rows = await (await cursor.execute(work.SQL["invitations"], _mine(caller, rows=size + 1))).fetchall()
    used = rows[0][0].invites_used if rows else 0
    shown = [work.invitation(*row) for row in rows[:size]]
    return work.page(shown, rows[len(shown) - 1][0].id, more=len(rows) > size, size=size, used=used)


def _rows(cursor):
    """Make a row of its invitation, and of its assessment's slug and title, which are labelled with a dot."""
    names = [column.name for column in cursor.description or ()]
    make = work.named(names[:-2]) if names else None
    return lambda values: (make(values[:-2]), values[-2], values[-1])


async def create_invitation(caller, slug: str, body: dict) -> tuple[dict, int]:
    async with pool.connection() as connection, connection.transaction():
        assessment = await _assessment(connection, caller, slug)
        if assessment.status != "active":
            raise work.Refused(403, "ASSESSMENT_NOT_ACTIVE", "The assessment is not active.")
        row = work.candidate(body)
        asked = {"assessment_id": assessment.id, "email": row["email_key"], "external_id": row["external_id"]}
        found = await (await connection.execute(work.SQL["existing"], _mine(caller, **asked))).fetchone()
        if found:
            return work.created(found, "An invitation already exists for this candidate."), 200
        given = {
            "count": 1,
            "limit": work.UNLIMITED,
            "assessment_id": assessment.id,
            "moment": datetime.now(UTC),
            "candidates": orjson.dumps([row]).decode(),
        }
        cursor = connection.cursor(row_factory=_made)
        made = await (await cursor.execute(work.SQL["invite"], _mine(caller, **given))).fetchone()
        data = work.event_data(made, assessment.slug, assessment.title)
        event = {"id": work.uuid.uuid4(), "number": 1, "type": "invitation.created", "data": data}
        told = {"count": 1, "moment": datetime.now(UTC), "events": orjson.dumps([event]).decode()}
        await connection.execute(work.SQL["event"], _mine(caller, **told))
        return work.created(made, "Invitation created."), 201


def _made(cursor):
    names = [column.name.replace(".", "_") for column in cursor.description or ()]
    return work.named(names) if names else None
