"""One succeeding request of an operation as data: what has to exist, what is sent, what is answered."""

import dataclasses
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.api import Api, Tenant, address, owner_session
from tests.documents import Documented

JSON, FORM, MULTIPART = "application/json", "application/x-www-form-urlencoded", "multipart/form-data"
Ids = dict[str, str]
State = Callable[[Api], Ids]
File = tuple[str, bytes, str]
Body = dict[str, Any]
PLACE = re.compile(r"\{(\w+)\}")


def nothing(api: Api) -> Ids:
    """Many requests need nothing but their organisation."""
    return {}


@dataclass(frozen=True)
class Row:
    """One succeeding request.

    `{name}` in a query or body stands for what the state made under that name; `{email}` is always a new address.
    """

    state: State = nothing
    body: Body | None = None
    query: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200
    media: str = JSON  # that the body is sent in
    files: Mapping[str, File] = field(default_factory=dict)
    answers: str | None = JSON  # the media type of the answer; None where it has no body
    wants: str | None = None  # what the client says that it would rather have
    # Other ways to succeed that the document names: a second time, another kind of file.
    also: tuple["Row", ...] = ()
    is_signed_in: bool = True  # where a member's session is what asks


def fill(value: Any, ids: Ids) -> Any:
    """Put what exists where it is named."""
    if isinstance(value, str):
        found = PLACE.fullmatch(value)
        return ids[found[1]] if found else value
    if isinstance(value, dict):
        return {name: fill(one, ids) for name, one in value.items()}
    return [fill(one, ids) for one in value] if isinstance(value, list) else value


def named(value: Any) -> set[str]:
    """Return the names that a query or body leaves to be filled in."""
    if isinstance(value, str):
        return set(PLACE.fullmatch(value).groups()) if PLACE.fullmatch(value) else set()
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return {name for one in inner for name in named(one)}


def pairs(body: Body) -> list[tuple[str, str]]:
    """A JSON object as a form has it."""
    written: list[tuple[str, str]] = []
    for name, one in body.items():
        if isinstance(one, list) and one and all(isinstance(item, str) for item in one):
            written += [(name, item) for item in one]
        else:
            written.append((name, "" if one is None else one if isinstance(one, str) else json.dumps(one)))
    return written


def encode(body: Body, media: str, files: Mapping[str, File] | None = None) -> dict[str, Any]:
    """Say to httpx how a body is sent."""
    if media == JSON:
        return {"json": body}
    if media == MULTIPART:
        parts: list[tuple[str, Any]] = [(name, (None, text.encode())) for name, text in pairs(body)]
        return {"files": [*parts, *(files or {}).items()] or {"": ("", b"")}}
    form: dict[str, list[str]] = {}
    for name, text in pairs(body):
        form.setdefault(name, []).append(text)
    return {"data": form} if form else {"content": b"", "headers": {"Content-Type": FORM}}


def at_home(operation: Documented, owner: Tenant) -> Tenant:
    """An organisation as an operation is asked for by it: those of the test world know test mode alone."""
    return owner.in_tests() if operation.of_tests_alone else owner


def let_in(operation: Documented, *callers: Api) -> list[Api]:
    """Those callers whose mode an operation knows."""
    return [one for one in callers if not operation.of_tests_alone or str(one.key).startswith("ct_test_")]


def path(operation: Documented, ids: Mapping[str, str]) -> str:
    """Return an operation's path with these ids."""
    return operation.path.format(**ids)


def ask(
    api: Api,
    operation: Documented,
    row: Row,
    ids: Ids,
    *,
    method: str | None = None,
    at: str | None = None,
    body: Body | None = None,
    media: str | None = None,
    naming: Ids | None = None,
    **options: Any,
) -> httpx.Response:
    """Send an operation's request, changed where told to be; without the key where the path is the credential.

    What `naming` has stands in query and body, whatever stands in the path.
    """
    session = owner_session(api) if operation.by_session and row.is_signed_in else {}
    given = {"email": address(), "csrf_token": session.get("X-CSRF-Token", ""), **ids, **(naming or {})}
    sent = fill(row.body, given) if body is None else body
    if sent is not None and "content" not in options:
        encoded = encode(sent, media or row.media, row.files if media in (None, MULTIPART) else None)
        options["headers"] = {**encoded.pop("headers", {}), **options.get("headers", {})}
        options = encoded | options
    options.setdefault("params", fill(dict(row.query), given))
    options.setdefault("follow_redirects", False)  # the answer is that of the operation
    if row.wants:
        options["headers"] = {"Accept": row.wants} | options.get("headers", {})
    if session:
        options["headers"] = session | options.get("headers", {})
    if "kept" in ids:  # what the browser keeps beside its session
        headers = options.setdefault("headers", {})
        headers["Cookie"] = "; ".join(filter(None, (headers.get("Cookie"), ids["kept"])))
    caller = dataclasses.replace(api, base="", key=api.key if operation.keyed else None)
    return caller.request(method or operation.method, at or path(operation, ids), **options)
