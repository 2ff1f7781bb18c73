"""What a request says of itself in the audit log: ids and codes, and no text that its client chose."""

import re
import time
from collections.abc import Mapping
from typing import Any, Protocol

from app.http.context import Request
from schemas.views import View
from store.auditing.trail import Entry
from store.database.ids import new_id

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_SLUG = re.compile(r"[a-z0-9-]{1,120}")
ACTORS = {"public_api": "key", "area": "member", "candidate": "candidate"}  # by the channel
HIDDEN = "…"  # instead of a token, which is a credential, and of what is no name of ours


class Operation(Protocol):
    """What has to be known of an operation."""

    id: str
    tag: str
    method: str
    channel: str
    template: str


def entry(operation: Operation, request: Request) -> Entry:
    """Begin the row of a request: who, from where, what for."""
    made = Entry(operation.channel, ACTORS[operation.channel], operation.id)
    caller = request.caller or request.known
    if caller and caller.person:
        made.channel, made.actor_type = "area", "member"
    if caller:
        made.organisation_id, made.livemode = caller.organisation_id, caller.livemode
        # A candidate's address is theirs, and is not kept.
        made.ip = request.address
        made.actor_id = caller.person.user_id if caller.person else caller.key_id
    made.method, made.request_id, made.began = operation.method, request.id, request.started
    return made


def succeeded(made: Entry, operation: Operation, request: Request, body: Any, status: int) -> None:
    """Note how a request ended, and what it is about: what was answered, what was told of, or what its path names."""
    made.status_code = body.status if isinstance(body, View) else status
    made.path, inner = path(operation.template, request.path, slugs=True)
    answered = body.get("id") if isinstance(body, Mapping) else None
    if answered is not None:
        made.resource_type, made.resource_id = kind(operation), str(answered)
    elif made.resource_id is None and inner:
        made.resource_type, made.resource_id = kind(operation), inner


def refused(operation: Operation, request: Request, status: int) -> Entry:
    """Make the row of a request that was refused; it is written later."""
    made = entry(operation, request)
    made.id, made.ended = new_id(), time.perf_counter()
    made.status_code, made.error_code = status, request.refused or None
    made.path, inner = path(operation.template, request.path, slugs=False)
    if inner:
        made.resource_type, made.resource_id = kind(operation), inner
    return made


def kind(operation: Operation) -> str:
    """Say what an operation is about, in the singular, by its tag."""
    return operation.tag.removesuffix("s")


def path(template: str, asked: str, *, slugs: bool) -> tuple[str, str | None]:
    """Return a request's path as it may be kept, and the last id in it; slugs only of what is known to be there."""
    kept, last = [], None
    for name, given in zip(template.split("/"), asked.split("/"), strict=False):
        if not name.startswith("{"):
            kept.append(name)
        elif _UUID.fullmatch(given):
            last = given.lower()
            kept.append(last)
        else:
            kept.append(given if slugs and name != "{token}" and _SLUG.fullmatch(given) else HIDDEN)
    return "/".join(kept), last
