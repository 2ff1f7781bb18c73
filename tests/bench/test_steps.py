"""Where a GET's CPU goes is told by the steps that there are, and nothing is told twice or left out."""

import re

import pytest

from app.http import pipeline
from app.instance.settings import ROOT
from bench import pages, steps

SPENT = (*steps.STEPS, "requests")
OLD = dict.fromkeys(SPENT, 1e6)
NEW = {name: 1e6 + 1_000 * number for number, name in enumerate(SPENT, start=1)}


def test_the_steps_are_those_of_the_pipeline() -> None:
    assert pipeline.__doc__
    assert tuple(re.findall(r"^(\w+)  ", pipeline.__doc__, re.M)) == steps.STEPS


def test_the_parts_of_a_request_add_up_to_all_of_it() -> None:
    found = steps.parts(OLD, NEW, 100.0)
    whole = found.pop("all")
    assert whole == 100
    assert sum(found.values()) == pytest.approx(whole)
    assert [found[name] for name in steps.STEPS] == pytest.approx([number / 6_000 for number in range(1, 6)])


def test_no_step_is_charged_with_what_others_do_while_it_waits() -> None:
    sources = [path for layer in ("app", "store") for path in (ROOT / layer).rglob("*.py")]
    waiting = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in sources
        if re.search(r"^from store.database.greenlets import .*\bwait_for\b", path.read_text(), re.M)
    }
    assert waiting == {module.__name__ for module in steps.WAITING}


def test_what_is_kept_are_the_steps_of_today() -> None:
    kept = pages.kept().get("steps", {"figures": []})["figures"]
    assert {one["name"] for one in kept} <= {f"a GET's CPU: {name}" for name in steps.parts(OLD, NEW, 1.0)}
