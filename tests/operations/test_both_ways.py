"""The short way and Connexion's chain answer alike: every operation, good requests and bad, all of each answer."""

import dataclasses
import functools
import itertools
import re
from collections.abc import Callable, Iterator

import httpx
import pypdfium2
import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

import rules.sessions
from app.http.records.notes import NOTES
from rules.clock import now
from rules.scopes import SCOPES, TWINS
from store.assessing import answering
from store.database.prepared import Prepared
from tests import api
from tests.api import Api, Tenant
from tests.documents import Documented
from tests.operations.rows import FORM, JSON, MULTIPART, Row, ask, at_home
from tests.operations.table.every import each

UNKNOWN = "019a9b1e-7c1d-7a42-9f4e-5d0c8a3b2fff"
MEBIBYTE = 1 << 20
# What differs between two requests whichever way they go.
VOLATILE = {
    "id": r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "mark": r"(?:req|evt|test)_[0-9a-f]{32}",
    "key": r"ct_(?:live|test)_[\w-]{6,43}",
    "proof": r"(?<![\w-])[0-9a-f]{64}(?![\w-])",
    "moment": (
        r"\d{4}-\d\d-\d\dT[\d:.]+Z|\d\d\.\d\d\.\d{4} \d\d:\d\d|\d{1,2} [A-Z][a-z]+ \d{4}(?:, \d\d:\d\d)?"
    ),
    "secret": r"whsec_[A-Za-z0-9+/=]+",
    "sealed": r"gAAAA[A-Za-z0-9_=-]{60,}",
    "token": r"(?<![\w-])(?:'(?=-))?[A-Za-z0-9_-]{43}(?![\w-])",  # a CSV's cell that begins with - is no formula
    # Each counts by itself: two of them may have come to one number.
    "candidate": r"(?<=candidate-)\d+(?=@)",
    "title": r"(?<=ngineer[ -])\d+",
    "case": r"(?<=Case )\d+",
    "hook": r"(?<=/hook/)\d+",
    "reference": r"(?<=ats-)\d+",
    "owner": r"(?<=orthwind[ -])\d+",  # may be the number of something else too
    "time": r"(?:(?<=_ms\":)|(?<=_ms\": )|(?<=ing_seconds\":)|(?<=advanced_seconds\":))\d+",
    "address": r"198\.51\.100\.\d",
    "person": r"(?<=\"id\":\")[\w-]{22}(?=\")",  # as a device with a passkey knows them
    "cursor": r"(?<=cursor=)[\w-]+",
}
PATTERN = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in VOLATILE.items()))
ALWAYS_NEW = ("moment", "time", "mark")
UNCOMPARED = {"x-request-id", "x-ratelimit-reset", "content-length", "date"}

Seen = tuple[str, int, str, dict[str, str]]


class Eyes:
    """Sees the answers of one way: a text that is never the same twice as the number of its first appearance."""

    def __init__(self) -> None:
        self.met: dict[str, str] = {}
        self.mask = functools.cache(self._mask)  # a document comes again and again

    def see(self, name: str, answer: httpx.Response) -> Seen:
        headers = {name: self.mask(one) for name, one in answer.headers.items() if name not in UNCOMPARED}
        if "authorization" not in answer.request.headers and "x-ratelimit-remaining" in headers:
            headers["x-ratelimit-remaining"] = "<left>"  # of a minute that goes by meanwhile
        return name, answer.status_code, self.mask(said(answer)), headers

    def _mask(self, text: str) -> str:
        return PATTERN.sub(self._name, text)

    def _name(self, found: re.Match[str]) -> str:
        kind = str(found.lastgroup)
        if kind in ALWAYS_NEW:
            return f"<{kind}>"
        text = found[0].lstrip("'")
        return self.met.setdefault(f"{kind} {text}", f"<{kind} {len(self.met)}>")


def said(answer: httpx.Response) -> str:
    """What an answer says: of a PDF its words, for what has a number in it is compressed."""
    if answer.headers.get("content-type") != "application/pdf" or not answer.content:
        return answer.content.decode("latin-1")
    pages = pypdfium2.PdfDocument(answer.content)
    return "".join(page.get_textpage().get_text_bounded() for page in pages)


Steps = Iterator[tuple[str, httpx.Response]]


@pytest.fixture
def unwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write no counts of requests: a process does so every other second, and then only one way would show them."""
    monkeypatch.setattr(NOTES, "flush", lambda: None)


@pytest.fixture
def unspent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every candidate take a second: a quick one takes one or none, and pages do not show none."""
    monkeypatch.setattr(rules.sessions, "seconds_between", lambda *moments: 1)
    takes_one = str(answering._SAVE.statement).replace(answering.SPENT, "1")
    assert takes_one != str(answering._SAVE.statement)
    monkeypatch.setattr(answering, "_SAVE", Prepared(text(takes_one)))


def refused_keys(tenant: Tenant, operation: Documented) -> dict[str, str | None]:
    others = [one for one in SCOPES if not {one, TWINS.get(one)} & set(operation.scopes)]
    return {
        "no key": None,
        "no such key": "nonsense",
        "an expired key": tenant.key(expires_at=now()).key,
        "a key from elsewhere": tenant.key(cidrs=["203.0.113.0/24"]).key,
        "a key without the scope": tenant.key(scopes=others).key,
    }


