"""What goes over a live channel: JSON, and for the shared document the messages of y-protocols."""

from typing import Any, NamedTuple

import orjson

SYNC, AWARENESS = 0, 1
ASK, ANSWER, UPDATE = 0, 1, 2  # steps of a sync


class Garbled(ValueError):
    """A message that is none."""


class Message(NamedTuple):
    """A binary message: its kind, for a sync its step, and what it carries."""

    kind: int
    step: int
    content: bytes


def read(data: bytes) -> Message:
    """Read a binary message."""
    kind, at = _number(data, 0)
    step = 0
    if kind == SYNC:
        step, at = _number(data, at)
    elif kind != AWARENESS:
        raise Garbled(f"There is no message of the kind {kind}.")
    if step not in (ASK, ANSWER, UPDATE):
        raise Garbled(f"A sync has no step {step}.")
    length, at = _number(data, at)
    if at + length != len(data):
        raise Garbled("A message ends before or after its content.")
    return Message(kind, step, data[at:])


def _number(data: bytes, at: int) -> tuple[int, int]:
    found = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        found |= (byte & 127) << shift
        shift, at = shift + 7, at + 1
        if byte < 128:
            return found, at
    raise Garbled("A message ends within a number.")


def sync(step: int, content: bytes) -> bytes:
    """Write a message of a sync."""
    return bytes((SYNC, step)) + _length(content) + content


def cursor(content: bytes) -> bytes:
    """Write where somebody's cursor stands."""
    return bytes((AWARENESS,)) + _length(content) + content


def _length(content: bytes) -> bytes:
    left, written = len(content), bytearray()
    while left > 127:
        written.append(left & 127 | 128)
        left >>= 7
    return bytes((*written, left))


def words(type: str, **said: Any) -> str:
    """Write a message in JSON."""
    return orjson.dumps({"type": type, **said}).decode()
