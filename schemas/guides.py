"""The pages of `docs/` that integrators read: guides, a page for each refusal, the events, the API's changelog."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from schemas import markdown

SOURCE = Path(__file__).resolve().parent.parent / "docs"
PAGES = ("guides/*.md", "errors/*.md", "events.md", "api-changelog.md")
# Where a page stands that has another place than its file.
ELSEWHERE = {"guides/README": "guides", "events": "guides/event-types"}
# What `/llms.txt` says of each kind of page, in its order.
CHAPTERS = {"guides": "Guides", "api-changelog": "Changes", "errors": "Error codes"}
FOREWORD = """\
# Hiring and assessment service

> A self-hosted service for hiring and timed assessments with a public JSON API: assessments, invitations,
> results, jobs, applications, screening, pipelines, interviews, offers, candidates, signed webhooks. Keys are
> bearer tokens; test and live data are apart.

Start with the quickstart. Every write takes JSON; lists are pages that are followed by `next`; a refusal has a
code with a page of its own. Send an `Idempotency-Key` with each POST.

## Reference

- [OpenAPI 3.0](/api/v1/public/openapi.json): every operation, schema and example, as JSON
- [OpenAPI 3.1](/api/v1/public/openapi-3.1.json): the same, with every event under `webhooks`
"""

_LINK = re.compile(r"\]\((?!\w+:|/)([\w./-]+)\.md\)")


@dataclass(frozen=True)
class Guide:
    """One page: its title, its content as HTML, and where it stands as Markdown."""

    title: str
    html: str
    markdown: str


def find(name: str) -> Guide | None:
    """Return a page by its place below `/docs/` (`guides/limits`, `errors/NOT_FOUND`), or None."""
    path = _places().get(name)
    return _read(path) if path else None


def texts() -> Iterator[tuple[str, str]]:
    """Return what machines read, by its address: the Markdown of each page, and the list of them."""
    for place, path in _places().items():
        yield f"/docs/{place}.md", _linked(path, ".md")
    yield "/llms.txt", FOREWORD + "".join(_chapters())


def _chapters() -> Iterator[str]:
    for kind, title in CHAPTERS.items():
        yield f"\n## {title}\n\n"
        for place, path in _places().items():
            if place.partition("/")[0] == kind:
                yield f"- [{_title(path)}](/docs/{place}.md)\n"


@cache
def _places() -> dict[str, Path]:
    paths = [path for pattern in PAGES for path in sorted(SOURCE.glob(pattern))]
    return {_place(path.relative_to(SOURCE).with_suffix("").as_posix()): path for path in paths}


def _place(path: str) -> str:
    return ELSEWHERE.get(path, path)


def _title(path: Path) -> str:
    return path.read_text().partition("\n")[0].removeprefix("# ")


def _linked(path: Path, ending: str) -> str:
    """Return a page's Markdown with links to where its neighbours are served."""
    folder = path.parent.relative_to(SOURCE).as_posix()

    def served(link: re.Match[str]) -> str:
        place = _place(posixpath.normpath(posixpath.join(folder, link[1])))
        return f"](/docs/{place}{ending})"

    return _LINK.sub(served, path.read_text())


@cache
def _read(path: Path) -> Guide:
    place = _place(path.relative_to(SOURCE).with_suffix("").as_posix())
    # Whoever has no mouse scrolls what is wider than the page by its focus.
    html = markdown.to_html(_linked(path, "/")).replace("<pre>", '<pre tabindex="0">')
    return Guide(_title(path), html, f"/docs/{place}.md")
