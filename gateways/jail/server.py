"""The fork server: a warm interpreter that knows nothing, from which each supervisor is forked, and of it the program.

It starts with the environment of programs, which is the same for all of them, in an interpreter that has loaded the
standard library's everyday modules and this package, or those of one work of ours: no settings, keys or connections,
nor any program's text, ever enter it. It ends as soon as the service closes its end of the socket, and everything below
it ends with it.
"""

import contextlib
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable

from gateways.jail import calls, frames, groups, supervise, warm


def main() -> Callable[[], None]:
    """Serve until the service has gone; return, in a process of a program's own, what that has to do."""
    number, wants_groups, work, code = sys.argv[1:]
    control = socket.socket(fileno=int(number))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a supervisor ended: its answer says so
    if work:
        warm.prepare(work, code)
    else:
        warm.load()
    with contextlib.suppress(OSError):  # each run would say so
        calls.program()
    os.chdir("/")
    found = groups.find() if wants_groups else "none were wanted"
    frames.send(control, {"why_no_groups": found if isinstance(found, str) else ""})
    group = None if isinstance(found, str) else found
    gc.collect()
    gc.freeze()
    try:
        while True:
            message, ends, _, _ = socket.recv_fds(control, 1, 1)
            if not message:
                os._exit(0)
            if os.fork() == 0:
                control.close()
                supervise.main(socket.socket(fileno=ends[0]), group)
            os.close(ends[0])
    except warm.Become as program:
        return program.start
