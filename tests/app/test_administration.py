"""`hiring members` and `hiring squads`, with real processes on the tests' database."""

import subprocess
from typing import Any

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

import store
from app.instance.settings import Settings
from store.accounts import members
from store.outbox import OutboxItem
from tests.api import Tenant, address
from tests.api import tenant as make_tenant
from tests.app import instances
from tests.shared import environ
from tests.signing import a_member, nobody


@pytest.fixture
def facts(settings: Settings) -> Any:
    """Run a command; return the JSON that it prints."""
    return lambda *words: instances.facts(*words, environ=environ(settings))


@pytest.fixture
def refused(settings: Settings) -> Any:
    """Run a command that is refused; return the line that says why."""

    def run(*words: str) -> str:
        done: subprocess.CompletedProcess[str] = instances.hiring(*words, environ=environ(settings))
        assert done.returncode == 1, done.stdout
        assert done.stderr.count("\n") == 1, done.stderr
        return done.stderr

    return run


def test_people_are_invited_added_listed_and_removed(tenant: Tenant, facts: Any, refused: Any) -> None:
    org = ("--org", tenant.organisation.slug)
    made = facts("members", "invite", *org, "--email", "grace@example.com", "--role", "reviewer")
    [shown] = tenant.live.get("/org/member-invites/").json()["results"]
    assert (shown["id"], shown["email"], shown["role"], shown["invited_by"]) == (
        made["id"], "grace@example.com", "reviewer", None,
    )  # fmt: skip
    with store.transaction() as session:
        [mail] = session.scalars(
            select(OutboxItem.arguments).where(OutboxItem.organisation_id == tenant.organisation.id)
        )
    assert (mail["template"], mail["to"], mail["livemode"]) == ("member-invite", "grace@example.com", True)
    assert len(mail["join_url"].rpartition("/join/")[2]) >= 40
    assert "invited already" in refused("members", "invite", *org, "--email", "GRACE@example.com")
    added = facts("members", "add", *org, "--email", "grace@example.com", "--name", "Grace")
    assert tenant.live.get("/org/member-invites/").json()["results"] == []
    assert facts("members", "list", *org) == [
        {"user_id": added["user_id"], "email": "grace@example.com", "name": "Grace", "role": "member"}
    ]
    removed = facts("members", "remove", *org, "--email", "grace@example.com")
    assert removed == {"removed": "member", "email": "grace@example.com"}
    assert tenant.live.get("/org/team/").json()["results"] == []


def test_no_seat_no_invite(http: TestClient, refused: Any) -> None:
    organisation = make_tenant(http, "starter").organisation
    for _ in range(5):
        with store.transaction() as session:
            members.invite(session, organisation=organisation, email=address(), role="member")
    words = ("members", "invite", "--org", organisation.slug, "--email", "ada@example.com")
    assert "seat" in refused(*words)


def test_squads_are_made_listed_and_joined(tenant: Tenant, other: Tenant, facts: Any, refused: Any) -> None:
    org = ("--org", tenant.organisation.slug)
    made = facts("squads", "create", "Platform team", *org)
    assert facts("squads", "list", *org) == [{**made, "name": "Platform team"}]
    with store.transaction() as session:
        user = members.add(
            session, organisation=tenant.organisation, email=address(), name="Ada", role="member"
        )
        id = str(user.user_id)
    assert facts("squads", "add", made["id"], id, *org) == {"squad": made["id"], "user_id": id}
    [shown] = tenant.live.get(f"/org/squads/{made['id']}/members/").json()["results"]
    assert shown["user_id"] == id
    assert "no such squad" in refused("squads", "add", other.live.squad()["id"], id, *org)


def test_a_link_to_sign_in_is_made_where_there_is_no_mail(tenant: Tenant, facts: Any, refused: Any) -> None:
    person = a_member(tenant, "developer")
    [made] = facts("members", "link", person.email)
    assert (made["organisation"], made["role"]) == (tenant.organisation.name, "developer")
    token = made["url"].rstrip("/").rpartition("/")[2]
    assert nobody(tenant).post("/sign-in/code/", {"token": token}).status_code == 200
    assert "Nobody has the address" in refused("members", "link", "nobody@example.com")
