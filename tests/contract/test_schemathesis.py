"""The running service against both documents, in both modes: every check, every phase, no warning."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from app.instance.settings import ROOT
from tests.contract.conftest import Service
from tests.document.bundle import bundle

# Cases for each operation in the phases that have no end of their own; `tox -e fuzz` sets more.
CASES = os.environ.get("CONTRACT_CASES", "2")
# The candidate's surface knows no modes: the token decides. The short budget has room for one mode; the long has both.
# Each run is one thread (two of them break ast.parse of Python 3.11 now and then): two halves of the phases, which take
# as long as each other, go side by side.
PHASES = ("coverage", "examples,fuzzing,stateful")
RUNS = [
    *itertools.product(("openapi", "candidate", "area"), ("live",), PHASES),
    # Test keys alone ask for the test world, which moves and forgets all that their organisation has: one of its own.
    *itertools.product(("openapi",), ("world",), PHASES),
]
if "CONTRACT_CASES" in os.environ:
    RUNS += [("openapi", "test", phases) for phases in PHASES]


def in_short(said: str) -> str:
    """Return which operations failed, and at what: the last lines of a run whose whole output nobody kept say it."""
    told = re.findall(r"^(?:_{3,} .+ _{3,}|- .+|Error in .+)$", said, re.MULTILINE)
    return "; ".join(line.strip("_- ") for line in told) or said[-500:]


@pytest.mark.parametrize(("document", "mode", "phases"), RUNS)
def test_the_service_keeps_to_its_document(
    service: Service, document: str, mode: str, phases: str, tmp_path: Path
) -> None:
    # Of the parts, which have every media type of a body beside the others.
    whole = tmp_path / f"{document}.json"
    described = orjson.dumps(bundle(ROOT / "spec" / f"{document}.yaml"))
    # The name that a session's cookie has over plain http.
    whole.write_bytes(described.replace(b'"__Host-session"', b'"hiring-session"'))
    ours = (
        ("--include-tag" if mode == "world" else "--exclude-tag", "test_world")
        if document == "openapi"
        else ()
    )
    base = "/api/v1/public" if document == "openapi" else ""
    words = [
        *("--config-file", "tests/contract/schemathesis.toml", "run", str(whole)),
        *("--url", service.base_url + base, "--phases", phases, "-n", CASES, "-w", "1"),
        *("--checks", "all", "--no-color", *ours),
        *os.environ.get("CONTRACT_ARGS", "").split(),
    ]
    own = {"CONTRACT_KEY": service.keys[mode], "CONTRACT_URL": service.base_url, "LOG_LEVEL": "ERROR"}
    run = subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", *words],
        cwd=ROOT,
        env=service.environ | own,
        check=False,
        capture_output=True,
        text=True,
    )
    print(run.stdout[-200_000:], run.stderr[-5_000:])
    assert run.returncode == 0, in_short(run.stdout)
