"""`hiring up --ephemeral`: an instance of which nothing is left, however it ends."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from app.cli import main
from tests.app.instances import COMMAND, ENVIRON, eventually, of

# As a job of a CI has it: of the program under test.
OTHERS = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/x", "BASE_URL": "https://shop.example.com"}


@contextmanager
def ephemeral() -> Iterator[tuple[subprocess.Popen[str], dict[str, Any], Path]]:
    """One that runs, what it says of itself, and its folder."""
    command = [*COMMAND, "up", "--ephemeral", "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=ENVIRON | OTHERS, cwd="/"
    ) as process:
        try:
            assert process.stdout
            facts = json.loads(process.stdout.readline())
            yield process, facts, Path(facts["mail_dir"]).parent
        finally:
            process.terminate()


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_it_runs_beside_another_and_nothing_is_left_of_it(sign: signal.Signals) -> None:
    with ephemeral() as (process, facts, folder), ephemeral() as (_, other, elsewhere):
        assert facts["base_url"] != other["base_url"]
        assert facts["test_key"] != other["test_key"]
        answer = httpx.get(
            f"{facts['base_url']}/api/v1/public/test/clock/",
            headers={"Authorization": f"Bearer {facts['test_key']}"},
            timeout=60,
        )
        assert answer.json()["advanced_seconds"] == 0
        process.send_signal(sign)
        process.wait(60)
        eventually(lambda: not folder.exists())
        eventually(lambda: not of(folder))
        assert not folder.exists()
        assert elsewhere.exists()
    eventually(lambda: not elsewhere.exists())


def test_a_folder_that_is_to_be_kept_is_refused() -> None:
    done = CliRunner().invoke(main, ["up", "--ephemeral", "--data", "mine"])
    assert (done.exit_code, "not both" in done.output) == (2, True)
