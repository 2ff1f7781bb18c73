"""Moving the clock of a test mode: from one due moment to the next, and at each what the service does by itself then.

It is done here by the very functions of schedule, relay, worker and sender, for one organisation's test rows; those
processes run beside it, and whatever one of them has in hand is waited for.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache, partial
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

import store
from gateways.webhooks import Poster
from rules.clock import now
from rules.test_world import MOST_NAMED, OF_MODELS, whole_seconds
from store import outbox
from store.database.aside import Row
from store.database.engine import Means, Reading
from store.database.ids import new_id
from store.database.prepared import Prepared
from store.delivering import fanout, sending
from store.delivering.sending import Attempt, Claimed
from store.operating import clocks, moving
from store.operating.clocks import Happened, Waiting
from workers import actors, apart, attempts, deliveries, schedule
from workers.jobs import JOBS
from workers.schedule import Kind
from workers.shares import LEASE

BUDGET_SECONDS = 12.0  # of one request: what is left then is for the next one
PATIENCE_SECONDS = 3.0  # for what others have in hand, at each moment
LOOK_SECONDS = 0.01
AT_ONCE = 8  # deliveries to one endpoint
COMPANY = timedelta(hours=1)  # for which what is only forgotten waits
EVENTS = 200  # turned into deliveries in one transaction


@dataclass
class Advanced:
    """How far a clock was moved, and what happened meanwhile."""

    seconds: int
    left: int  # of the seconds that were asked for
    count: int
    happened: list[Happened]  # the first of them
    next_due_at: datetime | None


def standing(means: Means, organisation_id: UUID) -> tuple[int, datetime | None]:
    """Say how far a clock was moved in all, and when something becomes due next."""
    return clocks.advanced(means, organisation_id), _look(means, organisation_id).next_at


def advance(organisation_id: UUID, seconds: int | None) -> Advanced:
    """Let time pass for an organisation's test rows, or as much as it is to the next due moment.

    Each step is committed by itself: what was reached stays so, whatever comes after it. Raises WaitRanOut where
    somebody else moves the clock for too long.
    """
    with _alone(organisation_id) as clock:
        return clock.advance(seconds)


def catch_up(organisation_id: UUID) -> None:
    """Have all done that is due by now in an organisation's test mode, as workers would a moment later."""
    with _alone(organisation_id) as clock:
        clock.catch_up()


@contextmanager
def _alone(organisation_id: UUID) -> Iterator["_Clock"]:
    with clocks.alone(organisation_id) as reading, asyncio.Runner() as runner:
        poster = runner.run(Poster().__aenter__())
        try:
            end = time.monotonic() + BUDGET_SECONDS
            yield _Clock(organisation_id, reading, end, partial(_attempt_all, runner, poster))
        finally:
            runner.run(poster.__aexit__())


@dataclass(frozen=True)
class _Look:
    """What there is to do for an organisation's test mode, and when there is more."""

    waiting: Waiting
    due: Kind | None  # of what the schedule does, what is due first
    next_at: datetime | None  # when something happens
    step_at: datetime | None  # the same, or an hour after something is to be forgotten: many are, one by one


@cache
def _looking() -> tuple[list[Kind], Prepared]:
    """Return what becomes due by itself of rows whose moments are moved, and the one statement that asks for all of it.

    It is written once, and asked several times at each moment.
    """
    kinds = [kind for kind in schedule.KINDS if moving.moved(kind.due.model.__table__)]
    moments = (moving.of_tests(kind.due).soonest().scalar_subquery() for kind in kinds)
    return kinds, Prepared(
        select(clocks.WAITING, *(one.label(f"at_{place}") for place, one in enumerate(moments)))
    )


def _look(means: Means, organisation_id: UUID) -> _Look:
    kinds, statement = _looking()
    moment = now()
    found = statement.first(means, organisation_id=organisation_id, without=list(OF_MODELS), moment=moment)
    first = len(Waiting._fields)
    waiting, moments = Waiting(*found[:first]), list(zip(found[first:], kinds, strict=True))
    due = min(
        ((at, place) for place, (at, _) in enumerate(moments) if at is not None and at <= moment),
        default=None,
    )
    ahead = [(at, kind.quiet) for at, kind in moments if at is not None and at > moment]
    next_at = min([*filter(None, [waiting.next_at]), *(at for at, quiet in ahead if not quiet)], default=None)
    forgotten = [at + COMPANY for at, quiet in ahead if quiet]
    step_at = min([*filter(None, [next_at]), *forgotten], default=None)
    return _Look(waiting, due and kinds[due[1]], next_at, step_at)


