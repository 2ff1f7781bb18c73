"""Hold the scripts that have packages in them against their sources: `python tests/bundle.py`; --write makes them anew.

Node is found as the documents' linters find it. Packages come from the registry as package-lock.json names them.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.document import lint  # noqa: E402 - a script, which has the root from the line above

STATIC = ROOT / "static"
SOURCES = STATIC / "src"
MADE = ("room.js", "editor.js", "record.js", "play.js", "built-*.js", "built-*.css")


def _scripts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for pattern in MADE for path in folder.glob(pattern)}


def main() -> int:
    """Make the scripts, and say whether they are those that are there."""
    own, npm = lint.node()
    quiet = {"SCARF_ANALYTICS": "false"}  # what a package would tell somebody else about who installs it
    environ = {**os.environ, **quiet, "PATH": f"{Path(own).parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run([*npm, "ci", "--silent", "--no-audit", "--no-fund"], cwd=SOURCES, env=environ, check=True)
    with tempfile.TemporaryDirectory() as folder:
        made = STATIC if "--write" in sys.argv else Path(folder)
        subprocess.run([own, "build.mjs", str(made)], cwd=SOURCES, env=environ, check=True)
        fresh, there = _scripts(made), _scripts(STATIC)
    others = sorted(name for name in fresh.keys() | there.keys() if fresh.get(name) != there.get(name))
    for name in others:
        print(f"static/{name} is not what static/src makes: run this with --write, and commit it.")
    return len(others)


if __name__ == "__main__":
    raise SystemExit(main())
