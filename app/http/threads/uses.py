"""Uses of keys and sessions, written by a thread of its own: no request waits for it, and none costs a commit."""

import logging
import threading
import time
from uuid import UUID

import store
from rules.clock import now
from store.accounts.uses import Note, Use

GATHERED_SECONDS = 0.25  # what is used meanwhile is written with one commit
log = logging.getLogger("hiring.keys")


class Uses:
    """What is to be noted: of each key and session the last use alone."""

    def __init__(self) -> None:
        self.waiting: dict[Note, dict[UUID, Use]] = {}
        self._lock, self._are_some = threading.Lock(), threading.Event()
        self._thread = threading.Thread()

    def add(self, note: Note, id: UUID, address: str) -> None:
        """Have the use of this moment written."""
        with self._lock:
            self.waiting.setdefault(note, {})[id] = Use(address, now())
            if not self._thread.is_alive():  # at first, and in a process that forked
                self._thread = threading.Thread(target=self._write, name="key-uses", daemon=True)
                self._thread.start()
        self._are_some.set()

    def _write(self) -> None:
        while True:
            self._are_some.wait()
            time.sleep(GATHERED_SECONDS)
            self._are_some.clear()
            with self._lock:
                gathered, self.waiting = self.waiting, {}
            for note, uses in gathered.items():
                try:
                    with store.transaction() as session:
                        left = note(session, uses)
                    if left:
                        self._put_back(note, left)
                except Exception as fault:  # their next requests note it
                    log.warning("%d uses of keys or sessions could not be noted: %s", len(uses), fault)

    def _put_back(self, note: Note, left: dict[UUID, Use]) -> None:
        with self._lock:
            self.waiting[note] = left | self.waiting.get(note, {})
        self._are_some.set()
