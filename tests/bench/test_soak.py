"""How a soak is kept and shown: few points for many, a picture for both schemes, what rises in words."""

from typing import Any
from xml.etree import ElementTree as ET

import pytest

from bench import pages, soak
from bench.offered import Went

SVG = "{http://www.w3.org/2000/svg}"
RESULT: dict[str, Any] = {
    "measured": "2026-11-25",
    "machine": "2 cores",
    "others": 3.0,
    "minutes": 60.0,
    "rate": 100,
    "rising": ["memory (PSS) of web"],
    "curves": {
        panel: {"web": [(0, 1.0), (3600, 2.0)], "work": [(0, 2.0), (3600, 2.0)]} for panel in pages.DRAWN
    },
    "figures": [
        {"name": "soak: minutes", "value": 60, "unit": "", "target": None, "met": None, "spread": None}
    ],
}


@pytest.mark.parametrize("scheme", pages.SOAK)
def test_the_picture_names_day_machine_and_every_curve(scheme: str) -> None:
    drawn = ET.fromstring(pages.soak(RESULT, scheme))
    written = [one.text for one in drawn.iter(f"{SVG}text")]
    assert "100 requests a second for 60 minutes, on 2026-11-25" in written
    assert "2 cores" in written
    assert [written.count(name) for name in ("web", "work")] == [len(pages.DRAWN)] * 2
    assert set(pages.DRAWN) <= set(written)
    assert len(list(drawn.iter(f"{SVG}polyline"))) == 2 * len(pages.DRAWN)


def test_the_page_shows_the_picture_and_says_what_rises() -> None:
    lines = "\n".join(pages.speed({"soak": RESULT}, ("soak",)))
    assert 'src="soak-light.svg"' in lines
    assert "rise: memory (PSS) of web." in lines
    assert "nothing rises" in "\n".join(pages.soaked(RESULT | {"rising": []}))


def test_pictures_of_a_kept_soak_are_those_of_its_figures() -> None:
    kept = pages.kept().get("soak")
    assert [path.read_text() for path in pages.SOAK.values() if path.exists()] == (
        [pages.soak(kept, scheme) for scheme in pages.SOAK] if kept else []
    )


def test_many_points_become_few_of_the_same_mean() -> None:
    found = soak.thin([(float(at), float(at % 2)) for at in range(1200)])
    assert len(found) == soak.KEPT
    assert {value for _, value in found} == {0.5}


def test_a_minutes_percentile_is_of_what_was_due_in_it() -> None:
    told = {"kinds": ["GET"] * 120, "due": [float(at) for at in range(120)], "late": [0.0]}
    told |= {"took": [0.001 if at < 60 else 0.002 for at in range(120)], "faults": {}}
    went = Went(told, 120)
    assert [value for _, value in soak.by_minute(went, 120, 99)] == [1.0] * 30 + [2.0] * 30
