"""What was set aside of what falls due is tried again, by a thread for which nothing else waits."""

import logging
import threading
from collections.abc import Sequence

import store
from store.database import aside
from store.database.base import Party
from workers import apart, few, measures
from workers.schedule import Kind

log = logging.getLogger("hiring.schedule")

POLL_SECONDS = 1.0
MOST = 200  # rows that are tried at once
LAST_SECONDS = 1.0  # for what is under way, when all else has ended


class Again:
    """Tries one party's after another's; what fails again has a tenth of its time."""

    def __init__(self, kinds: Sequence[Kind]) -> None:
        self._kinds = {kind.name: kind for kind in kinds}
        self._sizes: dict[tuple[str, Party], int] = {}  # how many of theirs are tried at once
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="again", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wind_up(self) -> None:
        """Begin to end: try nothing more. Does not wait."""
        self._stopping.set()

    def stop(self) -> None:
        """End; waits shortly for what is under way, which others try again where it is not done by then."""
        self.wind_up()
        self._thread.join(LAST_SECONDS)

    def turn(self) -> float | None:
        """Try some of one party's whose time has come; return for how long to rest after it (None: there were none).

        What failed alone is tried alone. Of what failed together half as much is tried at once after each time that it
        fails, and twice as much after each that it does not.
        """
        with store.at_once() as means:
            found = aside.again(means, list(self._kinds))
            if found is None:
                self._sizes.clear()
                return None
            name, first, tries = found
            whose = name, first.party()
            size = 1 if tries else self._sizes.get(whose, MOST)
            rows = [first, *(aside.with_it(means, name, first, size - 1) if size > 1 else ())]
        with few.at_once():
            rest = apart.once_more(name, rows, self._kinds[name].do)
        if not tries:
            self._sizes[whose] = max(1, len(rows) // 2) if rest else min(MOST, size * 2)
        if rest:
            measures.FAULTS.labels(name).inc()
        else:
            measures.DONE.labels(name).inc(len(rows))
        return rest

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                rest = self.turn()
            except store.OUTAGES as fault:
                log.warning("The database cannot be reached; trying again: %s", fault)
                rest = None
            except Exception:
                log.exception("What was set aside could not be tried again.")
                rest = None
            self._stopping.wait(POLL_SECONDS if rest is None else rest)
