"""A backup that is made under load is restored as the operator's page tells, and everything goes on from there."""

import json
import re
import shlex
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import redis

import store
from app.instance.settings import ROOT, Settings
from store.accounts import keys, organisations
from store.database import engine
from tests import receiver as receivers
from tests.hooks import wait_until, wired
from tests.servers import _connect, database
from tests.shared import HIRING, environ, free_port, process

__all__ = ["wired"]

SECTION = (
    (ROOT / "docs" / "operating.md").read_text().partition("## Backup and restore")[2].partition("\n## ")[0]
)
[BACKUP], RESTORE = (
    block.strip().splitlines() for block in re.findall(r"```sh\n(.*?)```", SECTION, re.DOTALL)
)
API = "/api/v1/public"
TEXT = b"Ada Lovelace\nada@example.com\nPython\n"


@pytest.fixture
def deployed(wired: Settings, servers: dict[str, str], migrated: str, tmp_path: Path) -> Iterator[Settings]:
    """Settings of a deployment with a database of its own, which is put back by the test."""
    with _connect(servers["postgres"]) as connection:
        version = int(connection.execute("SHOW server_version_num").fetchall()[0][0]) // 10_000  # type: ignore[call-overload]
        if not all(_is_fit(shutil.which(name), version) for name in ("pg_dump", "pg_restore")):
            pytest.skip(f"There is no pg_dump of PostgreSQL {version} on the PATH.")
    with database(servers["postgres"], migrated) as url:
        yield replace(wired, database_url=url, files_dir=tmp_path / "files", mail_dir=tmp_path / "mail")
        engine.configure(wired.database_url)


def _is_fit(program: str | None, version: int) -> bool:
    if program is None:
        return False
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return int(re.findall(r"(\d+)\.", said)[0]) >= version


@dataclass
class Deployment:
    """A web process, a worker and a schedule."""

    settings: Settings
    key: str
    port: int = field(default_factory=free_port)
    stack: ExitStack = field(default_factory=ExitStack)

    def start(self) -> None:
        for words, ready in {
            ("web", "--port", str(self.port)): "startup complete",
            ("work",): "The worker is ready.",
            ("schedule",): "The schedule is ready.",
        }.items():
            self.stack.enter_context(process(self.settings, *words, ready=ready))

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        url = f"http://127.0.0.1:{self.port}{path}"
        headers = {"Authorization": f"Bearer {self.key}"} if path.startswith(API) else {}
        with httpx.Client(headers=headers, timeout=30, trust_env=False) as client:
            answer = client.request(method, url, json=body, **more)
            assert answer.is_success, answer.text
            return answer.json() if "json" in answer.headers["Content-Type"] else answer.content

    def wrong(self) -> list[dict[str, str]]:
        """Ask the doctor what is wrong."""
        command, given = [*HIRING, "doctor", "--json"], environ(self.settings)
        asked = subprocess.run(command, env=given, cwd="/", capture_output=True, text=True, check=False)
        return [one for one in json.loads(asked.stdout) if one["level"] == "wrong"]

    def journey(self, slug: str, email: str) -> str:
        """Invite somebody who answers everything; return the token once there is a result."""
        token = str(self.call("POST", f"{API}/assessments/{slug}/invites/", {"email": email})["invite_token"])
        sitting = f"/api/v1/candidate/invites/{token}"
        for case in self.call("POST", f"{sitting}/start/")["cases"]:
            answer = {
                "answer": [case["options"][0]["id"]] if case["allow_multiple"] else case["options"][0]["id"]
            }
            self.call("PUT", f"{sitting}/answers/{case['assessment_case_id']}/", answer)
        self.call("POST", f"{sitting}/submit/")
        result = f"{API}/invites/{token}/result/"
        wait_until(lambda: self.call("GET", result).get("score") is not None)
        return token


