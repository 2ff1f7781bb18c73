"""What we are to be beside peers, and how peers are asked."""

from bench import pages
from bench.requests import MEASURES, TARGETS
from bench.sides import KINDS, SIDES


def test_what_is_kept_is_judged_by_the_targets_of_today() -> None:
    kept = {one["name"]: one["target"] for one in pages.kept()["requests"]["figures"]}
    targets = {key: f"{sign} {limit:g}" for key, (sign, limit) in TARGETS.items()}
    beside = [(kind, name, peer) for kind in KINDS for name in MEASURES for peer in SIDES]
    assert targets.keys() <= set(beside)
    for kind, name, peer in beside:
        assert kept[f"{kind}: {MEASURES[name]} as a multiple of {peer}"] == targets.get((kind, name, peer))
