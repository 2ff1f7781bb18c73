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


@cache
def publish(file: str) -> File:
    """Return a published file as it is served."""
    path = PUBLISHED / file
    content = path.read_bytes()
    etag = hashlib.sha256(content).hexdigest()[:32]
    return File(content, f"application/{path.suffix[1:]}", {"Cache-Control": "public, max-age=300"}, etag)
