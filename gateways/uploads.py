"""Files that somebody sends with an application: what is wrong with one by its content, and where it is kept."""

from typing import Any

from gateways import files
from gateways.cv import kinds
from rules import applications as rules


def is_blank(file: Any) -> bool:
    """Say whether a file is none: what a browser sends where nothing was chosen."""
    return not file.content and not file.filename


def fault(file: Any) -> str | None:
    """Say what is wrong with a file, by its content."""
    return None if kinds.sniff(file.content) else kinds.why_not(file.content)


def keep(key: str, kind: str, file: Any) -> dict[str, Any]:
    """Keep a file under a key; return what is to be known of it."""
    sniffed = kinds.sniff(file.content)
    assert sniffed is not None  # its faults were looked at
    files.put(key, file.content)
    return {
        "kind": kind,
        "filename": rules.file_name(file.filename, f"{kind}.{sniffed}"),
        "content_type": kinds.MEDIA_TYPES[sniffed],
        "size_bytes": len(file.content),
        "key": key,
    }
