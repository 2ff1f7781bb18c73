"""Flask with psycopg in gunicorn's threads, and pydantic for bodies.

Fair, since it is what a Flask team runs: the product's own statements on a pool of psycopg in C, rows in binary, orjson
for answers, gunicorn with as many threads as the product has, of which as many invite at once as it is best with.
"""

import threading
from typing import Annotated

import bell
import orjson
import redis
import shown
import work
from flask import Flask, Response, g, request
from psycopg import Connection
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool
from pydantic import BaseModel, ConfigDict, Field, ValidationError

app = Flask(__name__)
pool = ConnectionPool(
    work.DATABASE_URL,
    min_size=8,
    max_size=16,
    open=True,
    kwargs={
        "autocommit": True,
        "row_factory": dict_row,
        "options": " ".join(f"-c {name}={value}" for name, value in work.SETTINGS.items()),
    },
)
count = redis.Redis.from_url(work.REDIS_URL).register_script(work.LUA)
inviting = threading.Semaphore(work.INVITES_AT_ONCE)


class InvitationCreate(BaseModel):
    model_config = ConfigDict(extra="forbid")
    email: str = Field(max_length=254)
    name: str = Field("", max_length=200)
    role: str = Field("", max_length=200)
    external_id: str | None = Field(None, min_length=1, max_length=255)
    expires_days: int = Field(7, ge=1, le=365)
    send_email: bool = False
    extra_time_percent: int = Field(0, ge=0, le=100)
    tags: list[Annotated[str, Field(min_length=1, max_length=64)]] = Field([], max_length=20)


def execute(connection: Connection, name: str, values: dict):
    return connection.cursor(binary=True).execute(work.SQL[name], values)


def mine(caller, **given) -> dict:
    mine = {"organisation_id": caller["organisation_id"], "livemode": caller["livemode"]}
    return {**mine, "month": work.month(), **given}


def admit(scope: str, *, reads: bool):
    key = work.bearer(request.headers.get("Authorization"))
    row = work.known(key)
    if row is None:
        with pool.connection() as connection:
            row = work.keep(key, execute(connection, "key", {"hash": work.digest(key)}).fetchone())
    row = work.check(row, scope)
    keys, arguments = work.limit_arguments(row, reads=reads)
    g.headers = work.limit_headers(count(keys=keys, args=arguments))
    return row


@app.before_request
def begin() -> None:
    g.asked, g.headers = work.asked(request.path, request.remote_addr), {}


def answer(body: dict, status: int = 200) -> Response:
    headers = {**g.headers, "X-Request-Id": g.asked.id}
    return Response(orjson.dumps(body), status, headers, content_type="application/json")


@app.errorhandler(work.Refused)
def refuse(refused: work.Refused) -> Response:
    return Response(
        refused.body(g.asked.id), refused.status, {"X-Request-Id": g.asked.id}, "application/json"
    )


@app.errorhandler(ValidationError)
@app.errorhandler(ValueError)
def refuse_input(_fault: Exception) -> Response:
    return refuse(work.Refused(400, "VALIDATION_ERROR", "The request is not valid."))


def find(connection: Connection, caller, slug: str):
    row = execute(connection, "assessment", mine(caller, key=slug, id=None)).fetchone()
    if row is None:
        raise work.Refused(404, "NOT_FOUND", "There is no such assessment.")
    return row


@app.get(work.PREFIX + "/assessments/<slug>/")
def get_assessment(slug: str) -> Response:
    caller = admit("assessments:read", reads=True)
    with pool.connection() as connection:
        row = find(connection, caller, slug)
    return answer(shown.assessment(row, row["invites_used"]))


@app.get(work.PREFIX + "/invites/")
def list_invitations() -> Response:
    caller = admit("invitations:read", reads=True)
    size = work.page_size(request.args.get("page_size", "20"))
    with pool.connection() as connection:
        rows = execute(connection, "invitations", mine(caller, rows=size + 1)).fetchall()
    return answer(shown.invitations(rows, size))


@app.post(work.PREFIX + "/assessments/<slug>/invites/")
def create_invitation(slug: str) -> Response:
    caller = admit("invitations:write", reads=False)
    body = InvitationCreate.model_validate_json(request.get_data())
    row = work.candidate(body.model_dump())
    with inviting, pool.connection() as connection:  # each statement commits by itself
        found = execute(connection, "look", mine(caller, **work.wanted(row, slug))).fetchone()
        work.check_free(found)
        if found["was.id"]:
            was = {name: found[f"was.{name}"] for name in ("token", "expires_at", "status", "external_id")}
            return answer(work.created(was, "An invitation already exists for this candidate."))
        made, given = work.invited(caller, found, row, slug, g.asked)
        execute(connection, "invite", mine(caller, **given))
    bell.ring()
    return answer(work.created(made, "Invitation created."), 201)


work.started()