def plain(tenant: Tenant, client: Api, operation: Documented, row: Row) -> Steps:
    """What succeeds, then what is wrong with everything but the body."""
    ids = row.state(tenant.live)
    send = functools.partial(ask, client, operation, row)
    yield "good", send(ids)
    yield "good again", send(ids)
    for one in row.also:
        yield "good otherwise", ask(client, operation, one, one.state(tenant.live))
    if operation.keyed:
        for name, key in refused_keys(tenant, operation).items():
            yield name, ask(dataclasses.replace(client, key=key), operation, row, ids)
    yield "unknown parameter", send(ids, params={**row.query, "no_such_parameter": "1"})
    yield "a parameter twice", send(ids, params=[("page_size", "0"), ("page_size", "1"), ("cursor", "x")])
    yield "no last slash", send(ids, at=operation.path.format(**ids).rstrip("/"))
    names = [one["name"] for one in operation.parameters if one["in"] == "path"]
    for name in names:
        yield f"unknown {name}", send({**ids, name: UNKNOWN})
        yield f"bad {name}", send({**ids, name: "nothing-here"})
    unchecked = functools.partial(ask, dataclasses.replace(client, checked=False), operation, row, ids)
    for method in ("HEAD", "OPTIONS", "TRACE"):
        yield method, unchecked(method=method, content=b"")
    if operation.method not in ("GET", "DELETE"):
        yield "a body where none may be", unchecked(content=b'{"colour": "blue"}')


def bodies(tenant: Tenant, client: Api, operation: Documented, row: Row) -> Steps:
    """The body in each media type, then what is wrong with it."""
    ids = row.state(tenant.live)
    send = functools.partial(ask, client, operation, row, ids)
    for media in operation.definition["requestBody"]["content"]:
        yield media, send(media=media)
        yield f"{media}, unknown field", send(media=media, body={"no_such_field": "1"})
        yield f"{media}, nothing in it", send(media=media, body={})
        large = {"Content-Type": media, "Content-Length": "9" * 12}
        yield f"{media}, too large by its own word", send(content=b"x", headers=large)
    raw = {
        "cut off": (b'{"a": 1', JSON),
        "no object": (b"[]", JSON),
        "empty": (b"", JSON),
        "too large": (b"x" * (MEBIBYTE + 1), JSON),
        "a form that is none": (b"%ff=%ff", FORM),
        "parts that are none": (b"x", MULTIPART),
        "another kind": (b"x", "text/plain"),
        "no kind": (b"x", ""),
    }
    for name, (content, kind) in raw.items():
        yield name, send(content=content, headers={"Content-Type": kind} if kind else {})
    yield "compressed", send(headers={"Content-Encoding": "gzip"})
    if operation.scopes:
        nobody = dataclasses.replace(client, key=None)
        strange = {"Content-Type": "x/y"}
        yield "no key and no body", ask(nobody, operation, row, ids, content=b"x", headers=strange)


def keyed(tenant: Tenant, client: Api, operation: Documented, row: Row) -> Steps:
    """A request that names itself: the first time, again, and for something else."""
    ids = row.state(tenant.live)
    person = {"email": api.address()}
    key = {"Idempotency-Key": "order-66"}
    for name in ("first", "again"):
        yield name, ask(client, operation, row, person | ids, headers=key)
    yield "another", client.post("/assessments/create/", {"title": "Of another request"}, headers=key)
    yield "no key that can be one", ask(client, operation, row, ids, headers={"Idempotency-Key": "x" * 256})


def cached(tenant: Tenant, client: Api, operation: Documented, row: Row) -> Steps:
    ids = row.state(tenant.live)
    mark = ask(client, operation, row, ids).headers["ETag"]
    for given in (mark, f"W/{mark}", "*", '"another"'):
        yield given, ask(client, operation, row, ids, headers={"If-None-Match": given})


def parts(operation: Documented) -> Iterator[Callable[[Tenant, Api, Documented, Row], Steps]]:
    yield plain
    if "requestBody" in operation.definition:
        yield bodies
    if any(one["name"] == "Idempotency-Key" for one in operation.parameters):
        yield keyed
    if "304" in operation.definition["responses"]:
        yield cached


@each()
def test_both_ways_answer_alike(
    operation: Documented,
    row: Row,
    http: TestClient,
    ways: tuple[TestClient, TestClient],
    endless: None,
    unwritten: None,
    unspent: None,
) -> None:
    seen: list[list[Seen]] = []
    for way in ways:
        tenant, eyes = at_home(operation, api.tenant(http, "enterprise")), Eyes()
        client = dataclasses.replace(tenant.live, http=way)
        seen.append(
            [eyes.see(*step) for part in parts(operation) for step in part(tenant, client, operation, row)]
        )
    for short, chain in zip(*seen, strict=True):
        assert short == chain
    assert seen[0][0][1] == row.status, seen[0][0]


def test_what_is_no_operation_is_answered_alike(
    http: TestClient, ways: tuple[TestClient, TestClient]
) -> None:
    asked = itertools.product(
        ("GET", "POST", "HEAD", "OPTIONS", "TRACE"), ("/org/", "/nothing/", "//org/", "/org")
    )
    requests = [*asked, ("DELETE", "/org/"), ("GET", "/assessments/create/"), ("GET", "/assessments/a/b/c/")]
    seen = []
    for way in ways:
        client, eyes = dataclasses.replace(api.tenant(http).live, http=way, checked=False), Eyes()
        seen.append([eyes.see(f"{method} {at}", client.request(method, at)) for method, at in requests])
    assert seen[0] == seen[1]
