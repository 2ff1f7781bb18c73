"""Whose turn it is: within one kind of work and one process, organisations follow each other."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import store
from store import outbox
from store.outbox import FIRST_TURN, Taken, Turn
from workers import leases


class Turns:
    """Takes work of one kind: one piece of each party after the other's, and never with every thread for one."""

    def __init__(self, kind: str, *, threads: int) -> None:
        self.kind = kind
        self._share = max(1, threads - 1)
        self._last: Turn = FIRST_TURN
        self._under_way: Counter[UUID] = Counter()  # by organisation
        self._taking = threading.Lock()

    @contextmanager
    def next(self) -> Iterator[Taken | None]:
        """Begin the next piece of work, for as long as the block; None where nobody has any whose turn it can be."""
        taken = self._take()
        try:
            yield taken
        finally:
            if taken:
                with self._taking:
                    self._under_way[taken.organisation_id] -= 1

    def crowded(self) -> bool:
        """Say whether somebody's work has to wait because of what else of theirs is under way."""
        return bool(self._busy())

    def _busy(self) -> list[UUID]:
        return [owner for owner, count in self._under_way.items() if count >= self._share]

    def _take(self) -> Taken | None:
        with self._taking:
            with store.at_once() as means:
                taken = outbox.take(means, self.kind, after=self._last, busy=self._busy(), lease=leases.LEASE)
            if taken:
                self._last = (taken.organisation_id, taken.livemode)
                self._under_way += Counter([taken.organisation_id])  # forgets whoever has none
            return taken
