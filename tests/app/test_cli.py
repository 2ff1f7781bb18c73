"""What the command line refuses, and how it says so."""

import click
import pytest
from click.testing import CliRunner

from app.cli import COMMANDS, main
from tests.app.instances import COMMAND, hiring


def refusal(*words: str) -> str:
    done = CliRunner().invoke(main, list(words))
    assert done.exit_code == 2
    return done.output


def key(*words: str) -> str:
    return refusal("keys", "create", "--org", "acme", "--mode", "live", *words)


def test_an_unknown_scope_is_answered_with_the_nearest() -> None:
    assert "'jobs:read'" in key("--scope", "job:read")


@pytest.mark.parametrize("value", ["10.0.0.1/8", "300.1.1.1", "10.0.0.0/33", "2001:db8::1/32", "here"])
def test_a_network_that_is_none_is_refused(value: str) -> None:
    assert "--cidr" in key("--cidr", value)


def test_a_network_with_host_bits_is_answered_with_the_network() -> None:
    assert "10.0.0.0/8" in key("--cidr", "10.0.0.1/8")


@pytest.mark.parametrize("value", ["2030-01-01T00:00:00", "2030-01-01", "soon", "2020-01-01T00:00:00Z"])
def test_an_expiry_without_offset_or_in_the_past_is_refused(value: str) -> None:
    assert "--expires-at" in key("--expires-at", value)


@pytest.mark.parametrize("value", ["nobody", "a@", "@b", "a b@example.org"])
def test_a_malformed_address_is_refused(value: str) -> None:
    assert "--email" in refusal("members", "add", "--org", "acme", "--name", "A", "--email", value)


def test_an_unknown_plan_is_refused() -> None:
    assert "enterprise" in refusal("orgs", "create", "Acme", "--plan", "gold")


def test_every_command_explains_itself() -> None:
    def walk(command: click.Command, words: list[str]) -> None:
        done = CliRunner().invoke(main, [*words, "--help"])
        assert done.exit_code == 0
        assert command.help
        for name, child in getattr(command, "commands", {}).items():
            walk(child, [*words, name])

    walk(main, [])


def test_help_loads_no_library_of_the_service() -> None:
    done = hiring("--help", environ={"PYTHONPROFILEIMPORTTIME": "1"})
    assert done.returncode == 0
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "click" in loaded
    assert not loaded & {"sqlalchemy", "connexion", "flask", "psycopg", "alembic", "rich", "uvicorn"}, COMMAND


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_of_itself_what_the_list_says_of_it(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.name == name
    assert str(command.help).startswith(COMMANDS[name].rstrip("."))


@pytest.mark.parametrize(
    "value", ["notaurl", "localhost:3000", "ftp://localhost/x", "http://", "http://a:99999/", ""]
)
def test_events_are_forwarded_to_an_address_or_not_at_all(value: str) -> None:
    assert "--forward" in refusal("listen", "--forward", value)
