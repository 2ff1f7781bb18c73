"""Clients that others' generators make from the document, as it is: they type-check and play the main journey."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.instance.settings import ROOT
from gateways import sandbox
from tests import nodes
from tests.app.instances import Up, up
from tests.clients.newer import NEW, newer

HERE = Path(__file__).resolve().parent
PYTHON, TYPESCRIPT = HERE / "python", HERE / "typescript"


@pytest.fixture(scope="module")
def service() -> Iterator[Up]:
    """An instance of the service's own."""
    folder = Path(tempfile.mkdtemp(prefix="hiring-clients-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        with up(folder / "data") as running:
            yield running
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def document(service: Up, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The document as the service publishes it."""
    path = tmp_path_factory.mktemp("document") / "openapi.json"
    answer = httpx.get(f"{service.facts['base_url']}/api/v1/public/openapi.json", trust_env=False)
    path.write_bytes(answer.raise_for_status().content)
    return path


@pytest.fixture(scope="module")
def tools() -> Path:
    """The Python generator and type checker, in an environment of their own."""
    return environment(HERE / "requirements.txt")


def environment(requirements: Path) -> Path:
    """Make a virtual environment of what a file names, unless it is there; return where its programs are."""
    wanted = requirements.read_bytes()
    folder = ROOT / ".cache" / f"clients-{hashlib.sha256(wanted + sys.version.encode()).hexdigest()[:12]}"
    mark = folder / "installed"
    if not mark.exists():
        venv.create(folder, clear=True, with_pip=True)
        run([folder / "bin" / "python", "-m", "pip", "install", "-q", "-r", requirements])
        mark.touch()
    return folder / "bin"


def run(command: list[Any], **options: Any) -> str:
    """Run a program to its end; a failure shows what it said."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def environ(service: Up, **more: str) -> dict[str, str]:
    """The variables that a journey reads, and nothing of this checkout's."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH")}
    more |= {"PROGRAMS": "1"} if sandbox.available("python") else {}
    return kept | {"BASE_URL": service.facts["base_url"], "API_KEY": service.facts["test_key"]} | more


def check(printed: str, service: Up, title: str) -> None:
    """Compare what a journey printed with what it did."""
    base_url = service.facts["base_url"]
    told = json.loads(printed)
    assert told.pop("assessments")[0] == title
    assert told.pop("webhooks")[0] == f"{base_url}/hooks"
    wanted = {
        "plan": "growth",
        "attached": 2,
        "replaced": [True, True],
        "status": "active",
        "job": "open",
        "applied": [["cv", "cv.txt"]],
        "added": "letter.txt",
        "pages": ["ada@example.com", "grace@example.com"],
        "spoilt": ["VALIDATION_ERROR", "/title"],
        "replayed": "true",
        "result": "completed",
        "cases": [1, 2],
        "secret": "whsec_",
        "refused": "NOT_FOUND",
        "help": f"{base_url}/docs/errors/NOT_FOUND/",
    }
    assert told == wanted, f"The journey printed {told}"


def test_a_python_client_type_checks_and_plays_the_main_journey(
    service: Up, document: Path, tools: Path, tmp_path: Path
) -> None:
    command = [tools / "openapi-python-client", "generate", "--path", document, "--meta", "none",
               "--output-path", tmp_path / "hiring_client"]  # fmt: skip
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | {"PATH": path}
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    # It tells what it leaves out: the answers that are no JSON, whose bytes the response has all the same.
    left_out = {
        line
        for line in said.splitlines()
        if re.match(r"[A-Z].*(?:[Uu]nsupported|[Cc]annot|[Ee]rror\b)", line)
    }
    assert all(re.search(r"Unsupported content_type application/(yaml|pdf)", line) for line in left_out), said

    for name in ("journey.py", "newer.py"):
        shutil.copy(PYTHON / name, tmp_path)
    run([tools / "mypy", "--config-file", PYTHON / "mypy.ini", "--cache-dir", ROOT / ".mypy_cache" / "clients",
         "hiring_client", "journey.py", "newer.py"], cwd=tmp_path, env=environ(service))  # fmt: skip
    printed = run([tools / "python", "journey.py"], cwd=tmp_path, env=environ(service))
    check(printed, service, "generated-in-python")
    with newer(json.loads(document.read_bytes())) as url:
        printed = run([tools / "python", "newer.py"], cwd=tmp_path, env=environ(service, BASE_URL=url))
    assert json.loads(printed) == [NEW] * 5


def test_a_typescript_client_type_checks_and_plays_the_main_journey(service: Up, document: Path) -> None:
    node = nodes.node()
    if node is None:
        pytest.skip("There is no Node of at least 22.18 here, and none could be installed.")
    npm_install(TYPESCRIPT)
    scripts = TYPESCRIPT / "node_modules"
    schema = TYPESCRIPT / "generated" / "schema.ts"
    run(
        [
            node,
            scripts / "openapi-typescript" / "bin" / "cli.js",
            document,
            "--output",
            schema,
        ]
    )
    run([node, scripts / "typescript" / "bin" / "tsc", "--project", TYPESCRIPT])
    printed = run([node, "--disable-warning=ExperimentalWarning", TYPESCRIPT / "journey.ts"],
                  cwd=TYPESCRIPT, env=environ(service))  # fmt: skip
    check(printed, service, "generated-in-typescript")


def npm_install(folder: Path) -> None:
    """Install a folder's packages, unless what is there is what its lock file names."""
    wanted = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    mark = folder / "node_modules" / ".installed"
    if not mark.exists() or mark.read_text() != wanted:
        nodes.npm("ci", "--silent", cwd=folder)
        mark.write_text(wanted)


def test_deliveries_verify_with_two_libraries_in_typescript(service: Up) -> None:
    node = nodes.node()
    if node is None:
        pytest.skip("There is no Node of at least 22.18 here, and none could be installed.")
    npm_install(TYPESCRIPT)
    printed = run([node, "--disable-warning=ExperimentalWarning", TYPESCRIPT / "verify.ts"],
                  cwd=TYPESCRIPT, env=environ(service), timeout=120)  # fmt: skip
    told = json.loads(printed)
    genuine = ["verified", "refused", "refused"]  # as it came, with a changed body, with another time
    for secret in ("ping", "old", "new"):
        assert told[secret] == {"standardwebhooks": genuine, "svix": genuine}
    assert told["other"] == {name: ["refused"] * 3 for name in ("standardwebhooks", "svix")}
    assert told["type"] == "invitation.created"
