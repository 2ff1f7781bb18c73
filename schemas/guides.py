"""The pages of `docs/` that integrators read: guides, one page for each refusal, the changelog of the API."""

import posixpath
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from schemas import markdown

SOURCE = Path(__file__).resolve().parent.parent / "docs"
PAGES = ("guides/*.md", "errors/*.md", "api-changelog.md")

_LINK = re.compile(r"\]\((?!\w+:|/)([\w./-]+)\.md\)")


@dataclass(frozen=True)
class Guide:
    """One page: its title and its content as HTML."""

    title: str
    html: str


def find(name: str) -> Guide | None:
    """Return a page by its place below `/docs/` (`guides/limits`, `errors/NOT_FOUND`), or None."""
    path = _places().get(name)
    return _read(path) if path else None


@cache
def _places() -> dict[str, Path]:
    paths = [path for pattern in PAGES for path in SOURCE.glob(pattern)]
    return {_place(path.relative_to(SOURCE).with_suffix("").as_posix()): path for path in paths}


def _place(path: str) -> str:
    return path.removesuffix("/README")


@cache
def _read(path: Path) -> Guide:
    text = path.read_text()
    folder = path.parent.relative_to(SOURCE).as_posix()

    def served(link: re.Match[str]) -> str:
        place = _place(posixpath.normpath(posixpath.join(folder, link[1])))
        return f"](/docs/{place}/)"

    title = text.partition("\n")[0].removeprefix("# ")
    return Guide(title, markdown.to_html(_LINK.sub(served, text)))
