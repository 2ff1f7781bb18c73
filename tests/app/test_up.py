"""`hiring up`: one line when it is ready, everything restarted that falls, nothing left when it ends."""

import json
import os
import signal
import socket
import stat
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest

from app.instance import embedded, places
from app.instance.settings import ROOT
from tests.app.instances import Up, eventually, facts, hiring, of, up, walkable

PATH = "/api/v1/public/org/"


def status(base_url: str, key: str) -> int:
    request = urllib.request.Request(base_url + PATH, headers={"Authorization": f"Bearer {key}"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def processes(data: Path, word: str) -> list[int]:
    return [pid for pid in of(data) if word in Path(f"/proc/{pid}/cmdline").read_text().split("\0")]


@dataclass
class Stopped:
    """A folder that has run once, and how that ended."""

    data: Path
    facts: dict[str, str]
    status: int
    printed: str
    left: list[int]


@pytest.fixture(scope="module")
def stopped() -> Iterator[Stopped]:
    with walkable() as folder:
        with up(folder / "data") as first:
            assert len(of(folder)) > 4
            first.process.send_signal(signal.SIGTERM)
            out, _ = first.process.communicate(timeout=60)
        yield Stopped(folder / "data", first.facts, first.process.returncode, out, of(folder))


@dataclass
class Running:
    """A folder that runs, and what was made in it while it did not."""

    data: Path
    up: Up
    organisation: dict[str, str]
    key: dict[str, str]


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """One instance for what leaves it as it is, or whole again."""
    with walkable() as folder:
        where = ("--data", str(folder / "data"))
        with up(folder / "data"):
            pass
        made = facts("orgs", "create", "Acme & Söhne", "--plan", "enterprise", *where)
        key = facts("keys", "create", "--org", made["slug"], "--mode", "live", *where)
        with up(folder / "data") as instance:
            yield Running(folder / "data", instance, made, key)


def test_organisations_are_listed(running: Running) -> None:
    listed = facts("orgs", "list", "--data", str(running.data))
    assert {"demo", running.organisation["slug"]} <= {one["slug"] for one in listed}
    [ours] = [one for one in listed if one["slug"] == running.organisation["slug"]]
    assert (ours["name"], ours["plan"], ours["id"]) == (
        "Acme & Söhne",
        "enterprise",
        running.organisation["id"],
    )


def test_the_line_says_how_to_get_in(running: Running) -> None:
    said = running.up.facts
    assert list(said) == [
        "base_url",
        "organisation",
        "live_key",
        "test_key",
        "data",
        "mail_dir",
        "sign_in_url",
    ]
    assert said["organisation"] == "demo"
    assert said["live_key"].startswith("ct_live_")
    assert said["test_key"].startswith("ct_test_")
    assert Path(said["mail_dir"]).is_dir()
    for name in ("live_key", "test_key"):
        assert status(said["base_url"], said[name]) == 200
    assert stat.S_IMODE((running.data / "demo.json").stat().st_mode) == 0o600


def test_a_stop_leaves_no_process_and_prints_nothing_more(stopped: Stopped) -> None:
    assert (stopped.status, stopped.printed, stopped.left) == (0, "", [])


def test_a_killed_up_leaves_no_process_and_each_next_one_starts_with_the_same_keys(stopped: Stopped) -> None:
    with up(stopped.data) as instance:
        new = {"base_url": "", "sign_in_url": ""}  # a link works once
        assert instance.facts | new == stopped.facts | new
        assert status(instance.facts["base_url"], instance.facts["live_key"]) == 200
        instance.process.kill()
        instance.process.wait()
        with up(stopped.data) as again:
            assert again.facts["live_key"] == stopped.facts["live_key"]
            assert status(again.facts["base_url"], again.facts["live_key"]) == 200
    eventually(lambda: not of(stopped.data))


SLOW = """
import sys
from importlib.machinery import PathFinder, SourceFileLoader

class Slow(SourceFileLoader):
    def get_code(self, name):
        source = self.get_data(self.path)
        assert b"class Stage" in source
        slowly = source.replace(b"class Stage", b"import time; time.sleep(3)\\nclass Stage")
        return self.source_to_code(slowly, self.path)

class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == "store.advancing.pipelines":
            found = PathFinder.find_spec(name, path, target)
            found.loader = Slow(name, found.origin)
            return found

sys.meta_path.insert(0, Finder)
"""


def test_a_start_asks_for_nothing_before_all_that_is_mapped_is_loaded(
    stopped: Stopped, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(SLOW)
    with up(stopped.data, environ={"PYTHONPATH": f"{tmp_path}:{ROOT}"}) as instance:
        assert status(instance.facts["base_url"], instance.facts["live_key"]) == 200


def test_a_revoked_demo_key_is_replaced_at_the_next_start(stopped: Stopped) -> None:
    where = ("--data", str(stopped.data))
    for key in facts("keys", "list", "--org", "demo", *where):
        facts("keys", "revoke", key["id"], *where)
    with up(stopped.data) as second:
        assert second.facts["live_key"] != stopped.facts["live_key"]
        assert status(second.facts["base_url"], second.facts["live_key"]) == 200


def test_what_an_application_asks_of_the_worker_is_done(running: Running) -> None:
    """Every process knows every table, also one that loads little else."""
    said = running.up.facts
    with httpx.Client(
        base_url=f"{said['base_url']}/api/v1/public",
        headers={"Authorization": f"Bearer {said['live_key']}"},
        timeout=30,
    ) as api:
        job = api.post("/jobs/create/", json={"title": "Engineer"}).json()["slug"]
        api.post(f"/jobs/{job}/publish/").raise_for_status()
        form = {"job_slug": job, "email": "ada@example.com", "full_name": "Ada Lovelace"}
        made = api.post(
            "/applications/create/", data=form, files={"cv": ("cv.txt", b"Ada Lovelace. Skills: Python")}
        )
        at = f"/applications/{made.json()['id']}/screening/"
        assert eventually(lambda: api.get(at).json()["status"] == "scored")


def test_a_folder_runs_once(running: Running) -> None:
    done = hiring("up", "--port", "0", "--data", str(running.data))
    assert done.returncode == 1
    assert "is running already" in done.stderr
    assert running.up.facts["base_url"] in done.stderr
    assert status(running.up.facts["base_url"], running.up.facts["live_key"]) == 200


def test_two_folders_run_side_by_side(running: Running, folder: Path) -> None:
    one = running.up
    with up(folder / "two") as two:
        assert status(one.facts["base_url"], one.facts["live_key"]) == 200
        assert status(two.facts["base_url"], two.facts["live_key"]) == 200
        assert status(one.facts["base_url"], two.facts["live_key"]) == 401


def test_administration_works_on_a_folder_whether_it_runs_or_not(running: Running) -> None:
    url, slug, before = running.up.facts["base_url"], running.organisation["slug"], running.key
    where = ("--org", slug, "--data", str(running.data))
    assert set(running.organisation) == {"id", "slug"}
    during = facts("keys", "create", "--mode", "test", "--scope", "organisation:read", *where)
    assert set(during) == {"id", "key"}
    assert status(url, before["key"]) == 200
    assert status(url, during["key"]) == 200
    listed = facts("keys", "list", *where)
    assert [key["mode"] for key in listed] == ["live", "test"]
    assert before["key"] not in json.dumps(listed)
    facts("keys", "revoke", before["id"], *where[2:])
    assert eventually(lambda: status(url, before["key"]) == 401)
    member = facts("members", "add", "--email", "a@example.org", "--name", "A", "--role", "owner", *where)
    assert set(member) == {"id", "user_id"}
    again = hiring("members", "add", "--email", "A@example.org", "--name", "A", *where)
    assert again.returncode == 1
    assert "already" in again.stderr


def test_what_falls_is_started_again(running: Running) -> None:
    data, where = running.data, places.settle(running.data)
    key, url = running.up.facts["live_key"], running.up.facts["base_url"]
    for word in ("web", "work", "schedule"):
        (pid,) = processes(data, word)
        os.kill(pid, signal.SIGKILL)
        assert eventually(lambda word=word, pid=pid: [one for one in processes(data, word) if one != pid])
    assert eventually(lambda: status(url, key) == 200)
    pid = int((where.state / "postgres" / "postmaster.pid").read_text().splitlines()[0])
    os.kill(pid, signal.SIGKILL)
    database = embedded.published(where)["postgres"]

    def answers() -> bool:
        try:
            with psycopg.connect(database) as connection:
                return bool(connection.execute("SELECT 1").fetchone())
        except psycopg.OperationalError:
            return False

    assert eventually(answers)
    assert eventually(lambda: status(url, key) == 200)


def test_a_taken_port_is_said_with_what_helps(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = hiring("up", "--port", str(port), "--data", str(folder / "data"))
    assert done.returncode == 1
    assert f"Port {port}" in done.stderr
    assert "--port 0" in done.stderr
    assert "Traceback" not in done.stderr
    assert of(folder) == []


def test_the_environment_decides_before_the_folder_does(folder: Path) -> None:
    data = folder / "data"
    with embedded.use(folder / "servers", ("postgres", "redis")) as urls:
        given = {
            "DATABASE_URL": urls["postgres"],
            "REDIS_URL": urls["redis"],
            "BASE_URL": "https://hiring.example",
        }
        with up(data, environ=given) as instance:
            assert instance.facts["base_url"] == "https://hiring.example"
            assert not (data / "postgres" / "PG_VERSION").exists()
