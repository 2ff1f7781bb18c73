"""What an open load asks for: a mix of reads, writes and candidates' saves over some organisations, or one thing alone.

Whoever asks has an address of their own, as behind a proxy: candidates of one address would share its turns and limits.
Each maker is given a seed and gives calls without an end; what the same seed makes is the same each time.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Address
from random import Random
from typing import Any, NamedTuple
from uuid import UUID
from zlib import crc32

PREFIX = "/api/v1/public"
HOST = "Host: 127.0.0.1\r\n"
PROXIED = {"TRUSTED_PROXIES": "127.0.0.1"}  # so that addresses are believed
CANDIDATE = "/api/v1/candidate/invites"
# What is known of the rows (bench.scale_rows), here so that a load begins without all that they are made by.
EXTRA = 20  # assessments and jobs of the large organisation, beside the one that each has
STARTED = 5  # one invitation of so many
CASE = UUID(int=65)  # the place that each session's case was taken from


def key(organisation: int) -> str:
    """Return an organisation's key."""
    return f"ct_live_{organisation:040}"


class Call(NamedTuple):
    """One request as it goes out, and the status that it is to be answered with."""

    kind: str
    request: bytes
    status: int


class Among:
    """The organisations that are asked for: by their numbers, and what each has (see bench.scale_rows)."""

    def __init__(self, given: Mapping[str, Any], chance: Random) -> None:
        self.all, self.rows = given["organisations"], given["rows"]
        first, self.count = given["first"], given["count"]
        self.numbers = range(first, first + self.count)
        self.chance, self.mark, self.made = chance, given["mark"], 0

    def one(self) -> int:
        return self.chance.choice(self.numbers)

    def row(self, organisation: int, step: int = 1) -> int:
        """Return the number of a row of its; with STARTED as `step`, of an invitation that has been started."""
        if organisation == 0:
            return 2 * step * self.chance.randrange(self.rows // 2 // step)
        each = self.rows // 2 // (self.all - 1)
        turn = step * self.chance.randrange(max(1, each // step))
        return 2 * (organisation - 1 + (self.all - 1) * turn) + 1

    def parent(self, organisation: int) -> int:
        """Return the number that the slugs of an assessment and a job of its end in."""
        return self.all + self.chance.randrange(EXTRA) if organisation == 0 else organisation

    def fresh(self) -> str:
        """Return a name that nobody was called by before."""
        self.made += 1
        return f"{self.mark}-{self.made}"


def _get(path: str) -> Callable[[Among, int], tuple[str, str, Any]]:
    """Make what asks for a path; in it `{parent}` and `{row}` stand for what the organisation has."""

    def make(among: Among, organisation: int) -> tuple[str, str, Any]:
        filled = path.format(parent=among.parent(organisation), row=among.row(organisation))
        return "GET", PREFIX + filled, None

    return make


def _invite(among: Among, organisation: int) -> tuple[str, str, Any]:
    body = {"email": f"i-{among.fresh()}@example.com", "name": "Ada Lovelace", "tags": ["spring"]}
    return "POST", f"{PREFIX}/assessments/assessments-{among.parent(organisation)}/invites/", body


def _apply(among: Among, organisation: int) -> tuple[str, str, Any]:
    body = {"job_slug": f"jobs-{among.parent(organisation)}", "email": f"a-{among.fresh()}@example.com"}
    return "POST", f"{PREFIX}/applications/create/", body | {"full_name": "Ada Lovelace", "source": "import"}


def _change(among: Among, organisation: int) -> tuple[str, str, Any]:
    body = {"description": f"Changed for {among.fresh()}."}
    return "PATCH", f"{PREFIX}/assessments/assessments-{among.parent(organisation)}/update/", body


def _save(among: Among, organisation: int) -> tuple[str, str, Any]:
    token = f"token-{among.row(organisation, STARTED)}"
    return "PUT", f"{CANDIDATE}/{token}/answers/{CASE}/", {"answer": f"It depends: {among.fresh()}. " * 8}


# Each with how many of a hundred requests it is, whether it needs the organisation's key, what makes it, its answer.
MIXED: dict[str, tuple[int, bool, Callable[[Among, int], tuple[str, str, Any]], int]] = {
    "get assessment": (14, True, _get("/assessments/assessments-{parent}/"), 200),
    "list invites": (14, True, _get("/invites/?page_size=20"), 200),
    "get invite": (12, True, _get("/invites/token-{row}/"), 200),
    "list applications": (10, True, _get("/applications/?page_size=20"), 200),
    "get job": (6, True, _get("/jobs/jobs-{parent}/"), 200),
    "list jobs": (5, True, _get("/jobs/?page_size=20"), 200),
    "list assessments": (5, True, _get("/assessments/?page_size=20"), 200),
    "list candidates": (4, True, _get("/candidates/?page_size=20"), 200),
    "invite": (15, True, _invite, 201),
    "apply": (3, True, _apply, 201),
    "change assessment": (2, True, _change, 200),
    "save answer": (10, False, _save, 200),
}


def mixed(given: Mapping[str, Any], chance: Random) -> Iterator[Call]:
    """Make calls of the mix, each for one of the organisations."""
    among = Among(given, chance)
    kinds, weights = list(MIXED), [one[0] for one in MIXED.values()]
    while True:
        for kind in chance.choices(kinds, weights, k=1000):
            yield of(kind, among)


def of(kind: str, among: Among) -> Call:
    """Make one call of a kind of the mix."""
    _, keyed, make, status = MIXED[kind]
    organisation = among.one()
    method, path, body = make(among, organisation)
    sent = (
        written(method, path, body, key(organisation))
        if keyed
        else written(method, path, body, address=anywhere(path))
    )
    return Call(kind, sent, status)


def anywhere(who: str) -> str:
    """Return the address of somebody."""
    return str(IPv4Address(0x0A000000 + crc32(who.encode()) % 0x1000000))


def pages(given: Mapping[str, Any], chance: Random) -> Iterator[Call]:
    """Make calls for careers pages: a job's, and by turns the list of its organisation's jobs."""
    among = Among(given, chance)
    while True:
        company, address = f"/careers/company-{(one := among.one())}/", anywhere(among.fresh())
        yield Call("careers list", written("GET", company, address=address), 200)
        yield Call("careers job", written("GET", f"{company}jobs-{among.parent(one)}/", address=address), 200)


def one(given: Mapping[str, Any], _chance: Random) -> Iterator[Call]:
    """Make the same call again and again."""
    call = Call("GET", written("GET", given["path"]), 200)
    while True:
        yield call


MAKERS = {"mixed": mixed, "pages": pages, "one": one}


def written(method: str, path: str, body: Any = None, key: str = "", address: str = "") -> bytes:
    """Write a request as it goes out."""
    head = f"{method} {path} HTTP/1.1\r\n{HOST}"
    head += f"Authorization: Bearer {key}\r\n" if key else ""
    head += f"X-Forwarded-For: {address}\r\n" if address else ""
    if body is None:
        return f"{head}\r\n".encode()
    content = json.dumps(body).encode()
    head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
    return f"{head}\r\n".encode() + content
