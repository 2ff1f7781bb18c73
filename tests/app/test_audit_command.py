"""Commands and processes in the audit log: what they leave there, and `hiring audit verify`."""

import json
import re
import subprocess
import sys
from typing import Any

import pytest
from sqlalchemy import text

import store
from app.cli import audit
from app.http.application import create_app
from app.http.records.notes import NOTES
from app.instance.settings import Settings
from store.database import secrets
from tests import api
from tests.api import Tenant
from tests.app.instances import eventually
from tests.client import Client
from tests.shared import HIRING, environ, process
from tests.trail import clear, log, seal


def hiring(settings: Settings, *words: str, **given: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*HIRING, *words],
        cwd="/",
        env=environ(settings) | given,
        capture_output=True,
        text=True,
        check=False,
    )


def answered(settings: Settings, *words: str) -> Any:
    done = hiring(settings, *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_each_command_that_changes_something_leaves_a_row(tenant: Tenant, settings: Settings) -> None:
    slug = tenant.organisation.slug
    key = answered(settings, "keys", "create", "--org", slug, "--mode", "live")["id"]
    answered(settings, "keys", "list", "--org", slug)
    answered(settings, "keys", "revoke", key)
    member = answered(
        settings, "members", "add", "--org", slug, "--email", "wilhelmina@example.com", "--name", "Wilhelmina"
    )
    person = ("--org", slug, "--email", "grace@example.com")
    invite = answered(settings, "members", "invite", *person)
    answered(settings, "members", "remove", *person)
    squad = answered(settings, "squads", "create", "Platform", "--org", slug)
    answered(settings, "squads", "add", squad["id"], member["user_id"], "--org", slug)
    rows = log(tenant.live)
    assert [(row["action"], row["resource_type"], row["resource_id"]) for row in reversed(rows)] == [
        ("keys.create", "key", key),
        ("keys.revoke", "key", key),
        ("members.add", "member", member["id"]),
        ("members.invite", "member_invite", invite["id"]),
        ("members.remove", "member", None),
        ("squads.create", "squad", squad["id"]),
        ("squads.add", "squad", squad["id"]),
    ]
    assert log(tenant.test) == rows  # of no mode
    for row in rows:
        assert row["actor"] == {"type": "cli", "id": None, "name": None}
        assert (row["channel"], row["outcome"], row["method"], row["ip"]) == ("cli", "success", None, None)
    assert not {"wilhelmina", "grace"} & set(re.findall(r"[a-z]+", str(rows).lower()))


def test_verifying_says_what_it_looked_at_and_names_what_is_wrong(tenant: Tenant, settings: Settings) -> None:
    clear()
    for _ in range(3):
        tenant.live.job()
    seal()
    assert answered(settings, "audit", "verify") == {"rows": 3, "chains": 1, "anchors": 1, "faults": []}
    with store.transaction() as session:
        session.execute(text("UPDATE audit_rows SET action = 'nothing' WHERE number = 2"))
    done = hiring(settings, "audit", "verify", "--json")
    assert done.returncode == 1
    [fault] = json.loads(done.stdout)["faults"]
    assert (fault["organisation_id"], fault["number"]) == (str(tenant.organisation.id), 2)
    words = hiring(settings, "audit", "verify")
    assert words.returncode == 1
    assert fault["row_id"] in words.stdout
    assert str(tenant.organisation.id) in words.stdout
    clear()


def test_a_new_key_of_the_instance_verifies_what_an_older_one_sealed(
    tenant: Tenant, settings: Settings
) -> None:
    clear()
    tenant.live.job()
    seal()
    both = {"SECRET_KEY": f"another-key,{settings.secret_key}"}
    assert hiring(settings, "audit", "verify", **both).returncode == 0
    assert hiring(settings, "audit", "verify", SECRET_KEY="another-key").returncode == 1
    hiring(settings, "secrets", "reencrypt", **both)
    assert hiring(settings, "audit", "verify", SECRET_KEY="another-key").returncode == 0
    back = {"SECRET_KEY": f"{settings.secret_key},another-key"}
    hiring(settings, "secrets", "reencrypt", **back)  # other tests left what no key reads
    assert hiring(settings, "audit", "verify").returncode == 0
    secrets.configure(settings.secret_key)


def test_a_schedule_seals_what_is_done_meanwhile(tenant: Tenant, settings: Settings) -> None:
    with process(settings, "schedule", ready="The schedule is ready."):
        tenant.live.job()
        found = eventually(lambda: tenant.live.get("/org/audit-log/").json()["results"])
    assert [row["action"] for row in found] == ["create_job"]


def test_a_web_process_that_is_asked_to_stop_writes_what_it_noted(settings: Settings, http: Any) -> None:
    """Told by the end of the application's lifespan, which is that of its process."""
    with Client(create_app(settings), base_url=settings.base_url) as client:
        mine = api.tenant(client)
        mine.live.get("/assessments/nothing/")
        NOTES.flush()
        mine.live.get("/assessments/nothing/")
    with store.transaction() as session:
        [(count,)] = session.execute(
            text("SELECT reads FROM request_counts WHERE organisation_id = :id"), {"id": mine.organisation.id}
        ).all()
    assert count == 2


@pytest.mark.parametrize("terminal", [True, False])
def test_how_far_a_verification_is_stands_in_one_line_or_in_few(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    tell = audit._telling()
    for done in (50_000, 100_000, 150_000, 200_000, 230_000):
        tell(done, 230_000)
    said = capsys.readouterr()
    assert said.out == ""
    lines = re.split(r"[\r\n]+", said.err.strip())
    assert lines[-1] == ("230,000 of 230,000 rows" if terminal else "200,000 of 230,000 rows")
    assert len(lines) == (5 if terminal else 2)
