"""What one request carries along, from the first station to the last."""

from asyncio import Future
from collections.abc import Awaitable, Callable, Hashable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import Headers

from rules import networks
from rules.caller import Caller

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
# Sends a whole answer at once: its status, headers and body; False where it has to go the usual way.
Whole = Callable[[int, list[tuple[str, str]], bytes], bool]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Head(Headers):
    """A request's headers; what is in none of them costs no fault."""

    def get(self, key: str, default: Any = None) -> Any:
        """Return the first value of a header, whose name is in small letters."""
        wanted = key.encode("latin-1")
        for name, value in self._list:
            if name == wanted:
                return value.decode("latin-1")
        return default


@dataclass(slots=True)
class Request:
    """One request; kept in the ASGI scope's extensions."""

    id: str
    address: str
    method: str
    path: str
    query: bytes
    head: Headers
    pipeline: Any = None  # app.http.pipeline.Pipeline (which needs this module), once its operation is known
    waits_for: Future[Any] | None = None  # what is carried out for it, by a thread
    caller: Caller | None = None  # who asks; None where no key is needed
    known: Caller | None = None  # whose key was shown, let in or not
    status: int = 0  # of its answer, once that is sent
    refused: str = ""  # the code of the refusal that is the answer
    party: Hashable = None  # in whose share of the threads it counts
    body: bytes = b""
    started: float = 0.0  # on the clock of time.perf_counter
    held: int = 0  # bytes of it, which count for its address
    arguments: dict[str, Any] = field(default_factory=dict)
    has_left: bool = False  # its client, before it had the whole answer
    begun: bool = False  # a transaction of it has ended well: what followed may have reached the network
    headers: dict[str, str] = field(default_factory=dict)  # to add to the answer, whatever it is
    whole: Whole | None = None  # where the server offers it

    @property
    def counts_as(self) -> str:
        """As what its address counts, where nobody is known or it is the address that is limited."""
        return networks.counts_as(self.address)


def of(scope: Scope) -> Request:
    """Return the request's record."""
    request: Request = scope["extensions"]["hiring"]
    return request
