"""The files for deployments: what goes into an image, and what containers and units are held to."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from app.instance.settings import ROOT, Settings
from rules.languages import CATALOGUES
from tests.hooks import wired
from tests.shared import free_port, process

__all__ = ["wired"]

DEPLOY = ROOT / "docs" / "deploy"
SECONDS = {"s": 1, "m": 60}


def pattern(line: str) -> re.Pattern[str]:
    """Return what a line of a .dockerignore means: a path, or all that is below it."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    written = re.sub(
        r"\*\*/|\*\*|\*|\?|[^*?]+", lambda found: parts.get(found[0], re.escape(found[0])), line.strip("/")
    )
    return re.compile(f"{written}(?:/.*)?")


LINES = [
    line
    for line in (ROOT / ".dockerignore").read_text().splitlines()
    if line.strip() and not line.startswith("#")
]


def in_image(path: str) -> bool:
    """Say whether a file of the checkout goes into an image: the last line that knows it decides."""
    kept = True
    for line in LINES:
        if pattern(line.removeprefix("!")).fullmatch(path):
            kept = line.startswith("!")
    return kept


OF_TESTS = {"hiring_testing"}  # for those who test against an instance: no instance needs it
NEVER = {".data", ".venv", ".git", ".cache", ".tox", "tests", "bench", "node_modules", "__pycache__"}


@pytest.fixture(scope="module")
def image() -> list[str]:
    """Every file of this checkout that would go into an image."""
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in {".git", ".cache", ".venv", "node_modules"}]
        found += [Path(folder, name).relative_to(ROOT).as_posix() for name in files]
    return [path for path in found if in_image(path)]


def test_an_image_has_no_data_no_history_and_no_secret(image: list[str]) -> None:
    assert not [path for path in image if NEVER & set(Path(path).parts)]
    assert not [
        path for path in image if re.search(r"\.(?:env|pem|key|dump|eml)$|secret_key|(?:^|/)\.", path)
    ]


@pytest.mark.parametrize(
    "path",
    [
        ".data/secret_key",
        ".data/postgres/PG_VERSION",
        ".git/config",
        ".venv/bin/python",
        ".env",
        "docs/deploy/.env",
        "docs/deploy/hiring.env",
        "app/.env",
        "app/instance/__pycache__/settings.pyc",
        "id_rsa",
        "hiring.dump",
        "data/files/attachments/1",
        "tests/conftest.py",
        "node_modules/a/index.js",
    ],
)
def test_what_may_lie_beside_the_code_stays_out(path: str) -> None:
    assert not in_image(path)


def test_an_image_has_all_that_a_wheel_has(image: list[str]) -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    packages = {name.rstrip("*") for name in told["packages"]["find"]["include"]} - OF_TESTS
    assert packages == {path.partition("/")[0] for path in image if "/" in path}
    for package, patterns in told["package-data"].items():
        folder = ROOT / package.replace(".", "/")
        read = [path for each in patterns for path in folder.glob(each) if path.is_file()]
        assert read, package
        assert {path.relative_to(ROOT).as_posix() for path in read} <= set(image), package


def test_an_image_serves_its_api_its_pages_and_its_guides(
    image: list[str], wired: Settings, tmp_path: Path
) -> None:
    for path in image:
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)
    [words] = re.findall(
        r"^RUN \S+/python (-m compileall .*)$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE
    )
    subprocess.run(f"{sys.executable} {words.replace('/opt/hiring', str(tmp_path))}", shell=True, check=True)
    code = list(tmp_path.rglob("*.py"))
    assert code
    assert not [path for path in code if not Path(cache_from_source(str(path))).exists()]
    port = free_port()
    with (
        process(wired, "web", "--port", str(port), ready="startup complete", root=tmp_path),
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30, trust_env=False) as client,
    ):
        for path, words in {
            "/readyz": '"ok"',
            "/": "<!doctype html>",
            "/docs/": "<!doctype html>",
            "/docs/guides/quickstart/": "<!doctype html>",
            "/docs/errors/LIMIT_REACHED/": "LIMIT_REACHED",
            "/docs/api-changelog/": "<!doctype html>",
            "/static/style.css": "{",
            "/api/v1/public/openapi.json": '"openapi"',
        }.items():
            answer = client.get(path)
            assert (answer.status_code, words in answer.text) == (200, True), path
        for language in CATALOGUES:
            page = client.get("/", headers={"Accept-Language": language}).text
            assert f'<html lang="{language}"' in page, language


# --- compose


def composed() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    return services


@pytest.mark.parametrize("name", composed())
def test_a_container_has_limits_a_root_that_is_only_read_no_more_privileges_and_time_to_end(
    name: str,
) -> None:
    one = composed()[name]
    assert {"mem_limit", "cpus", "pids_limit"} <= one.keys()
    assert "no-new-privileges:true" in one["security_opt"]
    assert one["read_only"] is True
    assert seconds(one["stop_grace_period"]) >= 10


def seconds(written: str) -> int:
    return int(written[:-1]) * SECONDS[written[-1]]


OURS = [name for name, one in composed().items() if one["image"] == "hiring"]


@pytest.mark.parametrize("name", OURS)
def test_a_container_of_ours_writes_nowhere_but_where_it_keeps_things(name: str) -> None:
    one = composed()[name]
    assert one["cap_drop"] == ["ALL"]
    assert [mount.split(":")[0] for mount in one["tmpfs"]] == ["/tmp"]
    assert one["ulimits"]["nofile"] >= 65536
    kept = [volume.split(":")[1] for volume in one["volumes"]]
    for setting in ("MAIL_DIR", "FILES_DIR"):
        assert any(one["environment"][setting].startswith(f"{folder}/") for folder in kept)


@pytest.mark.parametrize("name", [name for name in OURS if name != "migrate"])
def test_a_container_has_as_long_to_end_as_a_unit(name: str) -> None:
    [path] = DEPLOY.glob(f"hiring-{name}*.service")
    assert seconds(composed()[name]["stop_grace_period"]) >= int(unit(path)["Service"]["TimeoutStopSec"])


# --- units


def unit(path: Path) -> ConfigParser:
    read = ConfigParser(interpolation=None, strict=False)
    read.optionxform = str  # type: ignore[assignment,method-assign]  # names have capitals
    read.read(path)
    return read


@pytest.mark.parametrize("path", sorted(DEPLOY.glob("*.service")), ids=lambda path: path.name)
def test_a_unit_has_open_files_enough_and_is_always_started_again(path: Path) -> None:
    read = unit(path)
    assert int(read["Service"]["LimitNOFILE"]) >= 65536
    assert read["Unit"]["StartLimitIntervalSec"] == "0"
    assert read["Service"]["Restart"] == "always"
    assert read["Service"]["NoNewPrivileges"] == "yes"
    assert read["Service"]["ProtectSystem"] == "strict"
