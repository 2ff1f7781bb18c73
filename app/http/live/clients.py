"""Who is in the rooms of this process, and what waits to be sent to them."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from store.interviewing.stream import News

MOST_FRAMES, MOST_BYTES = 512, 4 << 20  # that wait for one client: whoever reads slower comes back later
TOO_SLOW, CLOSED, RESTARTING = 1013, 4409, 1012  # how channels end
Frame = str | bytes | None  # text, binary; None: there is nothing after it


def _nothing() -> None:
    pass


class Client:
    """One channel: what waits to be sent there. `close` says with which code it ends."""

    def __init__(self, role: str, name: str = "") -> None:
        self.role, self.name = role, name
        self.seen: int | None = None  # the number up to which it has everything; None before it is greeted
        self.early: list[tuple[News, str]] = []  # what came before that
        self.frames: asyncio.Queue[Frame] = asyncio.Queue()
        self.bytes = 0
        self.closed: int | None = None
        self.abort: Callable[[], None] = (
            _nothing  # ends the connection of who does not even read that it ends
        )

    def send(self, frame: str | bytes) -> None:
        """Have something sent, unless too much waits already; what it is greeted with may be as much as it is."""
        if self.closed is not None:
            return
        if self.seen is not None and (self.frames.qsize() >= MOST_FRAMES or self.bytes > MOST_BYTES):
            self.close(TOO_SLOW)
            self.abort()
            return
        self.bytes += len(frame)
        self.frames.put_nowait(frame)

    def close(self, code: int) -> None:
        """End it after what waits, or at once where that is the fault."""
        if self.closed is None:
            self.closed = code
            self.frames.put_nowait(None)

    async def next(self) -> Frame:
        """Wait for what is to be sent next."""
        frame = await self.frames.get()
        if frame is not None:
            self.bytes -= len(frame)
        return frame


@dataclass(eq=False)
class Room:
    """A room, as far as it is known here."""

    id: UUID
    organisation_id: UUID
    seen: int
    status: str
    has_voice: bool = False
    clients: list[Client] = field(default_factory=list)
    is_typed_in: bool = False
    weight: int = 0  # bytes of its document's updates, as far as they were seen here

    def sides(self) -> set[str]:
        """Return whose channels are open here."""
        return {client.role for client in self.clients if client.seen is not None}
