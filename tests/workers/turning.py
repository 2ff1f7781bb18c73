"""Schedules that take their turn in a test, and what they tell."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from rules.clock import iso, now
from tests.api import Api
from workers import schedule
from workers.schedule import Kind


@pytest.fixture(autouse=True)
def as_long_as_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "LONGEST_TURN", timedelta(minutes=5))


def turn(kinds: Sequence[Kind], schedules: int = 1) -> None:
    with ThreadPoolExecutor(schedules) as pool:
        list(pool.map(lambda _: [schedule.turn(kind, threading.Event()) for kind in kinds], range(schedules)))


def ago(**values: Any) -> str:
    return iso(now() - timedelta(**values))


def told(api: Api, type: str) -> int:
    return len(api.get("/events/", params={"type": type}).json()["results"])
