"""Who may send how much, and whose turn it is: no organisation and no endpoint has more than its share of a worker."""

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from uuid import UUID

from store.delivering.sending import Claimed, Due

SLOTS = 512  # deliveries under way in this process
CONNECTIONS = 16  # of them to one endpoint
FAILING = 4  # held for an endpoint that fails

EVERYBODY, ORGANISATION, ENDPOINT = range(3)


class Load:
    """How many deliveries everybody, each organisation and each endpoint has, and how many each may have."""

    def __init__(self, *most: int) -> None:
        self._most = most
        self.counts: tuple[Counter[UUID | None], ...] = (Counter(), Counter(), Counter())

    def add(self, one: Claimed, number: int) -> None:
        """Count one more, or one less."""
        for count, id in zip(self.counts, (None, one.organisation_id, one.endpoint_id), strict=True):
            count[id] += number
            if not count[id]:
                del count[id]

    def left(self, level: int, id: UUID | None = None) -> int:
        """Say how many more there may be."""
        return self._most[level] - self.counts[level][id]

    def full(self, level: int) -> list[UUID]:
        """Return who has as many as there may be."""
        return [id for id, count in self.counts[level].items() if id and count >= self._most[level]]


class Shares:
    """The deliveries that a worker holds: under way, or waiting here for their turn.

    As many may wait as are under way, so that a slot that becomes free is taken at once. Those of endpoints that fail
    have at most half of the slots, and of each organisation's share, so that others always have room.
    """

    def __init__(self, share: int) -> None:
        self._held = Load(2 * SLOTS, 2 * share, 2 * CONNECTIONS)
        self._failing = Load(SLOTS // 2, share // 2, FAILING)  # of them
        self._under_way = Load(SLOTS, share, CONNECTIONS)
        self._waiting: defaultdict[UUID, dict[UUID, deque[Claimed]]] = defaultdict(dict)

    def has_room(self) -> bool:
        """Say whether more may be claimed at all."""
        return self._held.left(EVERYBODY) > 0

    def full(self) -> list[UUID]:
        """Return the organisations and endpoints of which no more may be claimed."""
        return self._held.full(ORGANISATION) + self._held.full(ENDPOINT)

    def rooms(self, due: Sequence[Due]) -> dict[UUID, int]:
        """Say how much of each endpoint may be claimed: who has least comes first, then who waits longest."""
        given: Counter[UUID | None] = Counter()
        for failing, loads in {True: (self._failing, self._held), False: (self._held,)}.items():

            def left(level: int, id: UUID | None = None, loads: tuple[Load, ...] = loads) -> int:
                return max(0, min(load.left(level, id) for load in loads) - given[id])

            ends: defaultdict[UUID, dict[UUID, int]] = defaultdict(dict)
            for one in due:
                if one.failing == failing:
                    ends[one.organisation_id][one.endpoint_id] = left(ENDPOINT, one.endpoint_id)
            wishes = {id: min(left(ORGANISATION, id), sum(each.values())) for id, each in ends.items()}
            held = self._held.counts
            for id, part in share_out(left(EVERYBODY), wishes, held[ORGANISATION]).items():
                given.update({None: part, id: part})
                given.update(share_out(part, ends[id], held[ENDPOINT]))
        return {one.endpoint_id: given[one.endpoint_id] for one in due if given[one.endpoint_id]}

    def keep(self, claimed: Claimed) -> None:
        """Have a delivery wait for its turn."""
        self._waiting[claimed.organisation_id].setdefault(claimed.endpoint_id, deque()).append(claimed)
        self._held.add(claimed, 1)
        if claimed.failing:
            self._failing.add(claimed, 1)

    def next(self) -> Claimed | None:
        """Take the delivery whose turn it is: of whoever has least under way; None where nobody may have more."""
        if self._under_way.left(EVERYBODY) <= 0:
            return None
        _, organisations, endpoints = self._under_way.counts
        for id in sorted(self._waiting, key=organisations.__getitem__):
            if self._under_way.left(ORGANISATION, id) <= 0:
                return None  # as all that follow
            its = self._waiting[id]
            free = [end for end in its if self._under_way.left(ENDPOINT, end) > 0]
            if free:
                claimed = self._pop(id, min(free, key=endpoints.__getitem__))
                self._under_way.add(claimed, 1)
                return claimed
        return None

    def _pop(self, organisation_id: UUID, endpoint_id: UUID) -> Claimed:
        its = self._waiting[organisation_id]
        claimed = its[endpoint_id].popleft()
        if not its[endpoint_id]:
            del its[endpoint_id]
        if not its:
            del self._waiting[organisation_id]
        return claimed

    def ended(self, claimed: Claimed) -> None:
        """Give back what was under way."""
        self._under_way.add(claimed, -1)
        self._forget(claimed)

    def _forget(self, claimed: Claimed) -> None:
        self._held.add(claimed, -1)
        if claimed.failing:
            self._failing.add(claimed, -1)

    def leave(self) -> list[Claimed]:
        """Give up all that waits."""
        left = [one for its in self._waiting.values() for waiting in its.values() for one in waiting]
        self._waiting.clear()
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
