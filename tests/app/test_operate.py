"""The commands of those who run the service, with real processes."""

import json
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import standardwebhooks
from sqlalchemy import text

import store
from app.cli.world import listen
from app.http.records.notes import NOTES
from app.instance import doctor, places
from app.instance.settings import Settings
from store import outbox
from store.accounts import limits, organisations, room
from store.database import aside, engine, secrets
from store.database.aside import Row
from store.database.ids import new_id
from store.delivering import webhooks
from store.operating import health
from tests import receiver as receivers
from tests.api import Tenant
from tests.app.instances import ENVIRON, hiring, up
from tests.hooks import caller, endpoint_of, happen, new_endpoint, wired
from tests.servers import database
from tests.shared import HIRING, environ

__all__ = ["caller", "wired"]


# --- hiring listen


@pytest.fixture
def lines() -> Iterator[Any]:
    """Start `hiring listen` and wait for the lines that it prints."""
    started: list[subprocess.Popen[str]] = []
    said: list[str] = []
    changed = threading.Condition()

    def read(process: subprocess.Popen[str]) -> None:
        assert process.stdout
        for line in process.stdout:
            with changed:
                said.append(line)
                changed.notify_all()

    def start(*words: str) -> Any:
        process = subprocess.Popen(
            [*HIRING, "listen", *words], stdout=subprocess.PIPE, text=True, cwd="/", env=ENVIRON
        )
        started.append(process)
        threading.Thread(target=read, args=[process], daemon=True).start()

        def wait_for(*words: str) -> str:
            def there() -> str | None:
                return next((line for line in said if all(word in line for word in words)), None)

            with changed:
                assert changed.wait_for(there, timeout=60), said
                return str(there())

        return wait_for

    yield start
    for process in started:
        process.terminate()
        process.wait(20)
        assert process.stdout
        process.stdout.close()


def test_test_mode_events_are_printed_and_forwarded_signed(folder: Path, lines: Any) -> None:
    data = folder / "data"
    with up(data) as instance, receivers.running() as receiver:
        wait_for = lines("--forward", receiver.url, "--data", str(data))
        secret = wait_for("whsec_").strip()
        key = instance.facts["test_key"]
        for kind in ("live_key", "test_key"):
            assessment(instance.facts["base_url"], instance.facts[kind])
        (request,) = receiver.wait_for(1)
        event = standardwebhooks.Webhook(secret).verify(request.body, request.headers)
        assert (event["type"], event["livemode"]) == ("invitation.created", False)
        assert event["id"] in wait_for("invitation.created", event["id"])
        wait_for("200 OK")
        feed = httpx.get(
            f"{instance.facts['base_url']}/api/v1/public/events/", headers={"Authorization": f"Bearer {key}"}
        )
        assert feed.json()["results"] == [event]


def assessment(base_url: str, key: str) -> None:
    """Invite somebody."""
    with httpx.Client(
        base_url=f"{base_url}/api/v1/public", headers={"Authorization": f"Bearer {key}"}, timeout=30
    ) as api:
        slug = api.post("/assessments/create/", json={"title": "Listening"}).json()["slug"]
        assert api.patch(f"/assessments/{slug}/update/", json={"status": "active"}).status_code == 200
        assert api.post(f"/assessments/{slug}/invites/", json={"email": "a@example.com"}).status_code == 201


def test_what_cannot_be_listened_to_is_said(folder: Path) -> None:
    nothing = hiring("listen", "--data", str(folder / "none"))
    assert (nothing.returncode, "Nothing runs" in nothing.stderr) == (1, True)
    live = hiring("listen", "--url", "http://127.0.0.1:1", "--key", "ct_live_x")
    assert "test-mode key" in live.stderr
    gone = hiring("listen", "--url", "http://127.0.0.1:1", "--key", "ct_test_x")
    assert "does not answer" in gone.stderr
    odd = hiring(
        "listen", "--url", "http://127.0.0.1:1", "--key", "ct_test_x", "--types", "invitation.create"
    )
    assert "invitation.created" in odd.stderr