@dataclass
class _Clock:
    """One clock while it is moved."""

    organisation_id: UUID
    reading: Reading
    end: float  # on the clock of time.monotonic
    attempt: Callable[[list[Claimed]], list[Attempt]]
    done: int = 0
    count: int = 0
    happened: list[tuple[int, Happened]] = field(default_factory=list)  # with how far it was moved by then
    mark: UUID = field(default_factory=new_id)  # what the audit log has said so far is older
    seen: set[UUID] = field(default_factory=set)
    switched: dict[UUID, bool] = field(default_factory=dict)  # endpoints: whether they are on
    # Deliveries: how often, of those that are to be tried again.
    tried: dict[UUID, int] = field(default_factory=dict)

    def advance(self, seconds: int | None) -> Advanced:
        self.switched = clocks.switched(self.reading, self.organisation_id)
        self.tried = {one.id: one.attempts for one in clocks.tried(self.reading, self.organisation_id)}
        look = self.catch_up()
        if seconds is None:
            seconds = whole_seconds(look.next_at, now()) if look.next_at else 0
        while self.done < seconds and time.monotonic() < self.end:
            ahead = whole_seconds(look.step_at, now()) if look.step_at else seconds
            step = min(max(1, ahead), seconds - self.done)
            try:
                store.in_transaction(partial(clocks.move, organisation_id=self.organisation_id, seconds=step))
            except store.WaitRanOut:  # a row is not let go of: what was reached is answered
                if not self.done:
                    raise
                break
            self.done += step
            look = self.catch_up()
        named = [one._replace(at=one.at - timedelta(seconds=self.done - done)) for done, one in self.happened]
        return Advanced(self.done, seconds - self.done, self.count, named, look.next_at)

    def catch_up(self) -> _Look:
        """Have all done that is due by now, what was due first before the rest; return what is ahead."""
        patience = time.monotonic() + PATIENCE_SECONDS
        while True:
            look = _look(self.reading, self.organisation_id)
            did = self._do(look)
            if time.monotonic() > self.end or (not did and not self._is_waited_for(look, patience)):
                break
            if not did:
                time.sleep(LOOK_SECONDS)
        self._note()
        return look

    def _is_waited_for(self, look: _Look, patience: float) -> bool:
        busy = look.waiting.in_hand or look.waiting.told or look.waiting.asked or look.waiting.sendable
        return (busy or look.due is not None) and time.monotonic() < patience

    def _do(self, look: _Look) -> bool:
        """Do the next thing; say whether there was one that nobody else has in hand."""
        if look.waiting.told and self._fan_out():
            return True
        if look.waiting.asked and self._work():
            return True
        if look.waiting.sendable and self._send():
            return True
        # Only then the next moment's: what follows from one is done before the other.
        quiet = not look.waiting.in_hand
        if look.due is None or not quiet:
            return False
        mine = moving.of_tests(look.due.due, self.organisation_id)
        return bool(replace(look.due, due=mine).batch(closer=True)[1])

    def _fan_out(self) -> bool:
        with store.transaction() as session:
            rows = fanout.WAITING.of_tests(self.organisation_id).choose(session, EVENTS)
        try:
            made = store.in_transaction(partial(fanout.fan_out, limit=EVENTS, only=rows))
        except store.WaitRanOut:  # whoever holds an endpoint will be done soon
            return False
        except Exception:
            return bool(apart.each(fanout.WAITING.kind, rows, _fan_out, hurry=True))
        return bool(made.events)

    def _work(self) -> bool:
        with store.at_once() as means:
            taken = outbox.take_of_tests(means, self.organisation_id, without=OF_MODELS, lease=outbox.LEASE)
        if taken is None:
            return False
        actors.do(taken, JOBS[taken.job])
        return True

    def _send(self) -> bool:
        with store.at_once() as means:
            rooms = dict.fromkeys(clocks.endpoints(means, self.organisation_id), AT_ONCE)
            claimed = sending.claim(means, rooms, lease=LEASE)
        results = self.attempt(claimed) if claimed else []
        latest = time.monotonic() + PATIENCE_SECONDS
        while results and (results := attempts.settle(results)) and time.monotonic() < latest:
            time.sleep(max(deliveries.HELD_PAUSES))  # whoever holds an endpoint will be done soon
        return bool(claimed)

    def _note(self) -> None:
        """Note what the service did by itself since the last time."""
        mark = new_id()
        rows = clocks.told(self.reading, self.organisation_id, self.mark)
        switched = clocks.switched(self.reading, self.organisation_id)
        fresh = [
            Happened(row.occurred_at, row.action, row.resource_id) for row in rows if row.id not in self.seen
        ]
        self.seen = {row.id for row in rows}
        tried = clocks.tried(self.reading, self.organisation_id, self.tried)
        for one in tried:  # the first attempt is part of what is told of
            again = one.attempts - self.tried.get(one.id, 1)
            fresh += [Happened(now(), "delivery.attempted", str(one.id))] * again
        self.tried = {one.id: one.attempts for one in tried if one.is_pending}
        for id, is_active in switched.items():
            if self.switched.get(id, is_active) != is_active:
                fresh.append(Happened(now(), f"webhook.{'enabled' if is_active else 'disabled'}", str(id)))
        self.switched, self.mark = switched, mark
        self.count += len(fresh)
        self.happened += [(self.done, one) for one in fresh[: MOST_NAMED - len(self.happened)]]


def _fan_out(session: Session, rows: Sequence[Row]) -> None:
    fanout.fan_out(session, limit=EVENTS, wait=False, only=rows)


def _attempt_all(runner: asyncio.Runner, poster: Poster, claimed: list[Claimed]) -> list[Attempt]:
    async def gather() -> list[Attempt]:
        return await asyncio.gather(*(attempts.attempt(poster, one) for one in claimed))

    return runner.run(gather())
