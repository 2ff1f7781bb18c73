"""How long a thread waited for one of the machine's cores: what a full machine costs, and how to leave it to others."""

import os

from gateways.jail import kernel

# Whoever is to leave cores to others rests, so many times as long as its work waited for one; seconds at most.
TIMES, LONGEST = 48, 0.25


class Waits:
    """How long this thread waited for a core, though it could have gone on."""

    def __init__(self) -> None:
        try:  # the second of its numbers, in nanoseconds; only Linux says it
            self.file = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        except OSError:
            self.file = -1
        self.seen = 0
        self.since()

    def since(self) -> float:
        """Return the seconds since it was last asked."""
        if self.file < 0:
            return 0.0
        waited = int(os.pread(self.file, 100, 0).split()[1])
        before, self.seen = self.seen, waited
        return (waited - before) / 1e9


def rest(waited: float) -> float:
    """Return for how many seconds to rest after work that waited for so many."""
    return min(LONGEST, TIMES * waited)


def give_way(niceness: int) -> None:
    """Let other processes have the cores first, if they want them, for the rest of this one's life."""
    nicer = os.nice(niceness)
    if os.getsid(0) == os.getpid():
        kernel.give_way(os.getpid(), nicer)
