"""Places where programs run, and whose turn it is."""

from concurrent.futures import ThreadPoolExecutor, wait

import pytest

from gateways.places import Holder, Places, Turn


def test_a_session_holds_one_place_an_organisation_not_all_and_who_has_used_less_goes_first():
    places = Places(3)
    ada, bob, eve = Holder("acme", "ada"), Holder("acme", "bob"), Holder("acme", "eve")
    other, late = Turn(Holder("other", "x")), Turn(Holder("more", "y"), used=9.0)
    with places.taken(Turn(ada), 1):
        with pytest.raises(TimeoutError), places.taken(Turn(ada), 0.01):
            pass
        with places.taken(Turn(bob), 1):
            with pytest.raises(TimeoutError), places.taken(Turn(eve), 0.01):
                pass
            with places.taken(Turn(Holder("third", "z")), 1):
                order = []

                def take(turn):
                    with places.taken(turn, 30):
                        order.append(turn)

                with ThreadPoolExecutor() as pool:
                    waiting = []
                    for turn in (late, Turn(eve), other):
                        waiting.append(pool.submit(take, turn))
                        while len(places._waiting) < len(waiting):
                            pass
                    assert places._rank(other) < places._rank(late) < places._rank(Turn(eve))
                    places.count = 4  # one becomes free
                    with places._changed:
                        places._changed.notify_all()
                    wait(waiting[::2])
                    assert order[:2] == [other, late]
                    places.count = 9
                    with places._changed:
                        places._changed.notify_all()
    assert (places._taken, places._waiting, places._held) == (0, [], {})


def test_an_organisation_alone_has_the_only_place():
    with Places(1).taken(Turn(Holder("acme", "ada")), 1):
        pass


def test_who_waits_to_begin_knows_how_many_come_before():
    places = Places(1)

    def take(turn):
        with places.taken(turn, 30):
            pass

    waiting = [
        Turn(Holder("other", "bob")),
        Turn(Holder("more", "eve"), used=3.0),
        Turn(Holder("third", "zoe")),
    ]
    with ThreadPoolExecutor() as pool, places.taken(Turn(Holder("acme", "ada")), 1):
        for number, turn in enumerate(waiting, start=1):
            pool.submit(take, turn)
            while len(places._waiting) < number:
                pass
        assert {name: places.ahead(name) for name in ("bob", "zoe", "eve", "ada", "nobody")} == {
            "bob": 0, "zoe": 1, "eve": None, "ada": None, "nobody": None,
        }  # fmt: skip
        assert places.waiting() == 2
