"""`./hiring` installs itself: the real script and the real pip, on a project that needs nothing from a network."""

import os
import shutil
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import pytest

from app.instance.settings import ROOT

PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "hiring"
version = "1"
optional-dependencies = { embedded = [], dev = [] }
"""
BACKEND = """
import pathlib, zipfile

def build_editable(folder, config_settings=None, metadata_directory=None):
    here, name = pathlib.Path(__file__).parent, "hiring-1-py3-none-any.whl"
    (here / "builds").open("a").write("build\\n")
    info = "Metadata-Version: 2.1\\nName: hiring\\nVersion: 1\\nProvides-Extra: embedded\\nProvides-Extra: dev\\n"
    with zipfile.ZipFile(pathlib.Path(folder, name), "w") as wheel:
        wheel.writestr("hiring.pth", str(here))
        wheel.writestr("hiring-1.dist-info/METADATA", info)
        wheel.writestr("hiring-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("hiring-1.dist-info/RECORD", "")
    return name

build_wheel = build_editable
"""
COMMAND_LINE = "import sys; print('ran', *sys.argv[1:])\n"


def project(folder: Path) -> Path:
    """Make a small project with our script and our installer."""
    (folder / "app" / "instance").mkdir(parents=True)
    shutil.copy(ROOT / "hiring", folder / "hiring")
    shutil.copy(ROOT / "app" / "instance" / "install.py", folder / "app" / "instance" / "install.py")
    (folder / "app" / "__init__.py").touch()
    (folder / "app" / "cli.py").write_text(COMMAND_LINE)
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "constraints.txt").touch()
    (folder / "backend.py").write_text(BACKEND)
    return folder


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    return project(tmp_path / "a clone")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has run."""
    folder = project(tmp_path_factory.mktemp("installed") / "a clone")
    out, err = run(folder / "hiring", "up", "--data", "a folder")
    assert out == "ran up --data a folder\n"
    assert "Installing" in err
    assert "Installed" in err
    return folder


def start(
    command: Path | str, *words: str, first: Path = Path(sys.executable).parent, **options: Any
) -> subprocess.Popen[str]:
    """Start it as from a shell whose PATH has this folder first, and which has nothing else of ours."""
    environ = {
        "PATH": f"{first}:{os.environ['PATH']}",
        "HOME": os.environ.get("HOME", "/"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    options = {"env": environ, "cwd": "/"} | options
    return subprocess.Popen(
        [command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )  # fmt: skip


def run(command: Path | str, *words: str, **options: Any) -> tuple[str, str]:
    out, err = start(command, *words, **options).communicate(timeout=120)
    return out, err


def builds(clone: Path) -> int:
    return (clone / "builds").read_text().count("\n")


def test_the_first_run_installs_and_later_runs_do_not_until_the_project_changes(installed: Path) -> None:
    assert run(installed / "hiring", "again") == ("ran again\n", "")
    assert builds(installed) == 1
    with (installed / "constraints.txt").open("a") as file:
        file.write("# another\n")
    out, err = run(installed / "hiring", "changed")
    assert out == "ran changed\n"
    assert "Installing" in err
    assert builds(installed) == 2


def test_what_is_installed_is_compiled(installed: Path) -> None:
    for folder in (installed / "app", installed / ".venv" / "lib"):
        sources = [path for path in folder.rglob("*.py") if "__pycache__" not in path.parts]
        assert sources
        assert not [path for path in sources if not Path(cache_from_source(str(path))).exists()], folder


def test_it_can_be_called_through_links_from_anywhere(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "first").symlink_to(installed / "hiring")
    (tmp_path / "bin" / "second").symlink_to("first")
    assert run(tmp_path / "bin" / "second", "x", cwd=tmp_path) == ("ran x\n", "")
    assert run("./hiring", "y", cwd=installed) == ("ran y\n", "")
    assert run("./a clone/hiring", "z", cwd=installed.parent) == ("ran z\n", "")


def test_a_half_finished_install_is_made_anew(clone: Path) -> None:
    (clone / ".venv" / "bin").mkdir(parents=True)
    (clone / ".venv" / "installing").touch()
    (clone / ".venv" / "bin" / "python").symlink_to("/nowhere")
    assert run(clone / "hiring", "x")[0] == "ran x\n"


def test_an_environment_that_is_active_is_made_anew_too(clone: Path) -> None:
    run(clone / "hiring", "up")
    (clone / ".venv" / "installing").touch()
    out, err = run(clone / "hiring", "up", first=clone / ".venv" / "bin")
    assert out == "ran up\n"
    assert "Installed" in err


def test_a_linked_folder_is_used_and_made_anew_where_it_was_left_half_finished(
    clone: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (clone / ".venv").symlink_to(elsewhere)
    assert run(clone / "hiring", "x")[0] == "ran x\n"
    assert (clone / ".venv").is_symlink()
    assert run(clone / "hiring", "y") == ("ran y\n", "")
    (elsewhere / "installing").write_text(f"{clone}\n")
    (elsewhere / "bin" / "python").unlink()
    assert run(clone / "hiring", "z")[0] == "ran z\n"
    assert builds(clone) == 2


def test_a_link_to_what_is_not_for_this_folder_is_named_and_left_alone(clone: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "installed-embedded").write_text("1 2 /another/folder\n")
    (elsewhere / "installing").write_text("/another/folder\n")
    for target in (elsewhere, tmp_path / "nowhere"):
        (clone / ".venv").symlink_to(target)
        with start(clone / "hiring", "x") as process:
            out, err = process.communicate(timeout=120)
        assert (process.returncode, out) == (1, "")
        assert f".venv is a link to {target}" in err.splitlines()[-1]
        assert "Traceback" not in err
        (clone / ".venv").unlink()
    assert {one.name for one in elsewhere.iterdir()} == {"installed-embedded", "installing"}


def test_a_moved_folder_is_installed_anew(installed: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(installed, tmp_path / "moved", symlinks=True))
    out, err = run(moved / "hiring", "x")
    assert out == "ran x\n"
    assert "Installed" in err


def test_two_first_runs_at_once_install_once(clone: Path) -> None:
    both = [start(clone / "hiring", "x") for _ in range(2)]
    assert [process.communicate(timeout=120)[0] for process in both] == ["ran x\n", "ran x\n"]
    assert builds(clone) == 1


def test_a_failed_install_says_why_and_the_next_run_tries_again(clone: Path) -> None:
    backend = (clone / "backend.py").read_text()
    (clone / "backend.py").write_text("raise RuntimeError('no such mirror')\n")
    with start(clone / "hiring", "x") as process:
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (1, "")
    assert "no such mirror" in err
    assert "The installation failed" in err
    (clone / "backend.py").write_text(backend)
    assert run(clone / "hiring", "x")[0] == "ran x\n"


def test_without_python_it_says_what_it_needs(clone: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("cat", "cksum", "readlink"):
        (tools / name).symlink_to(str(shutil.which(name)))
    with start(clone / "hiring", "up", env={"PATH": str(tools)}) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "needs Python 3.11" in err
