"""What the environment decides."""

import os
from dataclasses import replace

import pytest

from app.instance import settings, wiring
from app.instance.settings import Settings
from rules import plans

WHOLE = {"DATABASE_URL": "d", "REDIS_URL": "r", "BASE_URL": "http://x/", "SECRET_KEY": "s"}


@pytest.mark.parametrize("name", WHOLE)
def test_a_variable_that_is_missing_is_named(name: str) -> None:
    with pytest.raises(KeyError, match=name):
        settings.read({one: value for one, value in WHOLE.items() if one != name})


def test_what_is_not_said_has_its_default() -> None:
    read = settings.read(WHOLE)
    assert read == Settings("d", "r", "http://x", "s")
    proxies = settings.read(WHOLE | {"TRUSTED_PROXIES": " 10.0.0.0/8, ::1 ,,"}).trusted_proxies
    assert proxies == ("10.0.0.0/8", "::1")


@pytest.mark.parametrize(("name", "value"), [("FAST_PATH", "maybe"), ("WEB_THREADS", "many")])
def test_a_value_that_cannot_be_is_named(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"{name} cannot be '{value}'"):
        settings.read(WHOLE | {name: value})


def test_an_operator_may_change_the_plans_numbers(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "PLANS", dict(plans.PLANS))
    try:
        wiring.configure(replace(settings, plans='{"starter": {"invites": 50}}'))
        assert (plans.PLANS["starter"].invites, plans.PLANS["starter"].cases) == (50, 30)
        with pytest.raises(ValueError, match="gold"):
            wiring.configure(replace(settings, plans='{"gold": {}}'))
    finally:
        wiring.configure(settings, pool_size=settings.threads + 4)


def test_as_many_processes_wait_for_programs_as_memory_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = settings.read(WHOLE)
    for mib, share, wait in ((24_000, 1.0, 60), (24_000, 0.25, 20), (6_000, 1.0, 20), (200, 1.0, 0)):
        monkeypatch.setattr(settings, "_memory_mib", lambda mib=mib: mib)
        assert replace(whole, limit_share=share).programs_that_wait == wait
        assert replace(whole, limit_share=share, programs_ahead=3).programs_that_wait == 3


def test_memory_is_the_machines_or_less() -> None:
    assert 0 < settings._memory_mib() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
