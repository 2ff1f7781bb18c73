"""What we are to be beside peers, and how peers are asked."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.http import server
from bench import figures, pages, requests
from bench.requests import MEASURES, TARGETS
from bench.sides import KINDS, PEERS, SIDES, Side


def test_what_is_kept_is_judged_by_the_targets_of_today() -> None:
    kept = {one["name"]: one["target"] for one in pages.kept()["requests"]["figures"]}
    targets = {key: f"{sign} {limit:g}" for key, (sign, limit) in TARGETS.items()}
    beside = [(kind, name, peer) for kind in KINDS for name in MEASURES for peer in SIDES]
    assert targets.keys() <= set(beside)
    for kind, name, peer in beside:
        assert kept[f"{kind}: {MEASURES[name]} as a multiple of {peer}"] == targets.get((kind, name, peer))


def test_each_peer_is_measured_with_as_many_invitations_at_once_as_it_answers_most_with(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    best = {
        name: peer.at_once[number % len(peer.at_once)] for number, (name, peer) in enumerate(SIDES.items())
    }
    running: list[Any] = []
    peers = {peer: name for name, peer in SIDES.items()}

    def start(_settings: object, _folder: object, peer: Any, at_once: int) -> Any:
        running.append((peers[peer], at_once))
        return Side(0, running[-1], at_once)  # which stands for the process

    def calm(side: Any, *_: object) -> Any:
        name, at_once = side.process
        return SimpleNamespace(rate=1.0 if best[name] == at_once else 0.5)

    monkeypatch.setattr(figures, "stop", running.remove)
    for name, stand_in in {"start_peer": start, "calm": calm, "load": calm, "ask": calm}.items():
        monkeypatch.setattr(requests, name, stand_in)
    sides = {name: start(None, None, peer, peer.at_once[-1]) for name, peer in SIDES.items()}
    requests.tune(None, sides, "", 1, tmp_path)  # type: ignore[arg-type]  # nothing is started
    assert {name: side.at_once for name, side in sides.items()} == best
    assert sorted(running) == sorted(best.items())


def test_peers_look_for_garbage_as_seldom_as_the_product() -> None:
    said = re.search(r"gc\.set_threshold\((.+)\)", (PEERS / "work.py").read_text())
    assert said is not None
    assert tuple(int(number) for number in said[1].split(", ")) == server.GARBAGE