def shell(line: str, settings: Settings, folder: Path) -> None:
    """Carry out a line of the page."""
    done = subprocess.run(
        ["sh", "-c", line], env=environ(settings), cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_backup_under_load_is_restored_as_the_page_tells_and_the_journey_goes_on(
    deployed: Settings, tmp_path: Path
) -> None:
    engine.configure(deployed.database_url)
    with store.transaction() as session:
        organisation = organisations.create(session, name="Restored", plan="enterprise")
        _, key = keys.create(session, organisation=organisation, name="live", livemode=True)
    engine.engine().dispose()
    one = Deployment(deployed, key)
    with receivers.running() as receiver, one.stack:
        one.start()
        hook = one.call("POST", f"{API}/webhooks/create/", {"url": receiver.url, "events": ["*"]})
        one.call("POST", f"{API}/webhooks/{hook['id']}/test/")
        cases = one.call("GET", f"{API}/platform-cases/?case_type=mcq&page_size=2")["results"]
        made = {"title": "Restored", "cases": [{"case_id": case["id"]} for case in cases]}
        slug = one.call("POST", f"{API}/assessments/create/", made)["slug"]
        one.call("PATCH", f"{API}/assessments/{slug}/update/", {"status": "active"})
        job = one.call("POST", f"{API}/jobs/create/", {"title": "Engineer"})["slug"]
        one.call("POST", f"{API}/jobs/{job}/publish/")
        form = {"job_slug": job, "email": "ada@example.com", "full_name": "Ada Lovelace"}
        applied = one.call("POST", f"{API}/applications/create/", data=form, files={"cv": ("cv.txt", TEXT)})
        finished = one.journey(slug, "before@example.com")

        acknowledged: list[str] = []
        stopping = threading.Event()

        def invite() -> None:
            while not stopping.is_set():
                person = {"email": f"restored-{len(acknowledged)}@example.com"}
                acknowledged.append(
                    one.call("POST", f"{API}/assessments/{slug}/invites/", person)["invite_token"]
                )

        load = threading.Thread(target=invite)
        load.start()
        try:
            wait_until(lambda: len(acknowledged) > 20)
            kept = list(acknowledged)
            shell(BACKUP, deployed, tmp_path)
            during = len(acknowledged)
            wait_until(lambda: len(acknowledged) > during + 5)
        finally:
            stopping.set()
            load.join(60)
        one.stack.close()

        with psycopg.connect(deployed.database_url, autocommit=True) as damaged:  # what the backup is for
            damaged.execute("TRUNCATE organisations CASCADE")
            damaged.execute("DROP TABLE deliveries")
        for line in RESTORE:
            if line.startswith("pg_"):
                shell(line, deployed, tmp_path)
        assert any("FLUSHDB" in line for line in RESTORE)  # by a program that may not be here
        with redis.Redis.from_url(deployed.redis_url) as client:
            client.flushdb()
        assert RESTORE[-1] == "hiring migrate"
        shell(shlex.join([*HIRING, "migrate"]), deployed, tmp_path)

        with psycopg.connect(deployed.database_url, autocommit=True) as restored:
            # What somebody was sending at the moment of the backup is sent once that one's lease is over.
            restored.execute(
                "UPDATE deliveries SET lease_until = NULL, next_attempt_at = now() WHERE status = 'pending'"
            )
        receiver.clear()
        one.start()
        for token in kept:
            assert one.call("GET", f"{API}/invites/{token}/")["status"] == "pending"
        assert one.call("GET", f"{API}/invites/{finished}/result/")["score"] is not None
        [file] = one.call("GET", f"{API}/applications/{applied['id']}/")["attachments"]
        assert one.call("GET", f"{API}/applications/{applied['id']}/attachments/{file['id']}/") == TEXT
        token = one.journey(slug, "after@example.com")
        wait_until(
            lambda: {"invitation.created", "candidate.passed", "candidate.failed"} & _told(receiver, token)
        )
        waiting = f"{API}/webhooks/{hook['id']}/"
        wait_until(lambda: one.call("GET", waiting)["pending_delivery_count"] == 0)
        sequences = [
            event["sequence"] for event in one.call("GET", f"{API}/events/?page_size=100")["results"]
        ]
        assert sequences == list(range(1, len(sequences) + 1))
        wait_until(lambda: one.wrong() == [])
        assert one.wrong() == []


def _told(receiver: Any, token: str) -> set[str]:
    return {request.json["type"] for request in receiver.requests if token in str(request.json)}
