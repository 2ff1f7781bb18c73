"""Every bench in turn; what each measured is kept in bench/results.json, unless it was --quick.

Where all ran so, or with --write, the README's figures and docs/speed.md are written from what is kept.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from app.instance.settings import ROOT
from bench import pages

BENCHES = (
    "start",
    "bulk",
    "schedule",
    "deliveries",
    "audit",
    "area",
    "funnel",
    "search",
    "depth",
    "sandbox",
    "requests",
    "locks",
    "steps",
    "rooms",
    "clocks",
    "idle",
    "scale",
    "soak",
)
# Takes an hour, and is kept, where it is asked for by its name; with all others it runs for a minute.
LONG = {"soak"}


def main() -> None:
    """Run them; one that fails does not keep the others from running."""
    parser = argparse.ArgumentParser(prog="hiring bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds, in under ten minutes")
    parser.add_argument("--write", action="store_true", help="run nothing; write the pages from what is kept")
    parser.add_argument(
        "benches", nargs="*", metavar="BENCH", help=f"of {', '.join(BENCHES)}; all by default"
    )
    given = parser.parse_args()
    if unknown := set(given.benches) - set(BENCHES):
        parser.error(f"There is no bench {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}.")
    if given.write and given.benches:
        parser.error("--write runs nothing: give the benches alone, then --write alone.")
    failed = (
        []
        if given.write
        else [
            name
            for name in given.benches or BENCHES
            if not run(name, given.quick or (name in LONG and not given.benches))
        ]
    )
    if given.write or not (given.benches or given.quick or failed):
        pages.write(BENCHES)
    if failed:
        sys.exit(f"These benches failed: {', '.join(failed)}.")


def run(name: str, quick: bool) -> bool:
    """Run one, and keep its figures where it was whole; say whether it went well."""
    print(f"\n{name}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        command = [sys.executable, "-W", "ignore", "-m", f"bench.{name}", "--json", str(file)]
        if quick:
            command.append("--quick")
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            return False
        if not quick:
            pages.keep(name, json.loads(file.read_text()))
    return True


if __name__ == "__main__":
    main()
