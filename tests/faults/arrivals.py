"""Where the neighbour's webhooks and everybody's mails arrive: `python -m tests.faults.arrivals`, a process of its own.

A process that measures and receives would count its own slowness. It says first where it is, then a line for each
arrival of the neighbour's (the kind, the number, the moment); each line it is told is `silent` or `speak`, to the mail
server.
"""

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from tests import post as posts
from tests import receiver as receivers
from tests.receiver import Answer, Received

NUMBER = re.compile(rb"n-(\d+)@example\.com", re.IGNORECASE)
MAILED = re.compile(rb"^To:.*?n-(\d+)@example\.com", re.MULTILINE | re.IGNORECASE)
Heard = Callable[[str, int, float], None]


@dataclass
class Arrivals:
    """The other end of the process."""

    hook: str
    smtp: str
    orders: IO[str]
    heard: Heard = lambda kind, number, moment: None

    def silence(self) -> None:
        """Let the mail server take connections and say nothing."""
        print("silent", file=self.orders, flush=True)

    def speak(self) -> None:
        """Let it go on."""
        print("speak", file=self.orders, flush=True)


@contextmanager
def running() -> Iterator[Arrivals]:
    """Receive as long as the block."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.faults.arrivals"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        said = process.stdout
        arrivals = Arrivals(**json.loads(said.readline()), orders=process.stdin)

        def listen() -> None:
            for line in said:
                kind, number, moment = line.split()
                arrivals.heard(kind, int(number), float(moment))

        listening = threading.Thread(target=listen, daemon=True)
        listening.start()
        try:
            yield arrivals
        finally:
            process.stdin.close()
            process.wait()
            listening.join()


def main() -> None:
    """Receive until nobody gives orders any more."""
    with receivers.running() as hook, posts.running() as post:

        def tell(kind: str, found: re.Match[bytes] | None) -> None:
            if found:
                sys.stdout.write(f"{kind} {int(found[1])} {time.monotonic()}\n")
                sys.stdout.flush()

        def delivered(request: Received) -> Answer:
            hook.clear()  # nobody asks for them
            if b'"invitation.created"' in request.body:
                tell("delivery", NUMBER.search(request.body))
            return Answer()

        hook.answer(delivered)
        post.taken = lambda mail: tell("mail", MAILED.search(mail))
        print(json.dumps({"hook": hook.url, "smtp": post.url.replace("ann:secret@", "")}), flush=True)
        for line in sys.stdin:
            (post.speaking.clear if line.strip() == "silent" else post.speaking.set)()


if __name__ == "__main__":
    main()
