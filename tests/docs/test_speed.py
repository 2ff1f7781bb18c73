"""The pages of figures: few rows in the README, nothing that is missed left out, a picture for both schemes."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bench import __main__ as bench
from bench import figures, pages

KEPT = pages.kept()
SVG = "{http://www.w3.org/2000/svg}"


def between(text: str) -> str:
    return text.partition(pages.BEGIN)[2].partition(pages.END)[0]


def missed() -> list[str]:
    return [one["name"] for one in pages.every(KEPT) if one["met"] is False]


def test_pages_say_what_is_kept() -> None:
    assert between(pages.README.read_text()).strip() == "\n".join(pages.readme(KEPT)).strip()
    assert between(pages.SPEED.read_text()).strip() == "\n".join(pages.speed(KEPT, bench.BENCHES)).strip()
    for scheme, path in pages.PICTURES.items():
        assert path.read_text() == pages.picture(KEPT, scheme)


def test_the_readme_has_at_most_ten_rows() -> None:
    rows = re.findall(r"^\| (?!What|-)", between(pages.README.read_text()), re.M)
    assert 1 <= len(rows) <= 10


def test_nothing_that_is_missed_is_hidden() -> None:
    readme, speed = (between(page.read_text()) for page in (pages.README, pages.SPEED))
    rows = {name: what for what, name in pages.ROWS.items()}
    for name in missed():
        (written,) = {line for line in speed.splitlines() if line.startswith(f"| {name} |")}
        assert "**missed**" in written
        if name in rows:
            assert re.search(rf"^\| {re.escape(rows[name])} \|.*\*\*missed\*\*", readme, re.M)
        else:
            assert name in readme.partition("Missed too: ")[2]
    assert speed.count("**missed**") == 2 * len(missed())


def test_each_bench_says_when_it_was_measured_and_on_what() -> None:
    speed = between(pages.SPEED.read_text())
    for name in bench.BENCHES:
        part = speed.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        wanted = [KEPT[name][what] for what in ("measured", "machine")] if name in KEPT else ["Not measured"]
        assert [one for one in wanted if one not in part] == []


@pytest.mark.parametrize("scheme", pages.PICTURES)
def test_the_picture_is_one_for_each_scheme_and_says_what_it_shows(scheme: str) -> None:
    drawn = ET.fromstring(pages.PICTURES[scheme].read_text())
    assert drawn.tag == f"{SVG}svg"
    assert drawn.get("role") == "img"
    named = {one.get("id"): one.text for one in drawn if one.tag in {f"{SVG}title", f"{SVG}desc"}}
    assert all(named[id] for id in drawn.get("aria-labelledby", "").split())
    cpu = next(one["value"] for one in KEPT["requests"]["figures"] if one["name"] == "get: hiring CPU")
    assert f"{pages.number(cpu)} µs" in "".join(drawn.itertext())
    assert drawn.find(f"{SVG}text").get("fill") == pages.COLOURS[scheme]["text"]  # type: ignore[union-attr]
    assert f"docs/{pages.PICTURES[scheme].name}" in pages.README.read_text()


def test_a_figure_is_the_median_of_its_rounds_with_their_spread() -> None:
    made = figures.at_most("a wait", [9.0, 2.0, 5.0], "ms", 4)
    assert (made.value, made.spread, made.target, made.met) == (5.0, (2.0, 9.0), "<= 4", False)
    assert figures.plain("a rate", 3, "/s").spread is None


def test_a_bench_by_itself_keeps_its_figures_and_those_of_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pages, "RESULTS", tmp_path / "results.json")
    first, second, third = (
        {"measured": day, "machine": "one", "others": 0.5, "figures": []} for day in "123"
    )
    pages.keep("start", first)
    pages.keep("bulk", second)
    pages.keep("start", third)
    assert pages.kept() == {"bulk": second, "start": third}


def test_the_readme_says_of_each_bench_that_it_shows_when_it_was_measured() -> None:
    shown = {
        name
        for name, result in KEPT.items()
        if {one["name"] for one in result["figures"]} & set(pages.ROWS.values())
    }
    written = pages.README.read_text()
    assert shown >= {"requests", "deliveries"}
    assert all(f"- {name}: Measured on {KEPT[name]['measured']}" in written for name in shown)


def test_pages_are_not_written_without_what_a_chooser_asks_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pages, "RESULTS", tmp_path / "results.json")
    with pytest.raises(SystemExit, match="get: hiring requests"):
        pages.write(bench.BENCHES)
