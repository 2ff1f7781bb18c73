"""`hiring up`: one line when it is ready, everything restarted that falls, nothing left when it ends."""

import json
import os
import signal
import socket
import stat
import urllib.error
import urllib.request
from pathlib import Path

import httpx
import psycopg

from app.instance import embedded, places
from tests.app.instances import eventually, facts, hiring, of, up

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


def running(data: Path, word: str) -> list[int]:
    return [pid for pid in of(data) if word in Path(f"/proc/{pid}/cmdline").read_text().split("\0")]


def test_the_line_says_how_to_get_in_and_the_next_start_says_the_same_keys(folder: Path) -> None:
    data = folder / "data"
    with up(data) as first:
        assert list(first.facts) == ["base_url", "organisation", "live_key", "test_key", "mail_dir"]
        assert first.facts["organisation"] == "demo"
        assert first.facts["live_key"].startswith("ct_live_")
        assert first.facts["test_key"].startswith("ct_test_")
        assert Path(first.facts["mail_dir"]).is_dir()
        for name in ("live_key", "test_key"):
            assert status(first.facts["base_url"], first.facts[name]) == 200
        assert stat.S_IMODE((data / "demo.json").stat().st_mode) == 0o600
    with up(data) as second:
        assert second.facts | {"base_url": ""} == first.facts | {"base_url": ""}
        assert status(second.facts["base_url"], second.facts["live_key"]) == 200


def test_what_an_application_asks_of_the_worker_is_done(folder: Path) -> None:
    """Every process knows every table, also one that loads little else."""
    with (
        up(folder / "data") as instance,
        httpx.Client(
            base_url=f"{instance.facts['base_url']}/api/v1/public",
            headers={"Authorization": f"Bearer {instance.facts['live_key']}"},
            timeout=30,
        ) as api,
    ):
        job = api.post("/jobs/create/", json={"title": "Engineer"}).json()["slug"]
        api.post(f"/jobs/{job}/publish/").raise_for_status()
        form = {"job_slug": job, "email": "ada@example.com", "full_name": "Ada Lovelace"}
        made = api.post(
            "/applications/create/", data=form, files={"cv": ("cv.txt", b"Ada Lovelace. Skills: Python")}
        )
        at = f"/applications/{made.json()['id']}/screening/"
        assert eventually(lambda: api.get(at).json()["status"] == "scored")


def test_a_stop_leaves_no_process_and_prints_nothing_more(folder: Path) -> None:
    with up(folder / "data") as instance:
        assert len(of(folder)) > 4
        instance.process.send_signal(signal.SIGTERM)
        out, _ = instance.process.communicate(timeout=60)
        assert instance.process.returncode == 0
        assert out == ""
    assert of(folder) == []


def test_a_killed_up_leaves_no_process_and_the_next_one_starts(folder: Path) -> None:
    with up(folder / "data") as instance:
        instance.process.kill()
        instance.process.wait()
        with up(folder / "data") as again:
            assert status(again.facts["base_url"], again.facts["live_key"]) == 200
    eventually(lambda: not of(folder))


def test_what_falls_is_started_again(folder: Path) -> None:
    data = folder / "data"
    with up(data) as instance:
        where = places.settle(data)
        key, url = instance.facts["live_key"], instance.facts["base_url"]
        for word in ("web", "work", "schedule"):
            (pid,) = running(data, word)
            os.kill(pid, signal.SIGKILL)
            assert eventually(lambda word=word, pid=pid: [one for one in running(data, word) if one != pid])
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


def test_a_folder_runs_once(folder: Path) -> None:
    with up(folder / "data") as instance:
        done = hiring("up", "--port", "0", "--data", str(folder / "data"))
        assert done.returncode == 1
        assert "is running already" in done.stderr
        assert instance.facts["base_url"] in done.stderr
        assert status(instance.facts["base_url"], instance.facts["live_key"]) == 200


def test_two_folders_run_side_by_side(folder: Path) -> None:
    with up(folder / "one") as one, up(folder / "two") as two:
        assert status(one.facts["base_url"], one.facts["live_key"]) == 200
        assert status(two.facts["base_url"], two.facts["live_key"]) == 200
        assert status(one.facts["base_url"], two.facts["live_key"]) == 401


def test_administration_works_on_a_folder_whether_it_runs_or_not(folder: Path) -> None:
    data = ("--data", str(folder / "data"))
    made = facts("orgs", "create", "Acme & Söhne", "--plan", "enterprise", *data)
    assert set(made) == {"id", "slug"}
    before = facts("keys", "create", "--org", made["slug"], "--mode", "live", *data)
    with up(folder / "data") as instance:
        url = instance.facts["base_url"]
        during = facts(
            "keys", "create", "--org", made["slug"], "--mode", "test", "--scope", "organisation:read", *data
        )
        assert set(during) == {"id", "key"}
        assert status(url, before["key"]) == 200
        assert status(url, during["key"]) == 200
        listed = facts("keys", "list", "--org", made["slug"], *data)
        assert [key["mode"] for key in listed] == ["live", "test"]
        assert before["key"] not in json.dumps(listed)
        facts("keys", "revoke", before["id"], *data)
        assert eventually(lambda: status(url, before["key"]) == 401)
        member = facts(
            "members",
            "add",
            "--org",
            made["slug"],
            "--email",
            "a@example.org",
            "--name",
            "A",
            "--role",
            "owner",
            *data,
        )
        assert set(member) == {"id", "user_id"}
        again = hiring(
            "members", "add", "--org", made["slug"], "--email", "A@example.org", "--name", "A", *data
        )
        assert again.returncode == 1
        assert "already" in again.stderr


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


def test_a_revoked_demo_key_is_replaced_at_the_next_start(folder: Path) -> None:
    data = ("--data", str(folder / "data"))
    with up(folder / "data") as first:
        pass
    for key in facts("keys", "list", "--org", "demo", *data):
        facts("keys", "revoke", key["id"], *data)
    with up(folder / "data") as second:
        assert second.facts["live_key"] != first.facts["live_key"]
        assert status(second.facts["base_url"], second.facts["live_key"]) == 200
