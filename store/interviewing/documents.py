"""The document that a room's people type and draw in together: what yjs calls one, put together of its updates.

A room keeps updates, in any order and each as often as it comes: they give the same document. Here they are bytes;
nothing is kept between two calls. Text is counted in bytes of UTF-8, as pycrdt does.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pycrdt
from pycrdt import Array, Doc, Text

SCRATCH, BOARD = "code", "board"
_FIRST = 1  # who wrote what a room begins with: the same on each machine, so that it is there once
NOTHING = b"\x00\x00"


@dataclass(frozen=True)
class Content:
    """What stands in a document."""

    texts: dict[str, str]
    strokes: list[Any]


def name_of(question_id: UUID | None) -> str:
    """Name the text that a question is answered in; without one, the room's own."""
    return SCRATCH if question_id is None else f"{SCRATCH}:{question_id}"


def is_sound(update: bytes) -> bool:
    """Say whether bytes are an update."""
    try:
        pycrdt.get_state(update)
        pycrdt.merge_updates(update, NOTHING)  # reads the whole of it, and makes no document
    except ValueError:
        return False
    return True


def begin(texts: Mapping[str, str]) -> bytes:
    """Write the update that a room begins with."""
    doc: Any = Doc(client_id=_FIRST)
    for name in sorted(texts):
        text = doc.get(name, type=Text)
        text += texts[name]
    return bytes(doc.get_update())


def state(updates: Sequence[bytes]) -> bytes:
    """Return the state vector of a document: how much of whom it has."""
    return bytes(pycrdt.get_state(together(updates)))


def together(updates: Sequence[bytes]) -> bytes:
    """Put updates together to one."""
    return bytes(pycrdt.merge_updates(*updates)) if updates else NOTHING


def missing(updates: Sequence[bytes], state: bytes) -> bytes:
    """Return what of a document somebody with this state does not have; ValueError where it is none."""
    return bytes(pycrdt.get_update(together(updates), state))


def compact(updates: Sequence[bytes]) -> bytes:
    """Put updates together to one without what was deleted; as they are, where they build upon one that is missing."""
    whole = together(updates)
    doc = _open(updates)
    # An update begins with the count of those who wrote what is in it.
    builds_on_missing = pycrdt.get_update(whole, doc.get_state())[0]
    return whole if builds_on_missing else bytes(doc.get_update())


def read(updates: Sequence[bytes], names: Iterable[str]) -> Content:
    """Return what stands there."""
    return _content(_open(updates), names)


def stages(parts: Iterable[Sequence[bytes]], names: Sequence[str]) -> list[Content]:
    """Return what stands there after each of some parts of a document's updates, in order."""
    doc: Any = Doc()
    found = []
    for part in parts:
        for update in part:
            doc.apply_update(update)
        found.append(_content(doc, names))
    return found


def write(updates: Sequence[bytes], name: str, text: str) -> bytes | None:
    """Return the update that makes a text this one, changing no more than differs; None where nothing does."""
    doc = _open(updates)
    there = doc.get(name, type=Text)
    before = str(there)
    if before == text:
        return None
    known = doc.get_state()
    start = _alike(before, text)
    end = _alike(before[start:][::-1], text[start:][::-1])
    first = len(before[:start].encode())
    removed = len(before[start : len(before) - end].encode())
    with doc.transaction():
        if removed:
            del there[first : first + removed]
        if added := text[start : len(text) - end]:
            there.insert(first, added)
    return bytes(doc.get_update(known))


def draw(updates: Sequence[bytes], strokes: list[Any]) -> bytes | None:
    """Return the update that makes a whiteboard this one; None where it is."""
    doc = _open(updates)
    board = doc.get(BOARD, type=Array)
    if (board.to_py() or []) == strokes:
        return None
    known = doc.get_state()
    with doc.transaction():
        board.clear()
        board.extend(strokes)
    return bytes(doc.get_update(known))


def _alike(one: str, other: str) -> int:
    """Count the characters that two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _content(doc: Any, names: Iterable[str]) -> Content:
    texts = {name: str(doc.get(name, type=Text)) for name in names}
    return Content(texts, doc.get(BOARD, type=Array).to_py() or [])


def _open(updates: Sequence[bytes]) -> Any:
    doc: Any = Doc()
    doc.apply_update(together(updates))  # at once: one that came too early would put its text elsewhere
    return doc
