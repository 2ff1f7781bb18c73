"""The documents as they are published: what drives the service, and what it serves of them."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from schemas.files import File

PUBLISHED = Path(__file__).resolve().parent.parent / "spec" / "published"
NAMES = ("openapi", "candidate")


def read(name: str) -> dict[str, Any]:
    """Return the public document or the candidate's, by its name."""
    document: dict[str, Any] = orjson.loads((PUBLISHED / f"{name}.json").read_bytes())
    return document


@cache
def publish(file: str) -> File:
    """Return a published file as it is served."""
    path = PUBLISHED / file
    content = path.read_bytes()
    etag = hashlib.sha256(content).hexdigest()[:32]
    return File(content, f"application/{path.suffix[1:]}", {"Cache-Control": "public, max-age=300"}, etag)
