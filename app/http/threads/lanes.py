"""Lanes: threads of their own for what can be slow, a share of each for one organisation in one mode."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

import store
from app.http import bodies
from app.http.context import Request
from app.http.threads.hop import LONGEST_QUEUE, Hop
from app.http.threads.places import Places, Served
from app.instance.settings import Settings
from gateways.load import Load
from store.accounts import organisations
from store.applying import status_links
from store.assessing import invitations, recordings
from store.database.base import Party
from store.database.engine import Means
from store.interviewing import rooms
from store.offering import offers

ORDINARY, HEALTH = "request", "health"  # what the documents do not mark, and what load balancers ask
AT_ONCE = "none"  # marks what waits for nothing: it is answered where requests arrive
# Of ordinary requests' threads and places, what one party has at most: two that wait for locks leave some to others.
SHARE, OF_READS = 3 / 8, 1 / 4
# How many times as long as an ordinary request may take what reaches the network, files, a program, a model.
PATIENCE = {"network": 3, "files": 3, "program": 3, "model": 5, "clock": 5}

# For moving the clocks of test modes, which takes a connection beside the pool each, and one of it now and then.
CLOCK_THREADS = 4


@dataclass(frozen=True)
class Lane:
    """Threads, and how long a request of theirs may take, its client's time aside."""

    hop: Hop
    seconds: float


def make(settings: Settings, load: Load) -> dict[str, Lane]:
    """Make a process's lanes, by what the documents' `x-lane` says: threads, and how many may wait for them.

    Of the threads half are for one party at most (of ordinary ones SHARE), of the room as much as there are parties
    that wait. The load is that of ordinary requests, which compute: whoever hangs in another lane takes no core.
    """
    slow = {
        "network": (settings.network_threads, 16),
        "files": (settings.files_threads, 64),
        "program": (2 * settings.programs_at_a_time, 32),  # who waits for a place there holds a thread
        "model": (settings.model_threads, 16),
        "clock": (CLOCK_THREADS, 16),
    }
    usual = settings.request_seconds
    return {
        ORDINARY: _lane(ORDINARY, settings.threads, _share(settings.threads), LONGEST_QUEUE, usual, load),
        HEALTH: _lane(HEALTH, 1, 1, 16, usual),
        **{
            name: _lane(name, threads, threads // 2, room, PATIENCE[name] * usual)
            for name, (threads, room) in slow.items()
        },
    }


def reads(at_once: int, load: Load, served: Served | None = None) -> Places:
    """Make the places of what only reads: as many at once as there are connections for them.

    Whoever is alone has all but the share of one who comes next, and one place more.
    """
    share = _share(at_once, OF_READS)
    alone = at_once - share - 1
    return Places(at_once, share=share, alone=alone, room=LONGEST_QUEUE, load=load, served=served)


def changes(at_once: int, load: Load, served: Served | None = None) -> Places:
    """Make the places of what one statement changes: more of one organisation would wait for each other's rows."""
    return Places(at_once, share=_share(at_once), room=LONGEST_QUEUE, load=load, served=served)


def _share(of: int, part: float = SHARE) -> int:
    return max(2, int(of * part))


def _lane(name: str, threads: int, share: int, room: int, seconds: float, load: Load | None = None) -> Lane:
    return Lane(Hop(threads, name, share=max(1, share), room=room, load=load), seconds)


def _of_token(means: Means, token: str) -> Party | None:
    return (
        recordings.owner(means, token)  # asks only of what was sealed here
        or invitations.owner(means, token)
        or offers.owner(means, token)
        or rooms.owner(means, token)
        or status_links.owner(means, token)
    )


# Whose a request without a key is, by a parameter of its path.
OWNERS: dict[str, Callable[[Means, str], Party | None]] = {
    "token": _of_token,
    "org_slug": organisations.owner,
}


def party(request: Request, places: Iterable[tuple[int, str]], lane: str) -> Hashable:
    """Say in whose share a request counts: its organisation's and mode's, or that of its address.

    Where there is no key the database is asked, but only for a lane of its own.
    """
    if request.caller:
        return request.caller.organisation_id, request.caller.livemode
    if lane == ORDINARY:
        return request.counts_as
    segments = request.path.strip("/").split("/")
    for number, name in places:
        if name in OWNERS and bodies.sound(segments[number]):
            with store.reading() as reading:
                return OWNERS[name](reading, segments[number]) or request.counts_as
    return request.counts_as
