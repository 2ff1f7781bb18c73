"""The work on asyncpg and one pipelined Redis connection: for every peer that is asynchronous and writes SQL itself.

Fair, since it is what these drivers do at their best: every statement is prepared on every connection at the start,
rows come in binary, nothing is reset between two uses, and hiredis reads Redis' answers without a client around it. Of
invitations it carries out as many at once as it is best with.
"""

import asyncio
from collections import deque
from contextlib import suppress
from urllib.parse import urlsplit

import asyncpg
import hiredis
import shown
import work

CONNECTIONS = 16  # as many as ask at once
STATEMENTS = {name: work.numbered(statement) for name, statement in work.SQL.items()}
_tasks: list[asyncio.Task] = []


class Redis(asyncio.Protocol):
    """A connection on which what is asked in one turn of the loop is sent at once; answers come in the same order."""

    def connection_made(self, transport) -> None:
        self.transport, self.reader, self.waiting = transport, hiredis.Reader(), deque()
        self.loop, self.unsent = asyncio.get_running_loop(), []

    def data_received(self, data: bytes) -> None:
        self.reader.feed(data)
        while (answer := self.reader.gets()) is not False:
            waits = self.waiting.popleft()
            if not waits.done():
                waits.set_exception(answer) if isinstance(answer, Exception) else waits.set_result(answer)

    def ask(self, *words) -> asyncio.Future:
        if not self.unsent:
            self.loop.call_soon(self.send)
        self.unsent.append(hiredis.pack_command(words))
        self.waiting.append(waits := self.loop.create_future())
        return waits

    def send(self) -> None:
        self.transport.write(b"".join(self.unsent))
        self.unsent.clear()


class Database:
    """A connection with its statements, by name."""

    async def open(self) -> "Database":
        self.connection = await asyncpg.connect(work.DATABASE_URL, server_settings=work.SETTINGS)
        self.statements = {
            name: (await self.connection.prepare(text), names) for name, (text, names) in STATEMENTS.items()
        }
        return self

    async def row(self, name: str, values: dict):
        statement, names = self.statements[name]
        return await statement.fetchrow(*[values[one] for one in names])

    async def rows(self, name: str, values: dict):
        statement, names = self.statements[name]
        return await statement.fetch(*[values[one] for one in names])


async def start() -> None:
    global _redis, _script, _free, _inviting, _bell  # noqa: PLW0603 - they belong to the loop
    where, loop = urlsplit(work.REDIS_URL), asyncio.get_running_loop()
    if where.scheme == "unix":
        _, _redis = await loop.create_unix_connection(Redis, where.path)
    else:
        _, _redis = await loop.create_connection(Redis, where.hostname, where.port or 6379)
    _script = await _redis.ask("SCRIPT", "LOAD", work.LUA)
    _free = asyncio.LifoQueue()
    for _ in range(CONNECTIONS):
        _free.put_nowait(await Database().open())
    _inviting = asyncio.Semaphore(work.INVITES_AT_ONCE)
    _bell = asyncio.Event()
    _tasks.append(asyncio.create_task(_ring()))
    work.started()


async def stop() -> None:
    for task in _tasks:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    while not _free.empty():
        await _free.get_nowait().connection.close()
    _redis.transport.close()


async def _ring() -> None:
    """Wake the relay after a commit, once for those that come meanwhile, as the product does."""
    database = await Database().open()
    while await _bell.wait():
        _bell.clear()
        await database.rows("bell", {})
        await asyncio.sleep(work.GIVEN["bell_rests"])


async def admit(authorization: str | None, scope: str, *, reads: bool):
    """Return who asks, and the headers that say where the limit stands."""
    key = work.bearer(authorization)
    row = work.known(key)
    if row is None:
        database = await _free.get()
        try:
            row = work.keep(key, await database.row("key", {"hash": work.digest(key)}))
        finally:
            _free.put_nowait(database)
    row = work.check(row, scope)
    keys, arguments = work.limit_arguments(row, reads=reads)
    return row, work.limit_headers(await _redis.ask("EVALSHA", _script, len(keys), *keys, *arguments))


def _mine(caller, **given) -> dict:
    mine = {"organisation_id": caller["organisation_id"], "livemode": caller["livemode"]}
    return {**mine, "month": work.month(), **given}


async def _assessment(database: Database, caller, slug: str):
    row = await database.row("assessment", _mine(caller, key=slug, id=None))
    if row is None:
        raise work.Refused(404, "NOT_FOUND", "There is no such assessment.")
    return row


async def get_assessment(caller, slug: str) -> dict:
    database = await _free.get()
    try:
        row = await _assessment(database, caller, slug)
    finally:
        _free.put_nowait(database)
    return shown.assessment(row, row["invites_used"])


async def list_invitations(caller, size: int) -> dict:
    database = await _free.get()
    try:
        rows = await database.rows("invitations", _mine(caller, rows=size + 1))
    finally:
        _free.put_nowait(database)
    return shown.invitations(rows, size)


async def create_invitation(caller, slug: str, body: dict, request: work.Asked) -> tuple[dict, int]:
    row = work.candidate(body)
    async with _inviting:
        database = await _free.get()
        try:
            found = await database.row("look", _mine(caller, **work.wanted(row, slug)))
            work.check_free(found)
            if found["was.id"]:
                was = {
                    name: found[f"was.{name}"] for name in ("token", "expires_at", "status", "external_id")
                }
                return work.created(was, "An invitation already exists for this candidate."), 200
            made, given = work.invited(caller, found, row, slug, request)
            await database.row("invite", _mine(caller, **given))  # commits by itself
        finally:
            _free.put_nowait(database)
    _bell.set()
    return work.created(made, "Invitation created."), 201
