"""Other stock generators, as they come: what they make type-checks and plays the hiring journey (`-e generators`)."""

import json
import os
import shutil
from pathlib import Path

import pytest

from app.instance.settings import ROOT
from tests import nodes
from tests.app.instances import Up
from tests.clients.newer import NEW, newer
from tests.clients.test_clients import document, environ, environment, npm_install, run, service

__all__ = ["document", "service"]  # fixtures

HERE = Path(__file__).resolve().parent
STOCK = HERE / "stock"
JOURNEY = {
    "plan": "growth",
    "replayed": "true",
    "attached": 2,
    "replaced": [True, True],
    "status": "active",
    "job": "open",
    "cv": ["cv", "cv.txt"],
    "pages": ["ada@example.com", "grace@example.com"],
    "refused": "NOT_FOUND",
    "spoilt": "/title",
}


DEBIANS = Path("/usr/share/java")
JARS = {  # with Debian's package; tests/clients/stock/java has the signatures of what Debian lacks
    DEBIANS / "gson.jar": "libgoogle-gson-java",
    DEBIANS / "okhttp.jar": "libokhttp-java",
    DEBIANS / "okio.jar": "libokio-java",
    DEBIANS / "geronimo-annotation-1.3-spec.jar": "libgeronimo-annotation-1.3-spec-java",
}


@pytest.fixture(scope="module")
def bin() -> Path:
    """openapi-generator, a Java to run it, and what its Python client needs."""
    return environment(STOCK / "requirements.txt")


def generate(bin: Path, document: Path, language: str, target: Path) -> None:
    """Run openapi-generator without a word of ours."""
    run([bin / "openapi-generator-cli", "generate", "-i", document, "-g", language, "-o", target],
        env=os.environ | {"PATH": f"{bin}{os.pathsep}{os.environ['PATH']}"})  # fmt: skip


def test_openapi_generators_python_client_plays_the_hiring_journey(
    service: Up, document: Path, bin: Path, tmp_path: Path
) -> None:
    generate(bin, document, "python", tmp_path)
    for name in ("journey.py", "newer.py"):
        shutil.copy(STOCK / name, tmp_path)
    checked = [
        bin / "mypy",
        "--config-file",
        STOCK / "mypy.ini",
        "--cache-dir",
        ROOT / ".mypy_cache" / "stock",
    ]
    run([*checked, "journey.py", "newer.py"], cwd=tmp_path, env=environ(service))
    told = json.loads(run([bin / "python", "journey.py"], cwd=tmp_path, env=environ(service)))
    assert told == JOURNEY | {"result": "completed", "cases": [1, 2]}
    with newer(json.loads(document.read_bytes())) as url:
        printed = run([bin / "python", "newer.py"], cwd=tmp_path, env=environ(service, BASE_URL=url))
    assert json.loads(printed) == [NEW] * 5


def compile_and_run(service: Up, folder: Path, name: str) -> None:
    """Compile a journey with what was generated beside it, strictly, and play it."""
    node = nodes.node()
    assert node
    typescript = STOCK / "node_modules" / "typescript" / "bin" / "tsc"
    shutil.copy(STOCK / f"{name}.ts", folder)
    run([node, typescript, "--strict", "--target", "es2022", "--module", "commonjs", "--moduleResolution", "node10",
         "--types", "node", "--typeRoots", STOCK / "node_modules" / "@types", "--outDir", folder / "made",
         folder / f"{name}.ts"])  # fmt: skip
    told = json.loads(run([node, folder / "made" / f"{name}.js"], env=environ(service)))
    assert told == JOURNEY | {"invited": "pending"}


@pytest.fixture(scope="module")
def scripts() -> Path:
    """Hey API and TypeScript."""
    if nodes.node() is None:
        pytest.skip("There is no Node of at least 22.18 here, and none could be installed.")
    npm_install(STOCK)
    return STOCK / "node_modules"


def test_openapi_generators_fetch_client_plays_the_hiring_journey(
    service: Up, document: Path, bin: Path, scripts: Path, tmp_path: Path
) -> None:
    generate(bin, document, "typescript-fetch", tmp_path / "generated" / "fetch")
    compile_and_run(service, tmp_path, "fetch")


def test_hey_apis_client_plays_the_hiring_journey(
    service: Up, document: Path, scripts: Path, tmp_path: Path
) -> None:
    made = tmp_path / "generated" / "hey"
    run([nodes.node(), scripts / "@hey-api" / "openapi-ts" / "bin" / "run.js", "-i", document, "-o", made])
    compile_and_run(service, tmp_path, "hey")


def test_openapi_generators_java_client_compiles_and_names_every_body(
    document: Path, bin: Path, tmp_path: Path
) -> None:
    generate(bin, document, "java", tmp_path)
    made = tmp_path / "src" / "main" / "java" / "org" / "openapitools" / "client"
    assessments = (made / "api" / "AssessmentsApi.java").read_text()
    for signature in (
        "createAssessment(@javax.annotation.Nonnull AssessmentCreate ",
        "CasesAttach ",
        "CasesReplace ",
    ):
        assert signature in assessments
    lacking = [package for jar, package in JARS.items() if not jar.exists()]
    javac = shutil.which("javac")
    if lacking or javac is None:
        pytest.skip(
            f"It was made, but not compiled: of Debian's packages there is no {lacking or ['a JDK']}."
        )
    # The generator's own jar has the rest: commons-lang3, and javax.annotation's Nonnull.
    [generator] = bin.parent.glob("lib/python*/site-packages/openapi_generator_cli/*.jar")
    sources = [*(tmp_path / "src" / "main").rglob("*.java"), *(STOCK / "java").rglob("*.java")]
    jars = os.pathsep.join(map(str, [generator, *JARS]))
    run([javac, "-proc:none", "-d", tmp_path / "made", "-cp", jars, *sources])
