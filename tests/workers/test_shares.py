"""Whose turn it is: counted, without a clock or a network."""

import random
from collections import Counter, deque
from uuid import UUID, uuid4

import pytest

from rules.clock import now
from store.delivering.sending import Claimed, Due
from workers.shares import CONNECTIONS, FAILING, SLOTS, WORTH, Shares, share_out

SHARE = 64


def claimed(due: Due) -> Claimed:
    return Claimed(
        uuid4(), due.endpoint_id, due.organisation_id, due.failing, "", {}, 0, "", None, None, now()
    )


def ends(count: int, *, organisation: UUID | None = None, failing: bool = False) -> list[Due]:
    """Endpoints of one organisation for which more is due than anybody may have."""
    owner = organisation or uuid4()
    return [Due(uuid4(), owner, failing) for _ in range(count)]


def claim(shares: Shares, due: list[Due]) -> int:
    """Claim all that there is room for; return how much it was."""
    rooms = shares.rooms(due)
    for one in due:
        for _ in range(rooms.get(one.endpoint_id, 0)):
            shares.keep(claimed(one))
    return sum(rooms.values())


def begin(shares: Shares) -> list[Claimed]:
    """Begin all that has its turn."""
    begun = []
    while one := shares.next():
        begun.append(one)
    return begun


def test_an_organisation_has_its_share_under_way_and_as_much_that_waits() -> None:
    shares = Shares(SHARE)
    many = ends(20)
    assert claim(shares, many) == 2 * SHARE
    assert len(begin(shares)) == SHARE
    assert shares.full() == [many[0].organisation_id]
    assert claim(shares, many) == 0


def test_a_slot_that_becomes_free_is_taken_by_what_waits() -> None:
    shares = Shares(SHARE)
    claim(shares, ends(20))
    [first, *_] = begin(shares)
    shares.ended(first)
    assert len(begin(shares)) == 1


def test_more_is_claimed_once_there_is_room_for_several() -> None:
    shares = Shares(SHARE)
    many = ends(20)
    claim(shares, many)
    begun = begin(shares)
    room = 2 * SHARE // WORTH
    for one in begun[: room - 1]:
        shares.ended(one)
        assert not shares.has_room_for(one)
        assert shares.full() == [many[0].organisation_id]
    shares.ended(begun[room])
    assert shares.has_room_for(begun[room])
    assert shares.full() == []
    assert claim(shares, many) == room


def test_an_endpoint_has_its_connections_and_as_much_that_waits() -> None:
    shares = Shares(SHARE)
    assert claim(shares, ends(1)) == 2 * CONNECTIONS
    assert len(begin(shares)) == CONNECTIONS


def test_whoever_has_least_comes_next_among_organisations_and_among_their_endpoints() -> None:
    shares = Shares(SHARE)
    for _ in range(2 * SLOTS // SHARE):
        claim(shares, ends(20))
    full = begin(shares)
    assert len(full) == SLOTS
    late = ends(1)
    assert claim(shares, late) == 0  # all that may be held is held
    for one in full[:3]:
        shares.ended(one)
        begin(shares)
    assert claim(shares, late) == 3
    shares.ended(full[3])
    assert [one.organisation_id for one in begin(shares)] == [late[0].organisation_id]
    own = ends(1, organisation=full[4].organisation_id)
    mine = [one for one in full[4:] if one.organisation_id == full[4].organisation_id]
    shares.ended(mine[0])
    begin(shares)
    assert claim(shares, own) == 1
    shares.ended(mine[1])
    shares.ended(mine[2])
    assert own[0].endpoint_id in {one.endpoint_id for one in begin(shares)}


def test_endpoints_that_fail_leave_room_for_the_others() -> None:
    shares = Shares(SHARE)
    owner = uuid4()
    failing = ends(20, organisation=owner, failing=True)
    assert claim(shares, failing[:1]) == FAILING
    assert claim(shares, failing) == SHARE // 2 - FAILING
    assert claim(shares, ends(20, organisation=owner)) == 2 * SHARE - SHARE // 2
    for _ in range(SLOTS):
        claim(shares, ends(20, failing=True))
    assert claim(shares, ends(20)) == 2 * SHARE


def test_what_waits_is_given_up_at_the_end_and_what_is_under_way_is_not() -> None:
    shares = Shares(SHARE)
    claim(shares, ends(20))
    begun = begin(shares)
    left = shares.leave()
    assert len(left) == SHARE
    assert not {one.id for one in left} & {one.id for one in begun}
    for one in begun:
        shares.ended(one)
    assert shares.full() == []
    assert shares.next() is None


@pytest.mark.parametrize("seed", range(8))
def test_whatever_comes_and_ends_the_next_is_of_who_has_least(seed: int) -> None:
    chance, share = random.Random(seed), 20
    shares, every = Shares(share), [end for _ in range(4) for end in ends(3)]
    lines: dict[UUID, deque[Claimed]] = {end.endpoint_id: deque() for end in every}
    under_way: list[Claimed] = []
    refused = 0

    def first_in_line() -> dict[UUID, tuple[UUID, int, int]]:
        """Say of each that may begin whose it is, and how much its organisation and its endpoint have."""
        owners = Counter(one.organisation_id for one in under_way)
        of = Counter(one.endpoint_id for one in under_way)
        return {
            line[0].id: (end.organisation_id, owners[end.organisation_id], of[end.endpoint_id])
            for end in every
            if (line := lines[end.endpoint_id])
            and owners[end.organisation_id] < share
            and of[end.endpoint_id] < CONNECTIONS
        }

    for _ in range(4_000):
        match chance.choice(["comes", "comes", "begins", "begins", "ends"]):
            case "comes" if shares.rooms([end := chance.choice(every)]):
                lines[end.endpoint_id].append(claimed(end))
                shares.keep(lines[end.endpoint_id][-1])
            case "ends" if under_way:
                shares.ended(under_way.pop(chance.randrange(len(under_way))))
            case "begins":
                may = first_in_line()
                if begun := shares.next():
                    owner, has, of_endpoint = may[begun.id]
                    assert has == min(has for _, has, _ in may.values())
                    assert of_endpoint == min(of for whose, _, of in may.values() if whose == owner)
                    under_way.append(lines[begun.endpoint_id].popleft())
                else:
                    assert not may
                    refused += any(lines.values())
    assert refused  # some waited while all of theirs had all they may have
    assert {one.id for one in shares.leave()} == {one.id for line in lines.values() for one in line}
    for one in under_way:
        shares.ended(one)
    assert sum(shares.rooms(every).values()) == 4 * 2 * share


def test_what_there_is_goes_to_whoever_has_least_and_nobody_gets_more_than_it_wishes() -> None:
    a, b, c = uuid4(), uuid4(), uuid4()
    assert share_out(9, {a: 2, b: 3}, {}) == {a: 2, b: 3}
    assert share_out(5, {a: 2, b: 9, c: 9}, dict.fromkeys([a, b, c], 0)) == {a: 2, b: 2, c: 1}
    assert share_out(3, {a: 9, b: 9, c: 1}, {a: 5, b: 4, c: 7}) == {a: 1, b: 2, c: 0}
    assert share_out(0, {a: 9}, {a: 0}) == {a: 0}
