"""What one request carries along: its id, its arguments, its caller, its limits."""

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

from rules.caller import Caller

Scope = MutableMapping[str, Any]


@dataclass
class Request:
    """One request as it passes the stations; kept in the ASGI scope's extensions."""

    id: str
    address: str
    path: str
    query: str
    arguments: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)  # to add to the answer, whatever it is
    operation: str = ""  # the operationId, once it is known


@dataclass(slots=True)
class Answer:
    """What goes out of a JSON operation."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


def of(scope: Scope) -> Request:
    """Return the request's record."""
    request: Request = scope["extensions"]["hiring"]
    return request


def caller(scope: Scope) -> Caller | None:
    """Return who is asking, or None where an operation needs no key."""
    token = scope["extensions"].get("connexion_context", {}).get("token_info")
    return token["caller"] if token else None
