"""Who may send how much, and whose turn it is: no organisation and no endpoint has more than its share of a worker."""

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from heapq import heapify, heappop, heappush
from operator import attrgetter
from uuid import UUID

from store.delivering.sending import Claimed, Due

SLOTS = 512  # deliveries under way in this process
CONNECTIONS = 16  # of them to one endpoint
FAILING = 4  # held for an endpoint that fails
WORTH = 8  # one in so many of those that somebody may have held is free before a claim, which costs as much for few
LEASE = timedelta(seconds=60)

_UNDER_WAY = attrgetter("under_way")


@dataclass(eq=False, slots=True)
class Load:
    """The deliveries of somebody: how many are held, and how many of those are of endpoints that fail or under way."""

    most: int  # under way; as many may wait
    most_failing: int
    held: int = 0
    failing: int = 0
    under_way: int = 0

    def left(self, *, failing: bool = False) -> int:
        """Say how many more may be held."""
        left = 2 * self.most - self.held
        return min(left, self.most_failing - self.failing) if failing else left

    def is_full(self) -> bool:
        """Say whether there may be so few more that it is not worth asking for them."""
        return self.left() < max(1, 2 * self.most // WORTH)


@dataclass(eq=False, slots=True, kw_only=True)
class Owner(Load):
    """An organisation of which something is held."""

    ready: "dict[End, None]" = field(default_factory=dict)  # of which something waits that may be begun


@dataclass(eq=False, slots=True, kw_only=True)
class End(Load):
    """An endpoint of which something is held."""

    owner: Owner
    waiting: deque[Claimed] = field(default_factory=deque)


class Promise:
    """Room that somebody claims for just now, and nobody else counts on. For any thread."""

    def __init__(self, shares: "Shares") -> None:
        self._shares = shares
        # To everybody (None), to each organisation and to each endpoint.
        self.given: Counter[UUID | None] = Counter()

    def rooms(self, due: Sequence[Due]) -> dict[UUID, int]:
        """Say how much of each endpoint may be claimed, instead of what was said before."""
        with self._shares.promising:
            self.given = Counter()
            rooms = self._shares.rooms(due) if self in self._shares.promises else {}
            for one in due:
                room = rooms.get(one.endpoint_id, 0)
                self.given.update({None: room, one.organisation_id: room, one.endpoint_id: room})
        return rooms

    def end(self) -> None:
        """Hear that what was claimed is held, or that nothing was."""
        with self._shares.promising:
            self._shares.promises.discard(self)
            self._shares.promising.notify_all()


@dataclass
class Taking:
    """A turn in which somebody else claims for the sender."""

    rooms: Callable[[Sequence[Due]], Mapping[UUID, int]]  # how much of each endpoint may be claimed
    taken: Sequence[Claimed] = field(default=())


class Shares:
    """The deliveries that a worker holds: under way, or waiting here for their turn.

    As many may wait as are under way, so that a slot that becomes free is taken at once while several are claimed
    together. Those of endpoints that fail have at most half of the slots, and of each organisation's share, so that
    others always have room.
    """

    def __init__(self, share: int) -> None:
        self._share = share
        self._all = Load(SLOTS, SLOTS // 2)
        # Found once for a delivery: to look an id up takes as long as all the counting does.
        self._owners: dict[UUID, Owner] = {}
        self._ends: dict[UUID, End] = {}
        self.promises: set[Promise] = set()
        self.promising = threading.Condition()  # held by who gives a promise, or ends one
        self._is_closed = False
        self.passed_by: set[UUID] = set()  # endpoints of which nothing is claimed for now
        # Whose deliveries may be begun, by how much they have under way; at the end who may have no more.
        self._ranks: list[dict[Owner, None]] = [{} for _ in range(share + 1)]

    def has_room(self) -> bool:
        """Say whether more may be claimed at all."""
        return self._all.left() > 0

    def has_room_for(self, one: Claimed) -> bool:
        """Say whether more of the same endpoint may be claimed."""
        loads = self._owners.get(one.organisation_id), self._ends.get(one.endpoint_id)
        return not any(load.is_full() for load in loads if load)

    def full(self) -> list[UUID]:
        """Return the organisations and endpoints of which no more are claimed."""
        loads = {**self._owners, **self._ends}
        return [*(id for id, load in loads.items() if load.is_full()), *self.passed_by]

    def promise(self) -> Promise:
        """Begin to claim: what ends meanwhile only makes more room than is promised."""
        promise = Promise(self)
        with self.promising:
            if not self._is_closed:
                self.promises.add(promise)
        return promise

    def close(self) -> None:
        """Promise nothing more, and wait for those who claim."""
        with self.promising:
            self._is_closed = True
            self.promising.wait_for(lambda: not self.promises)

    def rooms(self, due: Sequence[Due]) -> dict[UUID, int]:
        """Say how much of each endpoint may be claimed: who has least comes first, then who waits longest."""
        promised: Counter[UUID | None] = sum((one.given for one in self.promises), Counter())
        given: Counter[UUID | None] = Counter()
        loads: dict[UUID, Load] = {one.endpoint_id: self._end(one) for one in due}
        loads |= {one.organisation_id: self._owner(one.organisation_id) for one in due}
        has = {id: load.held + promised[id] for id, load in loads.items()}
        for failing in (True, False):

            def left(load: Load, id: UUID | None = None, *, failing: bool = failing) -> int:
                return max(0, load.left(failing=failing) - promised[id] - given[id])

            ends: defaultdict[UUID, dict[UUID, int]] = defaultdict(dict)
            for one in due:
                if one.failing == failing and one.endpoint_id not in self.passed_by:
                    ends[one.organisation_id][one.endpoint_id] = left(loads[one.endpoint_id], one.endpoint_id)
            wishes = {id: min(left(loads[id], id), sum(each.values())) for id, each in ends.items()}
            for id, part in share_out(left(self._all), wishes, has).items():
                given.update({None: part, id: part})
                given.update(share_out(part, ends[id], has))
        return {one.endpoint_id: given[one.endpoint_id] for one in due if given[one.endpoint_id]}

    def _owner(self, id: UUID) -> Owner:
        return self._owners.get(id) or Owner(self._share, self._share // 2)

    def _end(self, one: Due | Claimed) -> End:
        known = self._ends.get(one.endpoint_id)
        return known or End(CONNECTIONS, FAILING, owner=self._owner(one.organisation_id))

    def keep(self, claimed: Claimed) -> None:
        """Have a delivery wait for its turn."""
        end = self._end(claimed)
        if not end.held:
            self._ends[claimed.endpoint_id] = end
            self._owners[claimed.organisation_id] = end.owner
        end.waiting.append(claimed)
        self._hold(end, claimed, 1)
        self._rank(end)

    def next(self) -> Claimed | None:
        """Take the delivery whose turn it is: of whoever has least under way; None where nobody may have more."""
        if self._all.under_way >= SLOTS:
            return None
        for rank in self._ranks[:-1]:
            if rank:
                end = min(next(iter(rank)).ready, key=_UNDER_WAY)
                claimed = end.waiting.popleft()
                self._count(end, 1)
                return claimed
        return None

    def ended(self, claimed: Claimed) -> None:
        """Give back what was under way."""
        end = self._ends[claimed.endpoint_id]
        self._count(end, -1)
        self._forget(end, claimed)

    def leave(self) -> list[Claimed]:
        """Give up all that waits."""
        left = []
        for end in list(self._ends.values()):
            waiting = list(end.waiting)
            end.waiting.clear()
            self._rank(end)
            for one in waiting:
                self._forget(end, one)
            left += waiting
        return left

    def _count(self, end: End, number: int) -> None:
        """Count one more under way, or one less, and rank its organisation anew."""
        owner = end.owner
        self._ranks[owner.under_way].pop(owner, None)
        for load in (self._all, owner, end):
            load.under_way += number
        self._rank(end)

    def _rank(self, end: End) -> None:
        """Have what waits of an endpoint found if it may be begun."""
        owner = end.owner
        if end.waiting and end.under_way < CONNECTIONS:
            owner.ready[end] = None
        else:
            owner.ready.pop(end, None)
        rank = self._ranks[owner.under_way]
        if owner.ready:
            rank[owner] = None
        else:
            rank.pop(owner, None)

    def _hold(self, end: End, claimed: Claimed, number: int) -> None:
        for load in (self._all, end.owner, end):
            load.held += number
            if claimed.failing:
                load.failing += number

    def _forget(self, end: End, claimed: Claimed) -> None:
        self._hold(end, claimed, -1)
        if not end.held:
            del self._ends[claimed.endpoint_id]
            if not end.owner.held:
                del self._owners[claimed.organisation_id]


def share_out(total: int, wishes: Mapping[UUID, int], has: Mapping[UUID, int]) -> dict[UUID, int]:
    """Give each what it wishes or, where there is not enough, one more in turn to whoever has least."""
    if sum(wishes.values()) <= total:
        return dict(wishes)
    given = dict.fromkeys(wishes, 0)
    line = [(has[id], place, id) for place, (id, wish) in enumerate(wishes.items()) if wish]
    heapify(line)
    for _ in range(total):
        count, place, id = heappop(line)
        given[id] += 1
        if given[id] < wishes[id]:
            heappush(line, (count + 1, place, id))
    return given
