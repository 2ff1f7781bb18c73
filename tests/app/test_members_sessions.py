"""What a member's session may do: by role, by squad, in one mode, and only from pages of our own."""

from typing import Any

import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

import store
from app.http import limits as counted
from rules import links, tokens
from rules.roles import ROLES
from rules.scopes import SCOPES
from store.accounts import limits
from tests import api
from tests.api import Api, Tenant
from tests.documents import operations
from tests.probes import path, refusal
from tests.trail import log, seal

OPERATIONS = [one for one in operations("openapi").values() if one.scopes]
WRITES = {
    "owner": {one.partition(":")[0] for one in SCOPES},
    "reviewer": {"assessments"},
    "member": set(),
}
WRITES["admin"] = WRITES["owner"]
WRITES["developer"] = WRITES["owner"] - {"organisation"}
WRITES["recruiter"] = WRITES["owner"] - {"organisation", "webhooks", "test"}
READS = dict.fromkeys(ROLES, WRITES["owner"])
READS["recruiter"] = WRITES["owner"] - {"webhooks"}
READS["reviewer"] = {"assessments", "candidates", "invitations"}


def session_of(person: Api) -> str:
    return person.headers["Cookie"].partition("=")[2].partition(";")[0]


def may(role: str, scope: str) -> bool:
    resource, _, deed = scope.partition(":")
    return resource in (READS if deed == "read" else WRITES)[role]


@pytest.fixture(scope="module")
def owner(http: TestClient) -> Tenant:
    return api.tenant(http, "enterprise")


@pytest.mark.parametrize("role", ROLES)
def test_a_role_opens_what_its_table_says_and_nothing_else(owner: Tenant, role: str) -> None:
    person = owner.member(role)
    person.base, person.checked = "", False
    wrong = []
    for operation in OPERATIONS:
        answer = person.request(operation.method, path(operation))
        body = answer.json() if "json" in answer.headers.get("content-type", "") else {}
        code = body.get("error", body).get("code") if answer.status_code >= 400 else None
        if (code == "INSUFFICIENT_SCOPE") == may(role, operation.scopes[0]) or answer.status_code in (
            401,
            500,
        ):
            wrong.append((operation.id, answer.status_code, code))
    assert wrong == []


@pytest.mark.parametrize("name", ["cookie", "token", "foreign", "other method"])
def test_a_change_needs_the_token_that_the_sessions_own_pages_know(owner: Tenant, name: str) -> None:
    person = owner.member()
    given = {
        "cookie": {},  # what another site's form makes a browser send
        "token": {"X-CSRF-Token": "é".encode("latin-1")},
        "foreign": {"X-CSRF-Token": owner.member().headers["X-CSRF-Token"]},
        "other method": {"X-CSRF-Token": "", "X-HTTP-Method-Override": "GET"},
    }[name]
    person.headers = {"Cookie": person.headers["Cookie"]} | given  # type: ignore[assignment]  # bytes are sent as they are
    person.checked = False
    refusal(person.post("/assessments/create/", {"title": "Not ours"}), 403, "CSRF_FAILED")
    assert person.get("/assessments/").status_code == 200


def test_a_key_counts_before_a_session(owner: Tenant) -> None:
    person = owner.member("member")
    key = {"Authorization": f"Bearer {owner.live.key}"}
    assert person.post("/assessments/create/", {"title": "By key"}, headers=key).status_code == 201
    wrong = {"Authorization": "Bearer nothing"}
    refusal(person.get("/assessments/", headers=wrong), 401, "INVALID_API_KEY")


def test_a_session_is_in_the_mode_that_it_names(owner: Tenant) -> None:
    owner.live.assessment(title="Live alone")
    titles: dict[bool, Any] = {}
    for livemode in (True, False):
        found = owner.member(livemode=livemode).get("/assessments/", params={"search": "Live alone"})
        titles[livemode] = [one["title"] for one in found.json()["results"]]
    assert titles == {True: ["Live alone"], False: []}
    person = owner.member()
    person.headers["X-Livemode"] = "both"
    assert (
        refusal(person.get("/assessments/"), 400)["details"]["fields"][0]["pointer"] == "/header/X-Livemode"
    )


def test_a_session_of_another_organisation_sees_nothing(owner: Tenant, other: Tenant) -> None:
    made = owner.live.assessment()
    stranger = other.member(livemode=True)
    refusal(stranger.get(f"/assessments/{made['slug']}/"), 404)


@pytest.mark.parametrize("change", [
    "DELETE FROM members", "UPDATE member_sessions SET expires_at = now()",
    "UPDATE member_sessions SET seen_at = now() - interval '13 hours'", "DELETE FROM member_sessions",
], ids=["removed", "too old", "idle", "ended"])  # fmt: skip
def test_a_session_ends_at_once(tenant: Tenant, change: str) -> None:
    person = tenant.member()
    assert person.get("/org/").status_code == 200
    token = session_of(person)
    with store.transaction() as session:
        member = "SELECT member_id FROM member_sessions WHERE hash = encode(sha256(:token), 'hex')"
        column = "id" if change.endswith(" members") else "member_id"
        session.execute(text(f"{change} WHERE {column} IN ({member})"), {"token": token.encode()})
    person.checked = False
    refusal(person.get("/org/"), 401, "INVALID_SESSION")


def test_a_session_is_kept_as_its_hash_alone(owner: Tenant) -> None:
    token = session_of(owner.member())
    with store.transaction() as session:
        kept = session.execute(text("SELECT member_sessions::text FROM member_sessions")).scalars().all()
    assert not any(token in one or tokens.page_token(token) in one for one in kept)


