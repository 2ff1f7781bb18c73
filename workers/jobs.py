"""What the outbox can ask for: one line for each kind of work, which has an actor, a queue and threads of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from gateways.mail import RefusedError
from workers import (
    analyses,
    erasing,
    grading,
    mail,
    probes,
    replays,
    screening,
    signing_in,
    speaking,
    summaries,
)


@dataclass(frozen=True)
class Job:
    """How one kind of work is done."""

    run: Callable[[UUID, dict[str, Any]], None]  # the item's id and arguments; outside any transaction
    threads: int  # in each process: a kind that hangs or floods takes no other kind's
    longest: timedelta  # longer than the work ever takes: then it hangs, and is begun again elsewhere
    a_second: float | None = None  # begun for one organisation by each process at most; None: as they come
    attempts: int = 20  # set aside after so many: about ten hours
    final: tuple[
        type[Exception], ...
    ] = ()  # an answer that another attempt would get again: given up at once
    # what else is noted, in the same transaction, when it is given up
    given_up: Callable[[Session, dict[str, Any], BaseException], None] = lambda *_: None


JOBS: dict[str, Job] = {
    "mail": Job(
        mail.send,
        threads=4,
        longest=timedelta(minutes=2),
        a_second=25,
        final=(RefusedError,),
        given_up=mail.given_up,
    ),
    # A code is good for a quarter of an hour: who still wants to sign in then asks again.
    "sign_in": Job(
        signing_in.send,
        threads=2,
        longest=timedelta(minutes=2),
        a_second=25,
        attempts=6,
        final=(RefusedError,),
    ),
    "grade": Job(grading.grade, threads=4, longest=timedelta(minutes=15)),
    # It fails by what is ours alone, for weeks before anybody has to look.
    "probe": Job(probes.probe, threads=2, longest=timedelta(minutes=1), attempts=1_000),
    "replay": Job(replays.replay, threads=1, longest=timedelta(minutes=2)),
    "erase": Job(erasing.erase, threads=1, longest=timedelta(minutes=10)),
    "discard": Job(erasing.discard, threads=1, longest=timedelta(minutes=10)),
    "analyse": Job(analyses.analyse, threads=1, longest=timedelta(minutes=5), given_up=analyses.given_up),
    # A model may take its time: nobody's screening waits for it.
    "brief": Job(screening.brief, threads=2, longest=timedelta(minutes=5)),
    "summarise": Job(
        summaries.summarise, threads=2, longest=timedelta(minutes=2), attempts=3, given_up=summaries.given_up
    ),
    # Somebody waits for it, in a room.
    "speak": Job(speaking.speak, threads=4, longest=timedelta(minutes=2), attempts=3),
    "screen": Job(screening.screen, threads=2, longest=timedelta(minutes=5)),
}

SHORTEST_WAIT, LONGEST_WAIT = timedelta(seconds=5), timedelta(hours=1)


def wait(attempts: int) -> timedelta:
    """Return how long to wait after so many failed attempts: twice as long each time, up to an hour."""
    doublings = max(0, min(attempts - 1, 20))
    return min(SHORTEST_WAIT * (1 << doublings), LONGEST_WAIT)
