"""Work that takes no thread: so much of it at once on an event loop, each party's in its turn and in its share."""

import asyncio
from collections.abc import Hashable

from app.http.context import Request
from app.http.threads.turns import Full, Turns
from gateways import cores
from gateways.load import Load
from rules.errors import Unavailable
from store.database.greenlets import wait_for


class Served:
    """How long a loop waited for a core for each request that it served, in whichever places.

    Counted for some of its places alone, all that the others wait would be these ones': the fewer they serve, since
    they rest, the longer they would rest.
    """

    def __init__(self) -> None:
        self._waits: cores.Waits | None = None  # of the loop's thread, which makes no places
        self._count = 0  # since these were asked

    def add(self) -> None:
        """Count one more."""
        self._count += 1

    def waited(self) -> float:
        """Return the seconds for each request since it was last asked, one of which has come since."""
        self._waits = self._waits or cores.Waits()
        waited, self._count = self._waits.since() / self._count, 0
        return waited


class Places:
    """Some of the places of one loop."""

    def __init__(
        self,
        count: int,
        *,
        share: int,
        room: int,
        alone: int | None = None,
        load: Load | None = None,
        served: Served | None = None,
    ) -> None:
        self._free = count
        self._turns: Turns[asyncio.Future[None]] = Turns(room=room, share=share, alone=alone, load=load)
        self._served = served or Served()

    def take(self, request: Request) -> None:
        """Take a place for a request, in a greenlet; wait for it where its party, or everybody, has enough.

        Raises Unavailable when too much waits already, and what ends the wait otherwise: then there is no place.
        """
        if self._free and self._turns.at_once(request.party):
            self._free -= 1
            return
        waiting = request.waits_for = asyncio.get_running_loop().create_future()
        try:
            self._turns.put(request.party, waiting)
        except Full:
            raise Unavailable("Too many requests of this kind wait already; try again shortly.") from None
        try:
            wait_for(waiting)
        except BaseException:
            if waiting.done() and not waiting.cancelled() and waiting.exception() is None:
                self.give_back(request.party)  # it had come in the same moment
            raise

    def give_back(self, party: Hashable) -> None:
        """Let the next one have it; at once, unless its party crowds others out, which then rests."""
        self._served.add()
        if self._turns.crowds(party) and (rest := cores.rest(self._served.waited())):
            asyncio.get_running_loop().call_later(rest, self._let_go, party)
        else:
            self._let_go(party)

    def _let_go(self, party: Hashable) -> None:
        self._turns.give_back(party)
        self._free += 1
        while self._free and (found := self._turns.next()):
            next_party, waiting = found
            if waiting.done():  # nobody waits any more
                self._turns.give_back(next_party)
                continue
            self._free -= 1
            waiting.set_result(None)
