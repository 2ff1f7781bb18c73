"""What a command does where there is no instance, or not the schema that it needs."""

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import httpx
import psycopg
import pytest
from click.testing import CliRunner

from app.cli import COMMANDS, main
from app.instance import opening, places, postgres
from app.instance.settings import Settings
from store.operating import health
from tests.api import Tenant
from tests.app.instances import OURS, eventually, hiring
from tests.hooks import caller, wired
from tests.shared import HIRING, environ, free_port

__all__ = ["caller", "wired"]

MAKERS = {"up", "demo", "test", "bench"}
ID = "01890000-0000-7000-8000-000000000000"
VALUES = {"id": ID, "squad": ID, "user": ID, "mode": "live", "email": "a@example.org", "event": "job.created"}


def commands() -> Iterator[list[str]]:
    """Find each command that has a data folder and may not make one, with what it needs to be called."""

    def walk(command: click.Command, words: list[str]) -> Iterator[list[str]]:
        if any(one.name == "data" for one in command.params):
            needed = [one for one in command.params if one.required]
            yield [*words, *(word for one in needed for word in filled(one))]
        for name, child in getattr(command, "commands", {}).items():
            yield from walk(child, [*words, name])

    for name in COMMANDS:
        if name not in MAKERS:
            command = main.get_command(click.Context(main), name)
            assert command
            yield from walk(command, [name])


def filled(one: click.Parameter) -> list[str]:
    value = ID if one.type is click.UUID else VALUES.get(str(one.name), "acme")
    if isinstance(one.type, click.Choice):
        value = str(one.type.choices[0])
    return [one.opts[0], value] if isinstance(one, click.Option) else [value]


def run(*words: str, **environ: str) -> str:
    without = dict.fromkeys((*OURS, "FILES_S3_BUCKET"))
    done = CliRunner(env=without | environ).invoke(main, list(words))
    assert done.exit_code == 1, done.output
    return done.output


@pytest.mark.parametrize("words", [*commands()], ids=" ".join)
def test_a_folder_that_is_not_there_is_said_and_not_made(words: list[str], tmp_path: Path) -> None:
    port = ["--port", "0"] if words == ["web"] else []
    said = run(*words, *port, "--data", str(tmp_path / "typo"))
    assert str(tmp_path / "typo") in said
    assert "hiring up" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [*commands()], ids=" ".join)
def test_a_folder_of_somebody_elses_is_left_as_it_is(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    port = ["--port", "0"] if words == ["web"] else []
    run(*words, *port, "--data", str(tmp_path))
    assert [one.name for one in tmp_path.rglob("*")] == ["logs"]


def test_what_a_deployment_forgot_is_named(tmp_path: Path) -> None:
    given = {
        "DATABASE_URL": "postgresql://x/x",
        "REDIS_URL": "redis://x",
        "MAIL_DIR": "mail",
        "FILES_DIR": "f",
    }
    said = " ".join(run("work", "--data", str(tmp_path / "none"), **given).split())
    assert "set BASE_URL, SECRET_KEY too" in said


def test_no_database_is_made_in_a_folder_that_was_made_for_another(tmp_path: Path) -> None:
    for name in ("logs", "mail", "files"):
        (tmp_path / name).mkdir()
    assert "DATABASE_URL" in run("doctor", "--data", str(tmp_path))
    assert not (tmp_path / "postgres" / "PG_VERSION").exists()
    given = {"DATABASE_URL": "postgresql://x/x", "REDIS_URL": "redis://x"}
    assert "SECRET_KEY" in run("doctor", "--data", str(tmp_path), **given)
    assert not (tmp_path / "secret_key").exists()


def test_a_bucket_needs_no_folder_for_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in OURS:
        monkeypatch.setenv(name, "x")
    monkeypatch.delenv("WEBHOOK_ALLOW_PRIVATE")
    monkeypatch.delenv("FILES_DIR")
    monkeypatch.setenv("FILES_S3_BUCKET", "files")
    with opening.instance(tmp_path / "none") as settings:
        assert settings.files_s3_bucket == "files"


# --- The schema


@pytest.fixture(params=["none", "older"])
def stale(request: pytest.FixtureRequest, wired: Settings) -> Iterator[Settings]:
    """A deployment whose database has another schema than this version needs."""
    with psycopg.connect(wired.database_url, autocommit=True) as connection:
        change = "ALTER TABLE alembic_version RENAME TO alembic_versions"
        back = "ALTER TABLE alembic_versions RENAME TO alembic_version"
        if request.param == "older":
            change = "UPDATE alembic_version SET version_num = '0001'"
            back = f"UPDATE alembic_version SET version_num = '{health.newest()}'"
        connection.execute(change)
        yield wired
        connection.execute(back)


@pytest.mark.parametrize("words", [["web", "--port", "0"], ["work"], ["schedule"], ["secrets", "reencrypt"]])
def test_without_its_schema_a_process_says_what_to_do_and_ends(stale: Settings, words: list[str]) -> None:
    done = hiring(*words, environ=environ(stale))
    assert done.returncode == 1
    assert "run `hiring migrate`" in done.stderr
    assert "Traceback" not in done.stderr


# --- The address


def test_links_carry_the_address_that_the_web_process_listens_on(wired: Settings, tenant: Tenant) -> None:
    port = free_port()
    given = environ(wired)
    del given["BASE_URL"]
    with subprocess.Popen([*HIRING, "web", "--port", str(port)], env=given, cwd="/") as web:
        try:
            assert eventually(lambda: answers(port))
            slug = tenant.live.assessment()["slug"]
            made = httpx.post(
                f"http://127.0.0.1:{port}/api/v1/public/assessments/{slug}/invites/",
                headers={"Authorization": f"Bearer {tenant.live.key}"}, json={"email": "ada@example.com"},
                timeout=60, trust_env=False,
            )  # fmt: skip
            assert made.json()["invite_url"].startswith(f"http://127.0.0.1:{port}/")
        finally:
            web.terminate()


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_the_address_of_the_last_run_is_that_of_what_runs_alone(tmp_path: Path) -> None:
    where = places.settle(tmp_path / "data")
    assert places.base_url(where) == "http://127.0.0.1:8080"
    places.keep_base_url(where, "https://hiring.example")
    assert places.base_url(where) == "https://hiring.example"
    assert not postgres.is_made(where)
