"""Relays: who leads, who follows, and whoever listens to a machine that is gone."""

import itertools
import threading
import time
from contextlib import contextmanager
from functools import partial

from rules.clock import now
from store.database import bell
from tests.hooks import wait_until, wired
from workers import outbox as relays

__all__ = ["wired"]


@contextmanager
def led_and_followed(lead, follow, turn):
    """Run a relay that leads, and one beside it that follows, and would take its turns if it led."""
    led = threading.Event()

    def begin():
        led.set()
        return lead()

    leading, following = relays.Relay("test", begin), relays.Relay("test", turn, follow=follow)
    leading.start()
    assert led.wait(60)
    following.start()
    try:
        yield leading
    finally:
        bell.ring()  # for who waits
        leading.stop()
        following.stop()


def test_who_follows_looks_a_few_times_a_second_until_nobody_leads(wired):
    go_on, looked, taken = threading.Event(), [], []

    def stand_still():
        assert go_on.wait(60)
        return 0.05

    def noted(moments):
        moments.append(time.monotonic())
        return 0.0

    with led_and_followed(stand_still, partial(noted, looked), partial(noted, taken)) as leading:
        wait_until(lambda: len(looked) == 4)
        between = [later - sooner for sooner, later in itertools.pairwise(looked[:4])]
        assert min(between) >= relays.ASIDE_SECONDS
        assert taken == []
        go_on.set()
        leading.stop()
        wait_until(lambda: len(taken) >= 50)


def test_who_follows_hears_the_bell_too(wired):
    looked = []

    def look():
        looked.append(now())
        return 60.0

    with led_and_followed(lambda: 60.0, look, lambda: 60.0):
        wait_until(lambda: len(looked) == 1)
        bell.ring()
        wait_until(lambda: len(looked) == 2)


def test_whoever_listens_is_noticed_when_its_machine_is_gone(wired):
    with bell.listening() as listener:
        told = listener._connection.info.get_parameters()
        assert told["tcp_user_timeout"] == "10000"
        assert {"keepalives_idle", "keepalives_interval", "keepalives_count"} <= set(told)