def test_half_of_the_hours_reads_is_left_to_others() -> None:
    feed = listen.Feed(listen.Source("http://127.0.0.1:1", "ct_test_x"))
    feed._heed(httpx.Headers({"X-RateLimit-Limit": "500", "X-RateLimit-Remaining": "400"}))
    assert feed._pause == 1.0
    feed._heed(httpx.Headers({"X-RateLimit-Limit": "500", "X-RateLimit-Remaining": "250"}))
    assert feed._pause == 14.4


# --- hiring doctor


@pytest.fixture
def patient(wired: Settings, servers: dict[str, str], migrated: str) -> Iterator[Settings]:
    """An instance with a database of its own, in which nothing waits that other tests left."""
    with database(servers["postgres"], migrated) as url:
        engine.configure(url)
        yield replace(wired, database_url=url)
        NOTES.flush()
        engine.configure(wired.database_url)
    limits.configure(wired.redis_url)
    secrets.configure(wired.secret_key)
    room.configure(most_mb=wired.files_most_mb)


def told(settings: Settings, level: str = "wrong") -> dict[str, str]:
    return {one.subject: one.text for one in doctor.examine(settings) if one.level == level}


def test_a_healthy_instance_has_nothing_wrong(patient: Settings) -> None:
    assert told(patient) == {}
    assert {"database", "schema", "redis", "relay", "schedule"} <= set(told(patient, "ok"))


@pytest.mark.parametrize(
    ("change", "subject", "words"),
    [
        ({"database_url": "postgresql://nobody@127.0.0.1:1/x"}, "database", "DATABASE_URL"),
        ({"redis_url": "redis://127.0.0.1:1/0"}, "redis", "REDIS_URL"),
        ({"smtp_url": "smtp://127.0.0.1:1"}, "mail", "127.0.0.1:1"),
    ],
)
def test_a_server_that_is_away_is_named(
    patient: Settings, change: dict[str, str], subject: str, words: str
) -> None:
    assert words in told(replace(patient, **change))[subject]  # type: ignore[arg-type]


def test_what_waits_too_long_is_said_with_what_helps(patient: Settings, caller: Any) -> None:
    happen(caller, "job.created")
    with store.transaction() as session:
        outbox.add(session, None, "mail", template="x")
    with store.transaction() as session:
        session.execute(text("UPDATE events SET created_at = now() - interval '2 hours'"))
        session.execute(
            text("UPDATE outbox SET last_error = 'SMTPAuthenticationError: 535' WHERE finished_at IS NULL")
        )
    found = told(patient)
    assert "1 events wait, the oldest for 2 h" in found["relay"]
    assert "hiring work" in found["relay"]
    assert "SMTPAuthenticationError: 535" in found["mail"]