def test_a_sessions_calls_count_for_its_member_alone(owner: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted, "MEMBER_LIMIT", 2)
    before = owner.live.get("/org/").headers["X-RateLimit-Remaining"]
    person, colleague = owner.member(), owner.member()
    answers = [person.get("/org/") for _ in range(3)]
    assert [one.status_code for one in answers] == [200, 200, 429]
    assert answers[0].headers["X-RateLimit-Limit"] == "2"
    assert colleague.get("/org/").status_code == 200
    assert int(owner.live.get("/org/").headers["X-RateLimit-Remaining"]) == int(before) - 1
    assert not limits.away()


def test_a_member_stands_in_the_audit_log_by_their_id(tenant: Tenant) -> None:
    person = tenant.member(livemode=True)
    me = next(one for one in tenant.live.get("/org/team/").json()["results"])
    assert person.post("/jobs/create/", {"title": "By hand"}).status_code == 201
    refusal(person.post("/jobs/create/", {}), 400)
    seal()
    [done] = log(tenant.live, action="create_job", outcome="success")
    assert done["actor"] == {"type": "member", "id": me["user_id"], "name": None}
    assert done["channel"] == "area"


def test_a_key_is_what_get_key_shows_and_a_session_has_none(owner: Tenant) -> None:
    refusal(owner.member().get("/key/"), 401, "INVALID_API_KEY")


# --- Squads


@pytest.fixture
def squads(tenant: Tenant) -> dict[str, Any]:
    """Two squads, each with a job, an application, an assessment, an invitation, a pipeline and an enrollment."""
    made: dict[str, Any] = {}
    for name in ("ours", "theirs"):
        team = tenant.live.squad(name)["id"]
        job = tenant.live.job(published=True, team_id=team)["slug"]
        tested = tenant.live.assessment(team_id=team)["slug"]
        invited = tenant.live.invitation(tested)["invite_token"]
        pipeline = tenant.live.pipeline(team_id=team)["slug"]
        person = {"email": api.address(), "name": "Ada"}
        enrolled = tenant.live.post(f"/pipelines/{pipeline}/enroll/", person).json()["id"]
        room = {"title": name, "pipeline_enrollment_id": enrolled}
        made[name] = {
            "squad": team,
            "jobs": job,
            "assessments": tested,
            "pipelines": pipeline,
            "applications": tenant.live.application(job)["id"],
            "invites": invited,
            "pipelines/enrollments": enrolled,
            "interviews": tenant.live.post("/interviews/create/", room).json()["id"],
        }
    return made


@pytest.mark.parametrize("role", ["recruiter", "owner"])
def test_a_member_of_squads_sees_what_is_theirs_or_nobodys(
    tenant: Tenant, squads: dict[str, Any], role: str
) -> None:
    everybodys = tenant.live.job()["slug"]
    person = tenant.member(role, squads=[squads["ours"]["squad"]], livemode=True)
    for kind, own in squads["ours"].items():
        if kind == "squad":
            continue
        assert person.get(f"/{kind}/{own}/").status_code == 200, kind
        foreign = person.get(f"/{kind}/{squads['theirs'][kind]}/")
        assert foreign.status_code == (200 if role == "owner" else 404), kind
        if kind in ("jobs", "assessments", "pipelines", "applications", "interviews"):
            listed = {one.get("slug") or one["id"] for one in person.get(f"/{kind}/").json()["results"]}
            assert own in listed
            assert (squads["theirs"][kind] in listed) == (role == "owner"), kind
    assert person.get(f"/jobs/{everybodys}/").status_code == 200


def test_a_member_of_no_squad_sees_what_is_nobodys(tenant: Tenant, squads: dict[str, Any]) -> None:
    person = tenant.member("recruiter", livemode=True)
    refusal(person.get(f"/jobs/{squads['ours']['jobs']}/"), 404)
    assert person.get("/jobs/").json()["results"] == []


def test_a_member_of_squads_invites_to_and_applies_for_what_is_theirs(
    tenant: Tenant, squads: dict[str, Any]
) -> None:
    person = tenant.member("recruiter", squads=[squads["ours"]["squad"]], livemode=True)
    for name, status in {"ours": 201, "theirs": 404}.items():
        one = squads[name]
        invited = person.post(f"/assessments/{one['assessments']}/invites/", {"email": api.address()})
        applied = {"job_slug": one["jobs"], "email": api.address(), "full_name": "Ada"}
        assert (invited.status_code, person.post("/applications/create/", applied).status_code) == (
            status,
        ) * 2
    assert {
        tenant.live.get(f"/jobs/{squads[name]['jobs']}/").json()["application_count"] for name in squads
    } == {
        1,
        2,
    }


def test_a_member_gives_nothing_to_a_squad_that_is_not_theirs(tenant: Tenant, squads: dict[str, Any]) -> None:
    person = tenant.member("recruiter", squads=[squads["ours"]["squad"]], livemode=True)
    refused = person.post("/jobs/create/", {"title": "Gone", "team_id": squads["theirs"]["squad"]})
    assert refusal(refused, 400)["details"]["fields"][0]["pointer"] == "/team_id"
    refusal(person.patch(f"/jobs/{squads['theirs']['jobs']}/update/", {"title": "Taken"}), 404)
    assert (
        person.post("/jobs/create/", {"title": "Kept", "team_id": squads["ours"]["squad"]}).status_code == 201
    )


def test_a_key_sees_every_squad(tenant: Tenant, squads: dict[str, Any]) -> None:
    assert tenant.live.get(f"/jobs/{squads['theirs']['jobs']}/").status_code == 200


def test_a_cookies_name_says_that_it_came_by_https(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "_base_url", "https://hiring.example.com")
    assert links.cookie() == "__Host-session"
    monkeypatch.setattr(links, "_base_url", "http://localhost:8080")
    assert links.cookie() == "hiring-session"
