"""From the command to the first answer of `hiring web`, and the memory of its process: `python -m bench.start`."""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from app.instance.settings import ROOT, Settings
from bench import figures
from bench.figures import Figure
from bench.sides import KINDS, PLANS, free_port, prepare


def measure(quick: bool) -> list[Figure]:
    """Start the process again and again; look at its memory after a few hundred requests.

    Its code is compiled, as an installation leaves it: a checkout may have been changed since, and hold none.
    """
    ours = sorted(str(found.parent) for found in ROOT.glob("*/__init__.py"))
    subprocess.run([sys.executable, "-m", "compileall", "-q", "-j", "0", *ours], check=True)
    with figures.place(plans=PLANS) as settings:
        key = prepare()
        found = [start(settings, key) for _ in range(3 if quick else 7)]
    return [
        figures.at_most("start: first answer of hiring web", [one[0] for one in found], "s", 2),
        figures.at_most("start: memory of a web process", [one[1] for one in found], "MiB", 160),
    ]


def start(settings: Settings, key: str) -> tuple[float, float]:
    port = free_port()
    began = time.monotonic()
    command = [sys.executable, "-P", "-m", "app.cli", "web", "--port", str(port)]
    process = figures.start(command, settings, PLANS=PLANS)
    try:
        figures.wait_until(lambda: answers(port, KINDS["get"], key), seconds=60, what="The start")
        took = time.monotonic() - began
        for _ in range(100):
            for kind in ("get", "page_20", "page_100"):
                assert answers(port, KINDS[kind], key)
        return took, memory(process.pid)
    finally:
        figures.stop(process)


def answers(port: int, path: str, key: str) -> bool:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", headers={"Authorization": f"Bearer {key}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return bool(json.load(answer))
    except urllib.error.HTTPError:
        raise
    except OSError:
        return False


def memory(pid: int) -> float:
    """Return the resident memory of a process in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return float("nan")


if __name__ == "__main__":
    figures.main(measure, __doc__)
