"""A live channel as a stream of server-sent events."""

import asyncio
import re
from base64 import b64decode, b64encode
from typing import Any
from urllib.parse import parse_qs

import orjson

from app.http import context
from app.http.live import frames
from app.http.live.clients import TOO_SLOW, Client
from rules.errors import Invalid

BEAT_SECONDS = 15.0  # between two signs of life
STREAM_SECONDS = 900.0  # then its client opens another


def asked(request: context.Request) -> tuple[int, bytes]:
    """Read from where a stream goes on: the number, and what of the document its client has."""
    query = parse_qs(request.query.decode("latin-1"))
    number = request.head.get("last-event-id") or query.get("after", ["0"])[0]
    if not re.fullmatch(r"\d{1,18}", number, re.ASCII):
        raise Invalid.at("/query/after", "must be a whole number")
    try:
        state = b64decode(query.get("state", ["AA=="])[0], validate=True)
    except ValueError:
        raise Invalid.at("/query/state", "must be Base64") from None
    return int(number), state


async def pour(client: Client, left: asyncio.Future[Any], send: context.Send) -> None:
    """Send what there is until the client leaves, or has been here for long."""
    until = left.get_loop().time() + STREAM_SECONDS
    waiting: asyncio.Task[Any] | None = None
    try:
        while left.get_loop().time() < until:
            waiting = waiting or asyncio.ensure_future(client.next())
            done, _ = await asyncio.wait(
                {waiting, left}, timeout=BEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if left in done:
                return
            if not done:
                await send({"type": "http.response.body", "body": b": still here\n\n", "more_body": True})
                continue
            frame, waiting = waiting.result(), None
            if frame is None or client.closed == TOO_SLOW:
                break
            body = _of_frame(frame, client.seen or 0)
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        if waiting is not None:
            waiting.cancel()
        left.cancel()


def _of_frame(frame: str | bytes, number: int) -> bytes:
    """Write a frame of a WebSocket as an event of a stream."""
    if isinstance(frame, str):
        said = orjson.loads(frame)
        name = said.pop("type")
        last = said["events"][-1]["number"] if name == "events" and said["events"] else None
        return event(name, said, last)
    given = frames.read(frame)
    name = "cursor" if given.kind == frames.AWARENESS else "update"
    return event(name, {"update": text(given.content)})


def event(name: str, said: dict[str, Any], number: int | None = None) -> bytes:
    """Write an event of a stream."""
    id = f"id: {number}\n" if number is not None else ""
    return f"event: {name}\n{id}data: ".encode() + orjson.dumps(said) + b"\n\n"


def text(content: bytes) -> str:
    """Write bytes as text."""
    return b64encode(content).decode()
