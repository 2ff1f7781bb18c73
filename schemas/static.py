"""What pages are made of: scripts, styles and pictures, ours and the reference page's."""

import hashlib
from functools import cache
from pathlib import Path

from swagger_ui_bundle import swagger_ui_path

from schemas.files import File

# Where files lie, by what their addresses begin with, and how browsers keep them: ours change with the service.
FOLDERS = {
    "/static/reference/": (Path(swagger_ui_path), "public, max-age=86400"),
    "/static/": (Path(__file__).resolve().parent.parent / "static", "no-cache"),
}
# A worker answers for addresses outside its own folder only where its file says so.
ANSWERS_FOR = {"take-worker.js": "/take/"}
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}


@cache
def _files() -> dict[str, tuple[Path, str]]:
    return {
        prefix + path.name: (path, kept)
        for prefix, (folder, kept) in FOLDERS.items()
        for path in folder.iterdir()
        if path.suffix in MEDIA_TYPES
    }


@cache
def _read(path: Path, kept: str) -> File:
    content = path.read_bytes()
    headers = {"Cache-Control": kept, "X-Content-Type-Options": "nosniff"}
    if path.name in ANSWERS_FOR:
        headers["Service-Worker-Allowed"] = ANSWERS_FOR[path.name]
    return File(content, MEDIA_TYPES[path.suffix], headers, hashlib.sha256(content).hexdigest()[:32])


def find(address: str) -> File | None:
    """Return the file at an address, or None."""
    found = _files().get(address)
    return _read(*found) if found else None
