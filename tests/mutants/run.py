"""Break the pipeline in one place after the other: `tests/operations` has to see it each time."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.table import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
BESIDE = 2  # mutants under test at a time
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "bench")
PATIENCE = 300.0
PYTEST = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]


def main() -> int:
    """Run them all, or those whose names hold a word of the command line; 1 where one was not seen."""
    wanted = {
        name: one for name, one in MUTANTS.items() if not sys.argv[1:] or any(w in name for w in sys.argv[1:])
    }
    started, unseen = time.monotonic(), []
    with tempfile.TemporaryDirectory() as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(BESIDE):
            copies.put(Path(shutil.copytree(ROOT, Path(folder) / str(number), ignore=LEFT_OUT)))
        with ThreadPoolExecutor(BESIDE) as pool:
            for name, seen, seconds in pool.map(lambda item: _try(copies, *item), wanted.items()):
                print(f"{'seen' if seen else 'NOT SEEN':8}  {seconds:5.1f} s  {name}", flush=True)
                if not seen:
                    unseen.append(name)
    print(f"{len(wanted) - len(unseen)} of {len(wanted)} seen in {time.monotonic() - started:.0f} s")
    return 1 if unseen else 0


def _try(copies: "SimpleQueue[Path]", name: str, mutant: Mutant) -> tuple[str, bool, float]:
    """Put one into a copy of the project and run the tests there."""
    copy, started = copies.get(), time.monotonic()
    file = copy / mutant.file
    whole = file.read_text()
    if whole.count(mutant.old) != 1:
        raise SystemExit(f"{mutant.file} does not hold this once: {mutant.old!r}")
    try:
        file.write_text(whole.replace(mutant.old, mutant.new))
        first = [f"tests/operations/test_{test}.py" for test in mutant.seen_by.split()]
        seen = _seen(copy, first) or _seen(copy, ["tests/operations", *(f"--ignore={one}" for one in first)])
    finally:
        file.write_text(whole)
        copies.put(copy)
    return name, seen, time.monotonic() - started


def _seen(copy: Path, tests: list[str]) -> bool:
    """Say whether a test fails, in a time in which all of them are through on an idle machine."""
    environ = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [*PYTEST, *tests], cwd=copy, env=environ, capture_output=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    if done.returncode not in (0, 1):  # the tests could not run
        raise SystemExit(f"{' '.join(tests)}: {done.stdout.decode()[-2000:]}{done.stderr.decode()[-2000:]}")
    return done.returncode == 1


if __name__ == "__main__":
    sys.exit(main())
