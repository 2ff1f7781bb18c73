"""Puts the figures of bench/results.json where they are read: the README, its picture and docs/speed.md."""

import json
from collections.abc import Iterator
from typing import Any

from app.instance.settings import ROOT
from bench.picture import COLOURS, Bar, curves, draw

RESULTS, README, SPEED = ROOT / "bench/results.json", ROOT / "README.md", ROOT / "docs/speed.md"
PICTURES = {scheme: ROOT / f"docs/speed-{scheme}.svg" for scheme in COLOURS}
SOAK = {scheme: ROOT / f"docs/soak-{scheme}.svg" for scheme in COLOURS}
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
# What a chooser asks for, and which figure answers it.
ROWS = {
    "A GET by key: one process, one core": "get: hiring requests",
    "… requests/s beside Litestar with asyncpg": "get: requests/s as a multiple of litestar",
    "… requests/s beside FastAPI with asyncpg": "get: requests/s as a multiple of fastapi",
    "… requests/s beside Flask": "get: requests/s as a multiple of flask",
    "… requests/s beside Django REST": "get: requests/s as a multiple of django_rest",
    "… CPU beside the floor: ASGI and asyncpg alone": "get: CPU of a request as a multiple of floor",
    "An invitation by POST: requests/s beside FastAPI with asyncpg": "post: requests/s as a multiple of fastapi",
    "… CPU beside FastAPI with asyncpg": "post: CPU of a request as a multiple of fastapi",
    "Webhooks of one worker beside aiohttp alone, 320 connections": (
        "deliveries: one worker as a multiple of aiohttp, 320 connections"
    ),
    "From a commit until its webhook has arrived, p50": "deliveries: commit to first attempt, p50",
}
SIDES = {
    "hiring": "this service",
    "floor": "ASGI, asyncpg",
    "litestar": "Litestar, asyncpg",
    "fastapi": "FastAPI, asyncpg",
    "flask": "Flask, psycopg",
    "django_rest": "Django REST",
}
PANELS = {
    "get": "CPU of a GET by key (less is better)",
    "post": "CPU of an invitation by POST (less is better)",
}
TITLE = "CPU that one request takes, beside peers that do the same work"
SOAKED = "What an instance takes under a steady load"
# Of what was sampled, what is drawn; the rest stands in the table.
DRAWN = ("Memory (PSS), MiB", "Open descriptors", "Dead rows, % of all", "Waiting", "Requests, ms")

Figure = dict[str, Any]


def keep(bench: str, measured: Figure) -> None:
    """Keep what a bench measured, in the place of what it measured before."""
    RESULTS.write_text(json.dumps(dict(sorted((kept() | {bench: measured}).items())), indent=1) + "\n")


def kept() -> dict[str, Any]:
    """Return what each bench measured last, with its day and machine."""
    return dict(json.loads(RESULTS.read_text())) if RESULTS.exists() else {}


def write(benches: tuple[str, ...]) -> None:
    """Write the README's part, its pictures and docs/speed.md, or end where a row of the README is not kept."""
    results = kept()
    if missing := set(ROWS.values()) - {one["name"] for one in every(results)}:
        raise SystemExit(f"Not measured yet: {'; '.join(sorted(missing))}.")
    for scheme, path in PICTURES.items():
        path.write_text(picture(results, scheme))
        if "soak" in results:
            SOAK[scheme].write_text(soak(results["soak"], scheme))
    for page, lines in ((README, readme(results)), (SPEED, speed(results, benches))):
        before, _, rest = page.read_text().partition(BEGIN)
        page.write_text("\n".join([f"{before}{BEGIN}", *lines, END + rest.partition(END)[2]]))


def readme(results: dict[str, Any]) -> Iterator[str]:
    """Yield the README's lines: the picture, what a chooser asks for, and whatever else is missed."""
    figures = {one["name"]: one for one in every(results)}
    yield from shown("speed", TITLE, "docs/")
    yield ""
    yield "| What | Reached (least to most of the rounds) | Target |"
    yield "|---|---|---|"
    for what, name in ROWS.items():
        yield row(what, figures[name])
    others = [name for name, one in figures.items() if one["met"] is False and name not in ROWS.values()]
    yield ""
    yield f"Missed too: {'; '.join(others)}." if others else "Nothing else is missed."
    yield ""
    for bench, result in results.items():
        if any(one["name"] in ROWS.values() for one in result["figures"]):
            yield f"- {bench}: {measured(result)}"