def test_what_was_set_aside_is_said_with_what_puts_it_back(patient: Settings) -> None:
    id = new_id()
    with store.transaction() as session:
        aside.keep(session, "job expiries", [Row(id)], ValueError("It is odd."), again=False)
    words = "1 failed, were tried 1 times at most and stand aside while their neighbours go on; the newest: ValueError:"
    assert words in told(patient)["set aside"]
    assert "`hiring aside back 'job expiries'`" in told(patient)["set aside"]
    for command, said in (
        (["list"], f"job expiries\t{id}"),
        (["back", "sessions"], "0 put back."),
        (["back", "job expiries", str(new_id())], "0 put back."),
        (["back", "job expiries", str(id)], "1 put back."),
        (["list"], ""),
    ):
        done = subprocess.run(
            [*HIRING, "aside", *command],
            check=False,
            env=environ(patient),
            cwd="/",
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        assert said in done.stdout
        assert said or not done.stdout
    assert "set aside" not in told(patient)


def test_an_overdue_schedule_is_said(patient: Settings, tenant: Tenant) -> None:
    made = tenant.live.invitation(tenant.live.assessment()["slug"])
    with store.transaction() as session:
        session.execute(
            text("UPDATE invitations SET expires_at = now() - interval '3 days' WHERE token = :token"),
            {"token": made["invite_token"]},
        )
    assert "invitations by 3 days" in told(patient)["schedule"]
    with store.transaction() as session:
        session.execute(
            text("UPDATE invitations SET expires_at = now() + interval '3 days' WHERE token = :token"),
            {"token": made["invite_token"]},
        )


def test_switched_off_endpoints_are_worth_knowing(patient: Settings, caller: Any) -> None:
    id, _ = new_endpoint(caller)
    with store.transaction() as session:
        session.execute(
            text(
                "UPDATE webhook_endpoints SET is_active = false, disabled_reason = 'It is gone.' WHERE id = :id"
            ),
            {"id": id},
        )
    said = told(patient, "warning")["endpoint"]
    assert "https://example.com/hook is switched off (It is gone.)" in said


def test_what_is_nearly_full_is_worth_knowing(
    patient: Settings, caller: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.transaction() as session:
        room.take(session, caller, 850_000)
        slug = organisations.get(session, caller).slug
    said = told(replace(patient, files_most_mb=1), "warning")
    assert said["files"] == f"{slug} has used 85% of its room for files (FILES_MOST_MB)."
    assert "files" not in told(replace(patient, files_most_mb=2), "warning")
    monkeypatch.setattr(doctor, "FULL", 0.0)
    assert "The volume of" in told(patient, "warning")["disk"]
    monkeypatch.setattr(doctor, "FULL", 1.1)
    assert "disk" not in told(patient, "warning")


def test_what_servers_keep_for_a_folder_that_is_gone_is_worth_knowing(
    patient: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "SHARED", (tmp_path,))
    for name, data in (("data-1", tmp_path), ("data-2", tmp_path / "gone")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "belongs-to").write_text(f"{data}\n")
    (tmp_path / "data-2" / "rows").write_bytes(bytes(100_000_000))
    assert told(patient, "warning")["folder"].startswith(f"{tmp_path / 'data-2'} keeps 0.1 GB of servers")


def test_an_older_schema_and_a_changed_secret_key_are_said(patient: Settings, caller: Any) -> None:
    new_endpoint(caller)
    assert "1 endpoints" in told(replace(patient, secret_key="another"))["secrets"]
    with store.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    try:
        assert "hiring migrate" in told(patient)["schema"]
    finally:
        with store.transaction() as session:
            session.execute(text("UPDATE alembic_version SET version_num = :head"), {"head": health.newest()})


def test_the_exit_status_says_whether_anything_is_wrong(patient: Settings) -> None:
    well = subprocess.run(
        [*HIRING, "doctor", "--json"],
        env=environ(patient),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert well.returncode == 0, well.stderr
    assert {one["subject"] for one in json.loads(well.stdout)} >= {"database", "redis"}
    ill = subprocess.run(
        [*HIRING, "doctor"], env=environ(replace(patient, redis_url="redis://127.0.0.1:1/0")), cwd="/",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ill.returncode == 1
    assert "✗ redis" in ill.stdout


# --- hiring secrets reencrypt


def test_after_reencryption_the_old_key_is_not_needed_any_more(patient: Settings, caller: Any) -> None:
    made = [new_endpoint(caller, f"https://example.com/{number}") for number in range(3)]
    with store.transaction() as session:
        webhooks.rotate(
            session, webhooks.get(session, caller, made[0][0], lock=True), overlap=timedelta(hours=1)
        )
    before = endpoint_of(made[0][0]).updated_at
    new = replace(patient, secret_key=f"a newer key, {patient.secret_key}")
    done = subprocess.run(
        [*HIRING, "secrets", "reencrypt", "--json"],
        env=environ(new), cwd="/", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["unreadable"] == 0
    assert json.loads(done.stdout)["encrypted"] >= 4
    secrets.configure("a newer key")
    assert webhooks.secrets_of(endpoint_of(made[1][0])) == [made[1][1]]
    assert webhooks.secrets_of(endpoint_of(made[0][0]))[1] == made[0][1]
    assert endpoint_of(made[0][0]).updated_at == before


def test_what_no_key_reads_is_left_as_it_is_and_said(patient: Settings, caller: Any) -> None:
    id, secret = new_endpoint(caller)
    lost = subprocess.run(
        [*HIRING, "secrets", "reencrypt", "--json"],
        env=environ(replace(patient, secret_key="unrelated")), cwd="/", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert lost.returncode == 1
    assert "older key" in lost.stderr
    assert webhooks.secrets_of(endpoint_of(id)) == [secret]
