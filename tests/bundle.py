"""Hold static/room.js against what its sources make: `python tests/bundle.py`, with --write to make it anew.

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

SOURCES, MADE = ROOT / "static" / "src", ROOT / "static" / "room.js"


def main() -> int:
    """Make the script, and say whether it is the one that is there."""
    own, npm = lint.node()
    environ = {**os.environ, "PATH": f"{Path(own).parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run([*npm, "ci", "--silent", "--no-audit", "--no-fund"], cwd=SOURCES, env=environ, check=True)
    with tempfile.TemporaryDirectory() as folder:
        made = MADE if "--write" in sys.argv else Path(folder) / "room.js"
        subprocess.run([own, "build.mjs", str(made)], cwd=SOURCES, env=environ, check=True)
        if made.read_bytes() == MADE.read_bytes():
            return 0
    print("static/room.js is not what static/src makes: run this with --write, and commit it.")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
