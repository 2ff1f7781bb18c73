"""The fixtures that others test with: a service for the session, an organisation for each test."""

import subprocess
import sys
from pathlib import Path

from app.instance.settings import ROOT
from tests.app.instances import ENVIRON, eventually

# Theirs: an `app` and a database of their own, of which the service takes nothing.
TESTS = """
import os
import app

seen = set()

def test_an_organisation_is_empty(hiring, inbox, clock):
    assert hiring.ask("GET", "/events/")["results"] == []
    assert clock.advance(days=1, hours=1) == []
    assert inbox.events() == []
    seen.add(hiring.organisation)

def test_another_has_its_own(hiring, inbox, simulate):
    assert hiring.organisation not in seen
    assert simulate.event("offer.accepted")["data"]["simulated"]
    assert inbox.wait_for("offer.accepted")["livemode"] is False
    assert hiring.live.get("/events/").json()["results"] == []

def test_what_is_refused_fails_with_its_words(hiring):
    try:
        hiring.ask("GET", "/invites/nobody/")
    except AssertionError as failed:
        assert "NOT_FOUND" in str(failed)
    else:
        raise RuntimeError

def test_whoever_is_killed_leaves_nothing(hiring):
    os.kill(os.getpid(), 9)
"""


def test_tests_of_others_have_a_service_and_leave_nothing(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("")
    (tmp_path / "test_theirs.py").write_text(TESTS)
    command = tmp_path / "hiring"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -P -m app.cli "$@"\n')
    command.chmod(0o755)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environ = ENVIRON | {
        "PYTHONPATH": f"{tmp_path}:{ROOT}",
        "HIRING_COMMAND": str(command),
        "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/shop",
        "TMPDIR": str(temporary),
    }
    words = ["-m", "pytest", "-q", "-p", "hiring_testing", "-p", "no:cacheprovider"]
    run = [sys.executable, *words, "test_theirs.py"]
    done = subprocess.run(
        [*run, "-k", "not killed"], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
    assert list(temporary.glob("hiring-ephemeral-*")) == []
    killed = subprocess.run(
        [*run, "-k", "killed"], cwd=tmp_path, env=environ, check=False, capture_output=True
    )
    assert killed.returncode == -9
    eventually(lambda: not list(temporary.glob("hiring-ephemeral-*")))
