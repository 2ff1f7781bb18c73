"""Where files are kept: a folder, or an S3-compatible store. The rest of the service knows keys and bytes alone."""

from contextlib import suppress
from pathlib import Path
from typing import Protocol

from rules import tokens


class Store(Protocol):
    """Keeps bytes under keys."""

    def put(self, key: str, content: bytes) -> None:
        """Keep bytes; they are there when this returns."""

    def get(self, key: str) -> bytes | None:
        """Return the bytes, or None where there are none."""

    def delete(self, key: str) -> None:
        """Let bytes go; keys without any are fine."""


class Folder:
    """Files below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()

    def put(self, key: str, content: bytes) -> None:
        """Write beside the file and move into its place, so that nobody ever reads half of it."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_name(f".{path.name}.{tokens.mark()}")
        half.touch(mode=0o600)
        half.write_bytes(content)
        half.replace(path)

    def get(self, key: str) -> bytes | None:
        """Return a file's content."""
        try:
            return self._path(key).read_bytes()
        except FileNotFoundError:
            return None

    def delete(self, key: str) -> None:
        """Remove a file."""
        with suppress(FileNotFoundError):
            self._path(key).unlink()

    def _path(self, key: str) -> Path:
        path = (self.root / key).resolve()
        if not path.is_relative_to(self.root.resolve()):
            raise ValueError(f"The key {key!r} leaves the folder.")
        return path


_store: Store | None = None


def configure(store: Store) -> None:
    """Set where files are kept from now on."""
    global _store  # noqa: PLW0603 - one process, one store
    _store = store


def put(key: str, content: bytes) -> None:
    """Keep a file's content under a key of its own."""
    _configured().put(key, content)


def get(key: str) -> bytes | None:
    """Return a file's content; None where it is gone."""
    return _configured().get(key)


def delete(key: str) -> None:
    """Let a file's content go."""
    _configured().delete(key)


def _configured() -> Store:
    if _store is None:
        raise RuntimeError("Call gateways.files.configure(store) first.")
    return _store
