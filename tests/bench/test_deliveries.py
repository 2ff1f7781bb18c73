"""A worker is compared with aiohttp at as many connections as it has itself."""

from contextlib import nullcontext
from typing import Any

import pytest

from bench import deliveries, figures


def test_each_multiple_is_of_as_many_connections_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    def rival(_python: object, connections: int, _count: int, found: list[float]) -> None:
        found.append(connections)

    def rate(_settings: object, _count: int, found: Any, *, endpoints: int, workers: int = 1) -> None:
        found.rates.append(workers * endpoints)
        found.connections.append(16 * endpoints)
        found.idle.append(0.5)

    stand_ins = {"rival": rival, "rate": rate, "slow_receiver": nullcontext, "environment": str}
    for name, stand_in in (stand_ins | {"steady": lambda _settings: [1.0, 2.0]}).items():
        monkeypatch.setattr(deliveries, name, stand_in)
    monkeypatch.setattr(figures, "place", nullcontext)
    made = {one.name.removeprefix("deliveries: "): one for one in deliveries.measure(False)}
    for connections in (64, 320):
        one = made[f"one worker as a multiple of aiohttp, {connections} connections"]
        assert (one.value, one.target) == (round(1 / 16, 3), ">= 1")
        assert made[f"of {connections} connections one worker had"].value == connections
    assert made["two workers as a multiple of one"].value == 2
