"""Every code block of every guide, run against a running service; what a guide shows is what comes."""

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.instance.settings import ROOT
from tests import nodes
from tests.app.instances import ENVIRON, Up, up, walkable
from tests.docs import blocks

# The guide for a CI installs everything once more: tests/ci follows it.
GUIDES = sorted(set((ROOT / "docs" / "guides").glob("*.md")) - {ROOT / "docs" / "guides" / "ci.md"})
JOURNEY = Path("journey")  # the README's
PROGRAMS = ("bash", "curl", "openssl")
# One process makes what each reader has, for commands take longer to start than to run.
PEOPLE = """
import json, pathlib, sys
from app.cli.administration import transaction
from store.accounts import keys, organisations
with transaction(pathlib.Path(sys.argv[1])) as session:
    for name in sys.argv[2:]:
        made = organisations.create(session, name=name.title(), plan="growth")
        _, key = keys.create(session, organisation=made, name=name, livemode=False)
        print(json.dumps({"slug": made.slug, "key": key}))
"""


@dataclass
class Service:
    """An instance with a worker and a schedule, its data folder, and an organisation with a key for each guide."""

    up: Up
    data: Path
    people: dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    names = [guide.stem for guide in (*GUIDES, JOURNEY)]
    with walkable() as folder, up(folder / "data") as running:
        command = [sys.executable, "-c", PEOPLE, str(folder / "data"), *names]
        printed = subprocess.run(command, env=ENVIRON, check=True, capture_output=True, text=True).stdout
        people = dict(zip(names, map(json.loads, printed.splitlines()), strict=True))
        yield Service(running, folder / "data", people)


@pytest.fixture
def reader(service: Service, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[blocks.Reader]:
    """Somebody with an organisation of their own on that instance, in a folder like a clone of this one."""
    guide: Path = request.node.callspec.params["guide"]
    made = service.people[guide.stem]
    (tmp_path / ".data").symlink_to(service.data)
    command = tmp_path / "hiring"
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -P -m app.cli "$@"\n')
    command.chmod(0o755)
    environ = ENVIRON | {
        "PATH": f"{Path(sys.executable).parent}:{ENVIRON['PATH']}",
        "BASE_URL": service.up.facts["base_url"],
        "API_KEY": made["key"],
        "ORGANISATION": made["slug"],
        "PORT": str(free_port()),
    }
    one = blocks.Reader(tmp_path, environ, nodes.node())
    yield one
    one.leave()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.mark.parametrize("guide", [JOURNEY])
def test_the_journey_of_the_readme_can_be_pasted(guide: Path, reader: blocks.Reader, tmp_path: Path) -> None:
    _, _, after = (ROOT / "README.md").read_text().partition("## The journey, with curl\n")
    journey = tmp_path / guide
    journey.write_text(after.partition("\n## ")[0])
    reader.follow(journey)
    assert answers(str(reader.printed))[-1]["status"] == "pending"


def answers(printed: str) -> list[dict[str, object]]:
    """Read one JSON document after the other."""
    found, at = [], 0
    while at < len(printed.rstrip()):
        one, at = json.JSONDecoder().raw_decode(printed, at)
        found.append(one)
    return found


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_a_guide_can_be_followed(guide: Path, reader: blocks.Reader) -> None:
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        pytest.skip(f"The guides use {', '.join(missing)}, which this machine has not.")
    reader.follow(guide)
    if reader.left_out:
        pytest.skip(
            "All but the TypeScript ran: there is no Node of at least 22.18 here, and none could be installed."
        )


def test_what_is_shown_but_not_printed_is_found() -> None:
    printed = {"id": "019a", "name": "Ada", "tags": ["a"], "more": 1}
    assert list(blocks.differences({"id": "…", "tags": ["a"]}, printed)) == []
    assert list(blocks.differences({"name": "Bob"}, printed)) == ["/name is 'Ada'"]
    assert list(blocks.differences({"tags": []}, printed)) == ["/tags has 1 items"]
    assert list(blocks.differences({"none": 1}, printed)) == ["/none is missing"]
