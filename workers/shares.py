"""Who may send how much, and whose turn it is: no organisation and no endpoint has more than its share of a worker."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from heapq import heapify, heappop, heappush
from uuid import UUID

from store.delivering.sending import Claimed, Due

SLOTS = 512  # deliveries under way in this process
CONNECTIONS = 16  # of them to one endpoint
FAILING = 4  # held for an endpoint that fails
WORTH = 8  # one in so many of those that somebody may have held is free before a claim, which costs as much for few
LEASE = timedelta(seconds=60)

EVERYBODY, ORGANISATION, ENDPOINT = range(3)


@dataclass
class Taking:
    """A turn in which somebody else claims for the sender."""

    rooms: Callable[[Sequence[Due]], Mapping[UUID, int]]  # how much of each endpoint may be claimed
    taken: Sequence[Claimed] = field(default=())


class Load:
    """How many deliveries everybody, each organisation and each endpoint has, and how many each may have."""

    def __init__(self, *most: int) -> None:
        self._most = most
        self.counts: tuple[Counter[UUID | None], ...] = (Counter(), Counter(), Counter())

    def add(self, one: Claimed, number: int) -> None:
        """Count one more, or one less."""
        everybody, organisations, endpoints = self.counts
        everybody[None] += number
        for count, id in ((organisations, one.organisation_id), (endpoints, one.endpoint_id)):
            if left := count[id] + number:
                count[id] = left
            else:
                del count[id]

    def left(self, level: int, id: UUID | None = None) -> int:
        """Say how many more there may be."""
        return self._most[level] - self.counts[level][id]

    def is_full(self, level: int, id: UUID) -> bool:
        """Say whether there may be so few more that it is not worth asking for them."""
        return self.left(level, id) < max(1, self._most[level] // WORTH)

    def full(self, level: int) -> list[UUID]:
        """Return who is."""
        return [id for id in self.counts[level] if id and self.is_full(level, id)]


class Shares:
    """The deliveries that a worker holds: under way, or waiting here for their turn.

    As many may wait as are under way, so that a slot that becomes free is taken at once while several are claimed
    together. Those of endpoints that fail have at most half of the slots, and of each organisation's share, so that
    others always have room.
    """

    def __init__(self, share: int) -> None:
        self._held = Load(2 * SLOTS, 2 * share, 2 * CONNECTIONS)
        self._failing = Load(SLOTS // 2, share // 2, FAILING)  # of them
        self._under_way = Load(SLOTS, share, CONNECTIONS)
        self.passed_by: set[UUID] = set()  # endpoints of which nothing is claimed for now
        self._waiting: dict[UUID, dict[UUID, deque[Claimed]]] = {}
        # Of which organisations something waits, by how much they have under way; at the end who may have no more.
        self._ranks: list[dict[UUID, None]] = [{} for _ in range(share + 1)]

    def has_room(self) -> bool:
        """Say whether more may be claimed at all."""
        return self._held.left(EVERYBODY) > 0

    def has_room_for(self, one: Claimed) -> bool:
        """Say whether more of the same endpoint may be claimed."""
        is_full = self._held.is_full
        return not is_full(ORGANISATION, one.organisation_id) and not is_full(ENDPOINT, one.endpoint_id)

    def full(self) -> list[UUID]:
        """Return the organisations and endpoints of which no more are claimed."""
        return [*self._held.full(ORGANISATION), *self._held.full(ENDPOINT), *self.passed_by]

    def rooms(self, due: Sequence[Due]) -> dict[UUID, int]:
        """Say how much of each endpoint may be claimed: who has least comes first, then who waits longest."""
        given: Counter[UUID | None] = Counter()
        for failing, loads in {True: (self._failing, self._held), False: (self._held,)}.items():

            def left(level: int, id: UUID | None = None, loads: tuple[Load, ...] = loads) -> int:
                return max(0, min(load.left(level, id) for load in loads) - given[id])

            ends: defaultdict[UUID, dict[UUID, int]] = defaultdict(dict)
            for one in due:
                if one.failing == failing and one.endpoint_id not in self.passed_by:
                    ends[one.organisation_id][one.endpoint_id] = left(ENDPOINT, one.endpoint_id)
            wishes = {id: min(left(ORGANISATION, id), sum(each.values())) for id, each in ends.items()}
            held = self._held.counts
            for id, part in share_out(left(EVERYBODY), wishes, held[ORGANISATION]).items():
                given.update({None: part, id: part})
                given.update(share_out(part, ends[id], held[ENDPOINT]))
        return {one.endpoint_id: given[one.endpoint_id] for one in due if given[one.endpoint_id]}

    def keep(self, claimed: Claimed) -> None:
        """Have a delivery wait for its turn."""
        id = claimed.organisation_id
        if id not in self._waiting:
            self._waiting[id] = {}
            self._ranks[self._under_way.counts[ORGANISATION][id]][id] = None
        self._waiting[id].setdefault(claimed.endpoint_id, deque()).append(claimed)
        self._held.add(claimed, 1)
        if claimed.failing:
            self._failing.add(claimed, 1)

    def next(self) -> Claimed | None:
        """Take the delivery whose turn it is: of whoever has least under way; None where nobody may have more."""
        if self._under_way.left(EVERYBODY) <= 0:
            return None
        endpoints = self._under_way.counts[ENDPOINT]
        for rank in self._ranks[:-1]:
            for id in rank:
                free = [end for end in self._waiting[id] if self._under_way.left(ENDPOINT, end) > 0]
                if free:
                    claimed = self._pop(id, min(free, key=endpoints.__getitem__))
                    self._count(claimed, 1)
                    return claimed
        return None

    def _pop(self, organisation_id: UUID, endpoint_id: UUID) -> Claimed:
        its = self._waiting[organisation_id]
        claimed = its[endpoint_id].popleft()
        if not its[endpoint_id]:
            del its[endpoint_id]
        return claimed

    def _count(self, claimed: Claimed, number: int) -> None:
        """Count one more under way, or one less, and rank its organisation anew."""
        id, counts = claimed.organisation_id, self._under_way.counts[ORGANISATION]
        self._ranks[counts[id]].pop(id, None)
        self._under_way.add(claimed, number)
        if self._waiting.get(id):
            self._ranks[counts[id]][id] = None
        else:
            self._waiting.pop(id, None)

    def ended(self, claimed: Claimed) -> None:
        """Give back what was under way."""
        self._count(claimed, -1)
        self._forget(claimed)

    def _forget(self, claimed: Claimed) -> None:
        self._held.add(claimed, -1)
        if claimed.failing:
            self._failing.add(claimed, -1)

    def leave(self) -> list[Claimed]:
        """Give up all that waits."""
        left = [one for its in self._waiting.values() for waiting in its.values() for one in waiting]
        self._waiting.clear()
        for rank in self._ranks:
            rank.clear()
        for one in left:
            self._forget(one)
        return left


def share_out(total: int, wishes: Mapping[UUID, int], has: Mapping[UUID | None, int]) -> dict[UUID, int]:
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
