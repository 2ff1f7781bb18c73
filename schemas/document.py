"""The documents as they are published: what the service serves of them, and what drives it."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from schemas.arrangement import restore
from schemas.files import File

PUBLISHED = Path(__file__).resolve().parent.parent / "spec" / "published"
NAMES = ("openapi", "candidate", "area")


def read(name: str) -> dict[str, Any]:
    """Return all that the public document or the candidate's says, by its name."""
    return restore(orjson.loads((PUBLISHED / f"{name}.json").read_bytes()))


_SAID, _SHOWN = {"title", "summary", "description"}, {"example", "examples", "externalDocs"}


def bare(part: Any, *, are_names: bool = False) -> Any:
    """Return a document, or a part of it, without what it says and shows to people: a process has several copies.

    The keys of `properties` are names of fields, which may be called as any of these.
    """
    if isinstance(part, list):
        return [bare(one) for one in part]
    if not isinstance(part, dict):
        return part
    return {
        key: bare(value, are_names=key == "properties" and not are_names)
        for key, value in part.items()
        if are_names or not (key in _SHOWN or (key in _SAID and isinstance(value, str)))
    }


@cache
def publish(file: str) -> File:
    """Return a published file as it is served."""
    path = PUBLISHED / file
    content = path.read_bytes()
    etag = hashlib.sha256(content).hexdigest()[:32]
    return File(content, f"application/{path.suffix[1:]}", {"Cache-Control": "public, max-age=300"}, etag)
