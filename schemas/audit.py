"""What a row of the audit log looks like outside, and files of many."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import orjson
from marshmallow import Schema, fields

from rules import audit
from rules.clock import now
from schemas.fields import Moment, Resource, Show
from schemas.files import Stream
from schemas.showing import show


def _actor(row: Any) -> dict[str, Any]:
    """Say who did it; only keys have a name here, for a person's would be theirs to have erased."""
    return {"type": row.actor_type, "id": row.actor_id and str(row.actor_id), "name": row.key.name}


class Row(Resource):
    """One sealed row."""

    number = fields.Integer()
    occurred_at = Moment()
    actor = fields.Function(_actor)
    channel = fields.String()
    action = fields.String()
    method = fields.String(allow_none=True)
    path = fields.String(allow_none=True)
    outcome = fields.String()
    status_code = fields.Integer(allow_none=True)
    error_code = fields.String(allow_none=True)
    ip = fields.String(allow_none=True)
    request_id = fields.String(allow_none=True)
    resource_type = fields.String(allow_none=True)
    resource_id = fields.String(allow_none=True)


class Request(Schema):
    """The row of one request, as developers look for it."""

    id = fields.String(attribute="request_id")
    occurred_at = Moment()
    operation = fields.String(attribute="action")
    method = fields.String()
    path = fields.String(allow_none=True)
    status_code = fields.Integer()
    error_code = fields.String(allow_none=True)
    key = fields.Function(lambda row: row.actor_id and {"id": str(row.actor_id), "name": row.key.name})
    ip = fields.String(allow_none=True)
    duration_ms = fields.Integer(allow_none=True)


row: Show = show(Row())
request: Show = show(Request())

CELLS = (
    "id", "number", "occurred_at", "actor_type", "actor_id", "actor_name", "channel", "action", "method", "path",
    "outcome", "status_code", "error_code", "ip", "request_id", "resource_type", "resource_id",
)  # fmt: skip


def _csv(batches: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    head: list[Any] = [CELLS]
    for rows in batches:
        written = io.StringIO()
        csv.writer(written).writerows([*head, *map(_cells, rows)])
        yield written.getvalue().encode()
        head = []


def _cells(one: Any) -> list[str]:
    shown = row(one)
    shown |= {f"actor_{name}": value for name, value in shown["actor"].items()}
    return [audit.cell(shown[name]) for name in CELLS]


def _json(batches: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    before = b"["
    for rows in batches:
        yield before + b",".join(orjson.dumps(row(one)) for one in rows)
        before = b"," if rows else before
    yield b"]"


FORMATS: dict[str, tuple[str, Callable[[Iterable[Sequence[Any]]], Iterator[bytes]]]] = {
    "csv": ("text/csv; charset=utf-8", _csv),
    "json": ("application/json", _json),
}


def stream(batches: Iterable[Sequence[Any]], format: str) -> Stream:
    """Write rows into a file to be saved, each batch when it is wanted; there is one at least."""
    media_type, write = FORMATS[format]
    name = f"audit-log-{now():%Y-%m-%d}.{format}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-store"}
    return Stream(write(batches), media_type, headers)
