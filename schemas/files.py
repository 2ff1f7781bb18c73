"""A file as an answer."""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Stream:
    """A file that is made while it is sent: each part when the client has taken the one before.

    As nobody knows how long a client takes, nothing may be held from one part to the next.
    """

    parts: Iterator[bytes]
    media_type: str
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class File:
    """Bytes of a media type; with an etag, a client that has this version is told so instead."""

    content: bytes
    media_type: str
    headers: dict[str, str] = field(default_factory=dict)
    etag: str | None = None

    @cached_property
    def compressed(self) -> bytes:
        """The bytes as gzip has them, made once."""
        return gzip.compress(self.content, mtime=0)
