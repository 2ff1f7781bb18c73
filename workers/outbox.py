"""The relays: a commit rings, and what it left to do is handed on. Any number may run side by side."""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Protocol
from uuid import UUID

import redis

import store
from store import outbox
from store.database import bell
from workers import measures
from workers.broker import RUNG_SECONDS

log = logging.getLogger("hiring.relay")

POLL_SECONDS = 1.0  # the net below the bell
ASIDE_SECONDS = (
    0.25  # for which what the bell rings for is left to the process that leads, which may stand still
)
FULL_SECONDS = 0.05  # until there is room again where more is due than the workers can begin
REDIS_AWAY = timedelta(seconds=2)


class Bells(Protocol):
    """What wakes whoever does the work."""

    def ring(self, kind: str) -> None:
        """Wake somebody for one piece of a kind of outbox work."""

    def first(self, ids: Sequence[UUID], most: int) -> int:
        """Note that so many pieces of work are rung for of which nobody has lately; say for how many there were."""

    def most(self) -> Mapping[str, int]:
        """Say for each kind how many pieces its workers will soon begin."""

    def waiting(self, kinds: Sequence[str]) -> Mapping[str, int]:
        """Say of kinds how many messages nobody has fetched yet: each finds something to do by itself."""


class Relay:
    """A thread that takes its turn whenever the bell rings, and again after the seconds that a turn returns.

    Of all that do the same one leads, as long as it lives, and hears the bell at once. The others follow a few times a
    second, since who leads may stand still: it would cost as much again if each of them took a turn at each ring, and
    they would be in each other's way.
    """

    def __init__(
        self,
        name: str,
        turn: Callable[[], float],
        *,
        follow: Callable[[], float] | None = None,
        also: Callable[[], None] = lambda: None,
    ) -> None:
        self._name, self._turn = name, turn
        self._follow = follow or turn  # where another process leads
        self._also = also  # called after each turn
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after what is under way; waits for it."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                with bell.listening() as listener:
                    self._listen(listener)
            except store.OUTAGES as fault:
                log.warning("The database cannot be reached; trying again: %s", fault)
                self._stopping.wait(POLL_SECONDS)
            except Exception:  # a fault of ours must not end the relay of a process that seems to live
                log.exception("The relay failed; trying again.")
                self._stopping.wait(POLL_SECONDS)

    def _listen(self, listener: bell.Listener) -> None:
        leads = False
        while not self._stopping.is_set():
            leads = leads or listener.leads(self._name)
            rest = self._turn() if leads else self._follow()
            self._also()
            if not leads:
                self._stopping.wait(ASIDE_SECONDS)
            listener.wait(rest)


def hand_over(bells: Bells) -> float:
    """Ring for what is due, of each kind no more than its workers can begin; return how long to rest.

    It stays due until somebody begins it, so that a message which is lost is missed by nobody.
    """
    try:
        most = bells.most()
        with store.reading() as reading:
            due = outbox.due(reading, most)
        # Asked after that, so that whoever fetches one of these finds what is due now. There are never fewer messages
        # than pieces that nobody has begun: a message names none, and takes what is due first, whoever it was sent for.
        due = {kind: ids for kind, ids in due.items() if ids}
        waiting = bells.waiting(list(due)) if due else {}
        for kind, ids in due.items():
            left = max(0, len(ids) - waiting[kind])
            # What nobody has begun yet may have its message with a worker; where more is due than is looked at, that
            # one finds something else to do.
            for _ in range(left if len(ids) == most[kind] else bells.first(ids, left)):
                bells.ring(kind)
                measures.HANDED_OVER.inc()
    except redis.RedisError as fault:
        log.warning("Work cannot be handed over: %s", fault)
        return REDIS_AWAY.total_seconds()
    if any(len(ids) == most[kind] for kind, ids in due.items()):
        return FULL_SECONDS
    return RUNG_SECONDS if due else POLL_SECONDS  # a message may be lost
