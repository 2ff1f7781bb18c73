"""Every bench in turn; where all ran, and not --quick, it writes bench/results.json and the table of README.md."""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from app.instance.settings import ROOT

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
    "rooms",
    "clocks",
)
RESULTS, README = ROOT / "bench" / "results.json", ROOT / "README.md"
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"


def main() -> None:
    """Run them; one that fails does not keep the others from running."""
    parser = argparse.ArgumentParser(prog="hiring bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds, in under ten minutes")
    parser.add_argument(
        "benches", nargs="*", metavar="BENCH", help=f"of {', '.join(BENCHES)}; all by default"
    )
    given = parser.parse_args()
    if unknown := set(given.benches) - set(BENCHES):
        parser.error(f"There is no bench {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}.")
    figures: list[dict[str, Any]] = []
    failed = []
    for name in given.benches or BENCHES:
        print(f"\n{name}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "figures.json"
            command = [sys.executable, "-W", "ignore", "-m", f"bench.{name}", "--json", str(file)]
            if subprocess.run(
                [*command, *(["--quick"] if given.quick else [])], cwd=ROOT, check=False
            ).returncode:
                failed.append(name)
            else:
                figures += json.loads(file.read_text())
    if not given.benches and not given.quick and not failed:
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
        write_table(figures)
    if failed:
        sys.exit(f"These benches failed: {', '.join(failed)}.")


def write_table(figures: list[dict[str, Any]]) -> None:
    """Put the figures that have a target into the README."""
    lines = [
        f"Measured on {machine()}; `./hiring bench` repeats it. Servers have one core, load and PostgreSQL the other.",
        "All sides use the same PostgreSQL and Redis, and none writes a line for each request.",
        "",
        "| What | Reached | Target |",
        "|---|---|---|",
    ]
    for one in figures:
        if one["target"] is not None:
            sign = "" if one["met"] else " (missed)"
            value = f"{one['value']:,.0f}" if one["value"] >= 1000 else f"{one['value']:.3g}"
            lines.append(f"| {one['name']} | {value} {one['unit']}{sign} | {one['target']} |")
    before, _, rest = README.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    README.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}")


def machine() -> str:
    """Describe this machine in a few words."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else cpu
    return f"{os.cpu_count()} cores of {cpu}, {platform.system()}, Python {platform.python_version()}"


if __name__ == "__main__":
    main()
