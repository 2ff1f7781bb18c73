"""What pages are made of, and what stands beside them for machines: scripts, styles, pictures, texts."""

import hashlib
from functools import cache
from pathlib import Path

from schemas import guides
from schemas.files import File

FOLDER = Path(__file__).resolve().parent.parent / "static"
# Ours change with the service, and carry a mark by which a browser asks whether they have.
KEPT = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
TEXTS_KEPT = {"Cache-Control": "public, max-age=300", "X-Content-Type-Options": "nosniff"}
# A worker answers for addresses outside its own folder only where its file says so.
ANSWERS_FOR = {"take-worker.js": "/take/"}
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


@cache
def _files() -> dict[str, Path]:
    return {f"/static/{path.name}": path for path in FOLDER.iterdir() if path.suffix in MEDIA_TYPES}


@cache
def _read(path: Path) -> File:
    headers = dict(KEPT)
    if path.name in ANSWERS_FOR:
        headers["Service-Worker-Allowed"] = ANSWERS_FOR[path.name]
    return _file(path.suffix, path.read_bytes(), headers)


@cache
def _texts() -> dict[str, File]:
    return {
        address: _file(Path(address).suffix, text.encode(), TEXTS_KEPT) for address, text in guides.texts()
    }


def _file(suffix: str, content: bytes, headers: dict[str, str]) -> File:
    return File(content, MEDIA_TYPES[suffix], headers, hashlib.sha256(content).hexdigest()[:32])


def find(address: str) -> File | None:
    """Return the file or text at an address, or None."""
    path = _files().get(address)
    return _read(path) if path else _texts().get(address)
