"""What a web process notes of its requests: counts of all, and a row of each that was refused.

Noted in memory and written in batches by a thread of its own, so that no answer waits for it and no read writes. A
process that is killed loses the counts and refusals of its last seconds; a change's own row is written with the change.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import store
from app.http.context import Request
from app.http.records import traces
from app.http.threads.lanes import OWNERS
from rules import sketches
from store.auditing import trail
from store.auditing.trail import Entry
from store.measuring import counts

log = logging.getLogger("hiring.notes")

EVERY_SECONDS = 2.0
REFUSALS_A_MINUTE = 60  # rows of one organisation, or one candidate's address; others are counted only
MOST_WAITING = 5_000  # refusals of all of them, while the database does not answer
HOUR = 3600
OUTAGES = (*store.OUTAGES, store.WaitRanOut)  # after which the same may be written


@dataclass(slots=True)
class _Hour:
    """What one organisation's keys of one mode did in one hour."""

    reads: int = 0
    writes: int = 0
    faults: int = 0
    buckets: Counter[int] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    seen: dict[str, float] = field(default_factory=dict)  # by code, when last

    def add(self, other: "_Hour") -> None:
        self.reads, self.writes = self.reads + other.reads, self.writes + other.writes
        self.faults += other.faults
        self.buckets.update(other.buckets)
        self.codes.update(other.codes)
        self.seen = other.seen | self.seen


Place = tuple[UUID, bool, int]  # organisation, mode, hour
Owner = tuple[str, str]  # a parameter of a path, and its value


class Notes:
    """What is noted and not written yet."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._hours: dict[Place, _Hour] = {}
        self._refused: list[tuple[Entry, Owner | None]] = []
        self._minute, self._of_the_minute = 0, Counter[Hashable]()
        self._thread: threading.Thread | None = None

    def take(self, request: Request, status: int, seconds: float) -> None:
        """Note how a request ended."""
        operation, caller = request.pipeline, request.caller or request.known
        if operation is None or not status:
            return
        owner = None if caller or status < 400 else operation.owner(request)
        if caller is None and owner is None:
            return
        moment, is_first = time.time(), False
        with self._lock:
            if caller:
                place = caller.organisation_id, caller.livemode, int(moment // HOUR)
                hour = self._hours.get(place)
                is_first = hour is None
                if hour is None:
                    hour = self._hours[place] = _Hour()
                _count(hour, request, status, seconds, moment)
            if status >= 400:
                self._keep(request, operation, owner, status, moment)
        if (is_first or status >= 400) and (self._thread is None or not self._thread.is_alive()):
            self._start()

    def refuse(self, request: Request, status: int) -> None:
        """Note that what a page's form asked for was refused; the page itself is counted as every request."""
        with self._lock:
            self._keep(request, request.pipeline, None, status, time.time())
        if self._thread is None or not self._thread.is_alive():
            self._start()

    def _keep(
        self, request: Request, operation: Any, owner: Owner | None, status: int, moment: float
    ) -> None:
        caller = request.caller or request.known
        if (minute := int(moment // 60)) != self._minute:
            self._minute, self._of_the_minute = minute, Counter()
        party = caller.organisation_id if caller else request.counts_as
        if self._has_room(party) and len(self._refused) < MOST_WAITING:
            self._refused.append((traces.refused(operation, request, status), owner))

    def _has_room(self, party: Hashable) -> bool:
        self._of_the_minute[party] += 1
        return self._of_the_minute[party] <= REFUSALS_A_MINUTE

    def _start(self) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="notes", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            time.sleep(EVERY_SECONDS)
            self.flush()

    def flush(self) -> None:
        """Write what was noted so far; what cannot be written now is kept for the next time."""
        with self._writing:
            with self._lock:
                hours, self._hours = self._hours, {}
                refused, self._refused = self._refused, []
            if not hours and not refused:
                return
            try:
                self._write(hours, refused)
            except OUTAGES as fault:
                self._put_back(hours, refused, fault)
            except Exception:
                self._write_apart(hours, refused)

    def _write(self, hours: dict[Place, _Hour], refused: list[tuple[Entry, Owner | None]]) -> None:
        with store.transaction() as session:
            counts.add(session, _batch(hours))
            if entries := self._owned(session, refused):
                trail.keep(session, entries)

    def _put_back(
        self, hours: dict[Place, _Hour], refused: list[tuple[Entry, Owner | None]], fault: Exception
    ) -> None:
        log.warning("Counts of requests could not be written; trying again: %s", type(fault).__name__)
        _renew(refused)
        with self._lock:
            for place, hour in hours.items():
                self._hours.setdefault(place, _Hour()).add(hour)
            self._refused = (refused + self._refused)[:MOST_WAITING]

    def _write_apart(self, hours: dict[Place, _Hour], refused: list[tuple[Entry, Owner | None]]) -> None:
        """Write what can be written of each organisation; the rest is left out, or others' would never be written."""
        _renew(refused)
        for party in {place[0] for place in hours} | {entry.organisation_id for entry, _ in refused}:
            its = {place: hour for place, hour in hours.items() if place[0] == party}
            of_it = [one for one in refused if one[0].organisation_id == party]
            try:
                self._write(its, of_it)
            except OUTAGES as fault:
                self._put_back(its, of_it, fault)
            except Exception:
                log.exception("What was noted of requests of organisation %s is left out.", party)

    def _owned(self, session: Any, refused: list[tuple[Entry, Owner | None]]) -> list[Entry]:
        """Find out whose the requests without a key are; those of a token that nobody has are nobody's."""
        found: dict[Owner, Any] = {}
        kept = []
        for entry, owner in refused:
            if owner is not None and entry.organisation_id is None:
                if owner not in found:
                    name, value = owner
                    found[owner] = OWNERS[name](session, value)
                if not found[owner]:
                    continue
                entry.organisation_id, entry.livemode = found[owner]
                with self._lock:
                    if not self._has_room(entry.organisation_id):
                        continue
            kept.append(entry)
        return kept


def _renew(refused: list[tuple[Entry, Owner | None]]) -> None:
    """Have each get an id of its own when it is written: the one it had may be there after all."""
    for entry, _ in refused:
        entry.id = None


def _count(hour: _Hour, request: Request, status: int, seconds: float, moment: float) -> None:
    if request.pipeline.method == "GET":
        hour.reads += 1
    else:
        hour.writes += 1
    hour.buckets[sketches.bucket(seconds * 1000)] += 1
    if status >= 500:
        hour.faults += 1
    if status >= 400 and request.refused:
        hour.codes[request.refused] += 1
        hour.seen[request.refused] = moment


def _batch(hours: dict[Place, _Hour]) -> counts.Batch:
    batch = counts.Batch([], [], [])
    for (organisation, livemode, number), hour in hours.items():
        place = {
            "organisation_id": organisation,
            "livemode": livemode,
            "hour": datetime.fromtimestamp(number * HOUR, UTC),
        }
        batch.hours.append(place | {"reads": hour.reads, "writes": hour.writes, "faults": hour.faults})
        batch.buckets += [place | {"bucket": one, "count": count} for one, count in hour.buckets.items()]
        batch.refusals += [
            place | {"code": code, "count": count, "last_seen": datetime.fromtimestamp(hour.seen[code], UTC)}
            for code, count in hour.codes.items()
        ]
    return batch


NOTES = Notes()
