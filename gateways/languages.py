"""The languages of coding cases: how each is started and which files of the machine it needs to see."""

import functools
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

# Prints the rows of one query as the sqlite3 shell does: `|` between values, NULL as nothing.
SQL_RUNNER = r"""
import sqlite3, sys

def show(value):
    if value is None:
        return ""
    if isinstance(value, float):
        text = format(value, ".15g")
        return text if set(text) & set(".einf") else text + ".0"
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

database = sqlite3.connect(":memory:")
database.execute("PRAGMA temp_store = MEMORY")  # or a large sort fills the small folder first
try:
    database.executescript(sys.stdin.read())
    with open("/box/query.sql", encoding="utf-8") as file:
        rows = database.execute(file.read())
        for row in rows:
            print("|".join(map(show, row)))
except (sqlite3.Error, sqlite3.Warning) as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


@dataclass(frozen=True)
class Language:
    """How to start one language; arguments may name `{memory}` in MiB."""

    find: Callable[[], str | None]  # where its program is
    file: str  # what the candidate's text is called in /box
    arguments: tuple[str, ...]
    probe: str  # a text that prints 42
    beside: dict[str, str] = field(default_factory=dict)  # further files in /box
    fine: tuple[int, ...] = (0,)  # exit statuses that mean nothing went wrong
    reserves: bool = False  # takes far more address space than memory
    # Run once behind the same walls; what it leaves in /box is what each run starts from.
    build: tuple[str, ...] = ()


@functools.cache
def python() -> str:
    """Find the interpreter itself: not the shim, nor the link in a virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def _on_path(*names: str) -> str | None:
    return next((os.path.realpath(found) for name in names if (found := shutil.which(name))), None)


_PYTHON = ("-I", "-S", "-B", "-X", "utf8")

LANGUAGES: dict[str, Language] = {
    "python": Language(python, "main.py", (*_PYTHON, "/box/main.py"), "print(42)"),
    "javascript": Language(
        lambda: _on_path("node", "nodejs"),
        "main.js",
        ("--max-old-space-size={memory}", "/box/main.js"),
        "console.log(42)",
        reserves=True,
    ),
    "bash": Language(
        lambda: _on_path("bash"),
        "main.sh",
        ("--noprofile", "--norc", "/box/main.sh"),
        "echo $((6 * 7))",
        fine=(0, 1),  # a last `grep` or `[ … ] && …` that is merely false
    ),
    "sql": Language(
        python, "query.sql", (*_PYTHON, "/box/.run.py"), "SELECT 42", beside={".run.py": SQL_RUNNER}
    ),
}

# Programs and their libraries, and no more: services keep code and data below /usr/local, /usr/src or /srv.
SYSTEM = (
    *(f"/usr/{name}" for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec")),
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"),
    *("/usr/share/nodejs", "/usr/share/zoneinfo"),
    *("/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime"),
)
SERVICE = Path(__file__).resolve().parent.parent


def walls(tool: str) -> list[tuple[str, str]]:
    """List what to show, then what of it to cover: programs and the tool, never the service's own code."""
    # The interpreter needs its standard library and the shared libraries it came with.
    shown = [tool, str(Path(sys.base_prefix, "lib"))] if tool == python() else [tool]
    show = [*SYSTEM, *(path for path in shown if not _is_shown(path))]
    cover = [path for library in {"/usr/lib", "/usr/lib64", *shown[1:]} for path in _installed(library)]
    if _is_shown(str(SERVICE)):
        cover.append(str(SERVICE))
    return [*(("bind", path) for path in show), *(("hide", path) for path in cover)]


def _is_shown(path: str) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in SYSTEM)


@functools.cache
def _installed(library: str) -> list[str]:
    """Find the folders of installed packages, which may hold the service itself."""
    names = ("site-packages", "dist-packages")
    return [str(path) for name in names for path in Path(library).glob(f"python*/{name}")]
