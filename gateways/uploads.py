"""Files that somebody sends with an application: what is wrong with one by its content, and where it is kept."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from gateways import files
from gateways.cv import kinds
from rules import applications as rules


def is_blank(file: Any) -> bool:
    """Say whether a file is none: what a browser sends where nothing was chosen."""
    return not file.content and not file.filename


def fault(file: Any) -> str | None:
    """Say what is wrong with a file, by its content."""
    return None if kinds.sniff(file.content) else kinds.why_not(file.content)


@dataclass
class Kept:
    """Files that are kept while a transaction is made for them, and stay if they are `needed`."""

    files: list[dict[str, Any]]  # kind, filename, content_type, size_bytes, key
    needed: bool = False


@contextmanager
def keeping(organisation_id: UUID, sent: Mapping[str, Any]) -> Iterator[Kept]:
    """Keep files by their kinds before what they belong to is written; let them go where nothing came of it."""
    with _let_go_unless_needed() as kept:
        for kind, file in sent.items():
            kept.files.append(_keep(organisation_id, kind, file))
        yield kept


@contextmanager
def keeping_chunk(organisation_id: UUID, content: bytes) -> Iterator[Kept]:
    """Keep a part of a recording before it is written down; let it go where nothing came of it."""
    with _let_go_unless_needed() as kept:
        key = f"recordings/{organisation_id}/{uuid4()}"
        kept.files.append({"size_bytes": len(content), "key": key})
        files.put(key, content)
        yield kept


@contextmanager
def _let_go_unless_needed() -> Iterator[Kept]:
    kept = Kept([])
    try:
        yield kept
    finally:
        if not kept.needed:
            for one in kept.files:
                files.delete(one["key"])


def _keep(organisation_id: UUID, kind: str, file: Any) -> dict[str, Any]:
    sniffed = kinds.sniff(file.content)
    assert sniffed is not None  # its faults were looked at
    key = f"attachments/{organisation_id}/{uuid4()}"
    files.put(key, file.content)
    return {
        "kind": kind,
        "filename": rules.file_name(file.filename, f"{kind}.{sniffed}"),
        "content_type": kinds.MEDIA_TYPES[sniffed],
        "size_bytes": len(file.content),
        "key": key,
    }
