"""What goes out: JSON, a page or a file, all three one kind of answer."""

import gzip
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

import orjson
from jinja2 import Environment, FileSystemLoader
from werkzeug.http import parse_accept_header

from app.http.context import Request, Send
from app.instance.settings import ROOT
from rules import languages, links
from rules.pages import Page
from schemas import tongues
from schemas.files import File, Stream
from schemas.tongues import Tongue
from schemas.views import Redirect, Told, View

JSON = "application/json"
HTML = "text/html; charset=utf-8"
VARY, GZIP = {"Vary": "Accept-Encoding"}, {"Content-Encoding": "gzip"}
TO_PEOPLE = "/api/v1/candidate/"
PAGE_VARY = {"Vary": "Accept-Encoding, Accept-Language"}


@dataclass(slots=True)
class Answer:
    """A status, a body and what is said of it."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    media_type: str = JSON
    rest: Iterator[bytes] | None = None  # what comes after the body, made part by part


@dataclass(slots=True)
class Made:
    """What a handler made, and what an organisation's reads say beside it."""

    body: Any
    status: int
    meta: dict[str, Any] | None = None


def render(made: Made, request: Request) -> Answer:
    """Write what a handler made as its kind is written."""
    return _KINDS.get(type(made.body), _json)(made, request)


def _json(made: Made, request: Request) -> Answer:
    body = made.body if made.meta is None else {**made.body, "meta": made.meta}
    tongue = spoken_to_people(request)
    return Answer(made.status, orjson.dumps(tongue.told(body) if tongue else body))


def _nothing(made: Made, _request: Request) -> Answer:
    return Answer(made.status, b"")


def _list(made: Made, request: Request) -> Answer:
    page: Page = made.body
    made.body = {
        "next": _page_url(request, page.next),
        "previous": _page_url(request, page.previous),
        "results": page.results,
        **page.more,
    }
    return _json(made, request)


def _page_url(request: Request, cursor: str | None) -> str | None:
    if cursor is None:
        return None
    query = [(name, value) for name, value in parse_qsl(request.query.decode()) if name != "cursor"]
    return f"{links.base()}{request.path}?{urlencode([*query, ('cursor', cursor)])}"


def _file(made: Made, request: Request) -> Answer:
    file: File = made.body
    if file.etag is None:  # somebody's own
        return Answer(made.status, file.content, file.headers, file.media_type)
    # Weak, for it is that of the compressed bytes too.
    headers = file.headers | {"ETag": f'W/"{file.etag}"'} | VARY
    if _unchanged(request.head.get("if-none-match", ""), file.etag):
        return Answer(304, b"", headers)
    if _takes_gzip(request):
        return Answer(made.status, file.compressed, headers | GZIP, file.media_type)
    return Answer(made.status, file.content, headers, file.media_type)


def _stream(made: Made, _request: Request) -> Answer:
    """Begin: what can go wrong before the first part still has an answer of its own."""
    stream: Stream = made.body
    return Answer(made.status, next(stream.parts, b""), stream.headers, stream.media_type, stream.parts)


def _unchanged(known: str, etag: str) -> bool:
    """Say whether a client has this version (RFC 9110, 13.1.2: compared weakly, `*` for any)."""
    tags = [tag.strip().removeprefix("W/") for tag in known.split(",")]
    return f'"{etag}"' in tags or tags == ["*"]


def _view(made: Made, request: Request) -> Answer:
    view: View = made.body
    tongue = spoken(request, view.wanted, view.otherwise)
    html = write(view.template, view.values, tongue)
    headers = view.headers | PAGE_VARY | {"Content-Language": tongue.tag}
    if _takes_gzip(request):
        return Answer(view.status, gzip.compress(html, 5, mtime=0), headers | GZIP, HTML)
    return Answer(view.status, html, headers, HTML)


def write(template: str, values: dict[str, Any], tongue: Tongue) -> bytes:
    """Write a page in a language: its texts, and what was said among its values."""
    values = {name: tongue.told(value) for name, value in values.items()}
    return _templates(tongue.catalogue).get_template(template).render(tongue=tongue, **values).encode()


def spoken(request: Request, wanted: Sequence[str | None] = (), otherwise: str | None = None) -> Tongue:
    """Choose the language to answer in: one that is wanted, else one that the client asks for, else the other."""
    asked = parse_accept_header(request.head.get("accept-language")).values()
    return tongues.of(languages.choose([*wanted, *asked, otherwise]))


def _redirect(made: Made, _request: Request) -> Answer:
    to: Redirect = made.body
    return Answer(made.status, b"", to.headers | {"Location": to.location})


def way(to: Redirect, request: Request) -> tuple[Redirect | Told, int]:
    """Return a way to another page: as a redirect, or in JSON to a program that would rather have that than a page."""
    if prefers_json(request):
        return Told({"location": to.location}, to.headers), 200
    return to, 303


def prefers_json(request: Request) -> bool:
    """Say whether a client would rather have JSON than a page."""
    takes = parse_accept_header(request.head.get("accept"))
    return takes[JSON] > takes["text/html"]


def _told(made: Made, request: Request) -> Answer:
    told: Told = made.body
    return replace(render(replace(made, body=told.body), request), headers=told.headers)


def _takes_gzip(request: Request) -> bool:
    return parse_accept_header(request.head.get("accept-encoding"))["gzip"] > 0


def spoken_to_people(request: Request) -> Tongue | None:
    """Choose the language of data, where a page shows them to a person who reads another one than English."""
    if not request.path.startswith(TO_PEOPLE):
        return None
    tongue = spoken(request)
    return None if tongue.catalogue == languages.SOURCE else tongue


@cache
def _templates(catalogue: str) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(ROOT / "templates"), autoescape=True, extensions=["jinja2.ext.i18n"]
    )
    environment.policies["ext.i18n.trimmed"] = True
    environment.install_gettext_translations(  # type: ignore[attr-defined]  # the extension brings it
        tongues.translations(catalogue), newstyle=True
    )
    return environment


_KINDS: dict[type, Callable[[Made, Request], Answer]] = {
    type(None): _nothing,
    Page: _list,
    File: _file,
    Stream: _stream,
    View: _view,
    Redirect: _redirect,
    Told: _told,
}


async def send(
    answer: Answer,
    to: Send,
    request: Request,
    more: Callable[[Iterator[bytes]], Awaitable[bytes | None]] | None = None,
) -> None:
    """Hand an answer to the server; to HEAD without its body. `more` makes the next of its parts, None after the last.

    Only an answer that is made while it is sent needs it.
    """
    headers = list(answer.headers.items())
    if answer.body:
        headers.append(("Content-Type", answer.media_type))
    if answer.status not in (204, 304) and answer.rest is None:
        headers.append(("Content-Length", str(len(answer.body))))
    part: bytes | None = b"" if request.method == "HEAD" else answer.body
    if (
        request.whole
        and answer.rest is None
        and request.whole(answer.status, [*headers, *request.headers.items()], part or b"")
    ):
        request.status = answer.status
        return
    written = [(name.lower().encode(), value.encode()) for name, value in headers]
    await to({"type": "http.response.start", "status": answer.status, "headers": written})
    if answer.rest is not None and request.method != "HEAD":
        while part is not None:
            await to({"type": "http.response.body", "body": part, "more_body": True})
            part = await more(answer.rest) if more else None
    await to({"type": "http.response.body", "body": part or b""})
