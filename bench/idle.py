"""What processes cost that have nothing to do, and how soon an idle worker begins mail all the same.

`python -m bench.idle`.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from sqlalchemy import select

import store
from app.instance.settings import Settings
from bench import figures
from bench.figures import Figure
from store import outbox
from store.outbox import OutboxItem

SECONDS, QUICK_SECONDS = 60, 10
SETTLED = 5.0  # seconds after the start
MAILS = 20
PROCESS = "from app.instance import processes, settings; processes.{}(settings.read())"
TICKS = os.sysconf("SC_CLK_TCK")


def measure(quick: bool) -> list[Figure]:
    """Start a worker with all kinds and a schedule, and leave them alone."""
    seconds = QUICK_SECONDS if quick else SECONDS
    with figures.place() as settings:
        started = {name: start(name, settings) for name in ("work", "schedule")}
        try:
            time.sleep(SETTLED)
            before = {name: used(process) for name, process in started.items()}
            time.sleep(seconds)
            shares = {
                name: 100 * (used(process) - before[name]) / seconds for name, process in started.items()
            }
            begun = [begin(number) for number in range(MAILS)]
        finally:
            for process in started.values():
                figures.stop(process)
    return [
        figures.at_most("idle: a worker with all kinds, of a core", shares["work"], "%", 1),
        figures.at_most("idle: a schedule, of a core", shares["schedule"], "%", 1),
        figures.at_most("idle: until mail begins, longest", max(begun), "s", 1),
        figures.plain("idle: until mail begins", begun, "s"),
    ]


def start(name: str, settings: Settings) -> "subprocess.Popen[bytes]":
    return figures.start([sys.executable, "-c", PROCESS.format(name)], settings)


def used(process: "subprocess.Popen[bytes]") -> float:
    """Return the seconds of a core that a process has used."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def begin(number: int) -> float:
    """Ask for a mail after a while without any; return how long it takes until somebody begins it."""
    time.sleep(1 + number / MAILS)
    with store.transaction() as session:
        outbox.add(session, None, "mail", template="none")

    def begun() -> bool:
        with store.transaction() as session:
            return session.scalars(select(OutboxItem.attempts).order_by(OutboxItem.id.desc())).first() == 1

    return figures.wait_until(begun, seconds=60, what="A mail")


if __name__ == "__main__":
    figures.main(measure, __doc__)