def speed(results: dict[str, Any], benches: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of docs/speed.md: what is missed, and every figure of every bench."""
    missed = [one for one in every(results) if one["met"] is False]
    yield f"## Missed: {len(missed)} of {sum(one['met'] is not None for one in every(results))} targets"
    yield ""
    yield from table(missed)
    for bench in benches:
        yield ""
        yield f"## {bench}"
        yield ""
        if bench not in results:
            yield "Not measured on this machine yet."
            continue
        yield measured(results[bench])
        yield ""
        if bench == "soak":
            yield from soaked(results[bench])
        yield from table(results[bench]["figures"])


def soaked(result: dict[str, Any]) -> Iterator[str]:
    """Yield the picture of the soak, and what rises in it."""
    yield from shown("soak", SOAKED)
    yield ""
    yield (
        f"In its later half these rise: {', '.join(result['rising'])}."
        if result["rising"]
        else ("In its later half nothing rises.")
    )
    yield ""


def shown(name: str, title: str, folder: str = "") -> Iterator[str]:
    """Yield the lines that show a picture of both schemes."""
    yield "<picture>"
    yield f'  <source media="(prefers-color-scheme: dark)" srcset="{folder}{name}-dark.svg">'
    yield f'  <img src="{folder}{name}-light.svg" alt="{title}" width="760">'
    yield "</picture>"


def measured(result: dict[str, Any]) -> str:
    """Say when a bench was measured, on what, and how busy others kept the machine."""
    others = result["others"]
    busy = "" if others is None else f" Others used {others:g} % of the machine's time meanwhile."
    return f"Measured on {result['measured']}: {result['machine']}.{busy}"


def table(figures: list[Figure]) -> Iterator[str]:
    """Yield a table of figures."""
    yield "| What | Reached (least to most of the rounds) | Target |"
    yield "|---|---|---|"
    for one in figures:
        yield row(one["name"], one)


def row(what: str, one: Figure) -> str:
    """Write one figure; what is missed says so."""
    missed = " **missed**" if one["met"] is False else ""
    return f"| {what} | {reached(one)}{missed} | {one['target'] or ''} |"


def reached(one: Figure) -> str:
    """Write what was reached, and its spread."""
    spread = f" ({' to '.join(number(each) for each in one['spread'])})" if one.get("spread") else ""
    return f"{number(one['value'])} {one['unit']}".rstrip() + spread


def number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def every(results: dict[str, Any]) -> list[Figure]:
    return [one for kept in results.values() for one in kept["figures"]]


def picture(results: dict[str, Any], scheme: str) -> str:
    """Draw what a request costs each side."""
    figures = {one["name"]: one for one in results["requests"]["figures"]}

    def bar(kind: str, side: str) -> Bar:
        cpu, rate = figures[f"{kind}: {side} CPU"], figures[f"{kind}: {side} requests"]
        says = f"{number(cpu['value'])} µs, {number(rate['value'])} requests/s"
        return Bar(SIDES[side], cpu["value"], tuple(cpu["spread"]), says, is_ours=side == "hiring")

    panels = {what: [bar(kind, side) for side in SIDES] for kind, what in PANELS.items()}
    told = (
        f"{what}: {'; '.join(f'{one.name} {one.says}' for one in bars)}." for what, bars in panels.items()
    )
    ends = "A line on each bar is the least and the most of its rounds."
    return draw(TITLE, " ".join([*told, ends]), panels, scheme)


def soak(result: dict[str, Any], scheme: str) -> str:
    """Draw what was sampled of the soak."""
    panels = {panel: result["curves"][panel] for panel in DRAWN if panel in result["curves"]}
    ends = (
        f"{panel}: {'; '.join(f'{name} {number(points[-1][1])}' for name, points in drawn.items())}."
        for panel, drawn in panels.items()
    )
    notes = (
        f"{result['rate']} requests a second for {result['minutes']:g} minutes, on {result['measured']}",
        result["machine"],
    )
    return curves(SOAKED, notes, f"{SOAKED}, at its end. {' '.join(ends)}", panels, scheme)
