"""Run by its path: makes a folder, says where, waits until whoever asked is gone, and takes the folder away.

It is a process of its own so that nothing stays of who was killed; it needs nothing but the standard library.
"""

import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

PATIENCE = 60.0  # for what still writes there while it ends
# What servers keep apart where they cannot get at the folder, and sockets where its path is too long (places.py).
STATE, SOCKETS = "servers-are-in", "run/sockets-are-in"


def main() -> None:
    """Wait for the end of standard input, which comes with the end of who holds the other side."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, signal.SIG_IGN)
    folder = Path(tempfile.mkdtemp(prefix="hiring-ephemeral-"))
    folder.chmod(0o711)  # as root: the servers' user has to get to what it keeps there
    print(folder, flush=True)
    sys.stdin.read()
    state = _noted(folder / STATE) or folder
    sockets = _noted(state / SOCKETS)
    deadline = time.monotonic() + PATIENCE
    while left := [one for one in (sockets, state, folder) if one and one.exists()]:
        for one in left:
            shutil.rmtree(one, ignore_errors=True)
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)


def _noted(note: Path) -> Path | None:
    try:
        return Path(note.read_text().strip())
    except OSError:
        return None


if __name__ == "__main__":
    main()
