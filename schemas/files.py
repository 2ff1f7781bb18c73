"""A file as an answer."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class File:
    """Bytes of a media type; with an etag, a client that has this version is told so instead."""

    content: bytes
    media_type: str
    headers: dict[str, str] = field(default_factory=dict)
    etag: str | None = None
