"""The service as its clients see it: every answer is checked against the document."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
from starlette.testclient import TestClient

import store
from rules import links, tokens
from store.accounts import keys, organisations, signed_in
from store.accounts.members import Member
from store.accounts.squads import SquadMember
from tests.documents import check

PUBLIC = "/api/v1/public"
_numbers = itertools.count(1)


@dataclass
class Api:
    """One API key at work."""

    http: TestClient
    key: str | None
    base: str = PUBLIC
    checked: bool = True
    headers: dict[str, str] = field(default_factory=dict)  # of each request: a member's session

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = self.headers | dict(options.pop("headers", {}))
        if self.key:
            headers.setdefault("Authorization", f"Bearer {self.key}")
        response = self.http.request(method, self.base + path, headers=headers, **options)
        self.http.cookies.clear()  # no test's session is another's
        if self.checked:
            check(response)
        return response

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, json: Any = None, **options: Any) -> httpx.Response:
        return self.request("POST", path, **({"json": json} if json is not None else {}), **options)

    def put(self, path: str, json: Any = None, **options: Any) -> httpx.Response:
        return self.request("PUT", path, json=json, **options)

    def patch(self, path: str, json: Any = None, **options: Any) -> httpx.Response:
        return self.request("PATCH", path, json=json, **options)

    def delete(self, path: str, **options: Any) -> httpx.Response:
        return self.request("DELETE", path, **options)

    # Things that many tests need; each makes one and returns what the service answered.

    def assessment(self, *, active: bool = True, cases: int = 0, **settings: Any) -> dict[str, Any]:
        """Make an assessment, with the first cases of the catalogue, active unless told otherwise."""
        wanted = []
        if cases:
            found = self.get("/platform-cases/", params={"page_size": cases}).json()["results"]
            wanted = [{"case_id": case["id"]} for case in found]
        made = self.post("/assessments/create/", {"title": "Backend engineer", "cases": wanted, **settings})
        assert made.status_code == 201, made.text
        if not active:
            return dict(made.json())
        moved = self.patch(f"/assessments/{made.json()['slug']}/update/", {"status": "active"})
        assert moved.status_code == 200, moved.text
        return dict(moved.json())

    def invitation(self, slug: str, email: str | None = None, **fields: Any) -> dict[str, Any]:
        """Invite somebody."""
        made = self.post(f"/assessments/{slug}/invites/", {"email": email or address(), **fields})
        assert made.status_code == 201, made.text
        return dict(made.json())

    def job(self, *, published: bool = False, **settings: Any) -> dict[str, Any]:
        """Draft a job, and open it if told to."""
        made = self.post("/jobs/create/", {"title": "Senior backend engineer", **settings})
        assert made.status_code == 201, made.text
        if not published:
            return dict(made.json())
        opened = self.post(f"/jobs/{made.json()['slug']}/publish/")
        assert opened.status_code == 200, opened.text
        return dict(opened.json())

    def squad(self, name: str = "Platform team") -> dict[str, Any]:
        """Make a squad."""
        made = self.post("/org/squads/", {"name": name})
        assert made.status_code == 201, made.text
        return dict(made.json())

    def pipeline(self, *stages: dict[str, Any], **settings: Any) -> dict[str, Any]:
        """Make a pipeline, of one stage that waits for a person unless told otherwise."""
        wanted = stages or ({"stage_type": "manual_review"},)
        made = self.post("/pipelines/create/", {"title": "Engineering", "stages": wanted, **settings})
        assert made.status_code == 201, made.text
        return dict(made.json())

    def application(self, job: str, email: str | None = None, **fields: Any) -> dict[str, Any]:
        """Apply for a job by its slug."""
        person = {"email": email or address(), "full_name": "Ada Lovelace", **fields}
        made = self.post("/applications/create/", {"job_slug": job, **person})
        assert made.status_code == 201, made.text
        return dict(made.json())


@dataclass
class Tenant:
    """An organisation with a key for each mode."""

    organisation: organisations.Organisation
    live: Api
    test: Api
    http: TestClient = field(repr=False)
    is_at_home: bool = True  # in live mode; else `live` is the test mode, where the test world is at home

    def in_tests(self) -> "Tenant":
        """The same with its modes in each other's place."""
        return Tenant(self.organisation, self.test, self.live, self.http, is_at_home=not self.is_at_home)

    def key(self, *, livemode: bool | None = None, **limits: Any) -> Api:
        """Another key of this organisation."""
        livemode = self.is_at_home if livemode is None else livemode
        with store.transaction() as session:
            _, key = keys.create(
                session, organisation=self.organisation, name="extra", livemode=livemode, **limits
            )
        return Api(self.http, key)

    def member(self, role: str = "owner", *, squads: Iterable[str] = (), livemode: bool = False) -> Api:
        """A new member's session."""
        with store.transaction() as session:
            made = Member(organisation_id=self.organisation.id, email=address(), name="Grace", role=role)
            session.add(made)
            session.flush()
            for one in squads:
                session.add(SquadMember(squad_id=UUID(one), user_id=made.user_id))
            _, token = signed_in.begin(session, made.id, address="198.51.100.7", agent="a browser")
        return Api(self.http, None, headers=of_session(token, livemode=livemode))


_owners: dict[str, UUID] = {}


def owner_session(api: Api) -> dict[str, str]:
    """The headers of a new session of the owner whose organisation's key this is: the same person each time."""
    with store.transaction() as session:
        found = keys.find(session, str(api.key))
        assert found
        place = str(found.organisation_id)
        if place not in _owners:
            owner = {"email": address(), "name": "Grace Hopper", "role": "owner"}
            made = Member(organisation_id=found.organisation_id, **owner)
            session.add(made)
            session.flush()
            _owners[place] = made.id
        _, token = signed_in.begin(session, _owners[place], address="198.51.100.7", agent="a browser")
    return of_session(token, livemode=found.livemode)


def of_session(token: str, *, livemode: bool = False) -> dict[str, str]:
    """The headers of a page's script."""
    mode = str(livemode).lower()
    return {
        "Cookie": f"{links.cookie()}={token}; area-livemode={mode}",
        "X-CSRF-Token": tokens.page_token(token),
        "X-Livemode": mode,
    }


def address() -> str:
    """An email address that nobody had before."""
    return f"candidate-{next(_numbers)}@example.com"


def tenant(http: TestClient, plan: str = "growth") -> Tenant:
    """Make an organisation."""
    with store.transaction() as session:
        organisation = organisations.create(session, name=f"Northwind {next(_numbers)}", plan=plan)
        _, live = keys.create(session, organisation=organisation, name="live", livemode=True)
        _, test = keys.create(session, organisation=organisation, name="test", livemode=False)
    return Tenant(organisation, Api(http, live), Api(http, test), http)
