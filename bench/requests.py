"""Requests side by side with peers doing the same work on the same servers: `python -m bench.requests`."""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from app.instance.settings import Settings
from bench import figures
from bench.figures import Figure
from bench.sides import (
    CONNECTIONS,
    KINDS,
    OURS,
    PLANS,
    SIDES,
    Round,
    Side,
    ask,
    compare,
    prepare,
    start,
    start_peer,
)

# What we are to be beside a peer, as a multiple of it: kind, measure, peer, and how much.
TARGETS = {
    ("get", "cpu", "floor"): ("<=", 2.0),
    ("get", "rate", "litestar"): (">=", 1.0),
    ("get", "rate", "fastapi"): (">=", 1.2),
    ("get", "rate", "django_rest"): (">=", 5.0),
    ("page_20", "rate", "litestar"): (">=", 1.0),
    ("page_100", "rate", "litestar"): (">=", 1.0),
    ("post", "cpu", "fastapi"): ("<=", 0.75),
    ("post", "rate", "fastapi"): (">=", 1.0),
}
MEASURES = {"cpu": "CPU of a request", "rate": "requests/s"}
LUA = """
local n, base = 0, "{base}"
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
request = function()
  n = n + 1
  return wrk.format(nil, nil, nil, '{{"email":"c' .. base .. '-' .. n .. '@example.com","name":"Ada Lovelace"}}')
end
"""


def measure(quick: bool) -> list[Figure]:
    """Measure every side in alternating rounds, and say how we stand beside each."""
    if not shutil.which("wrk"):
        raise SystemExit("This bench needs wrk: `apt-get install wrk`, `brew install wrk`.")
    rounds, seconds = (3, 1) if quick else (5, 3)
    with (
        figures.place(plans=PLANS) as settings,
        tempfile.TemporaryDirectory() as folder,
        ExitStack() as stack,
    ):
        key = prepare()
        sides = start(settings, Path(folder))
        stack.callback(stop, sides)
        compare(sides, key)
        tune(settings, sides, key, seconds, Path(folder))
        for kind in KINDS:
            for side in sides.values():  # what is filled and prepared by the first requests is not measured
                load(side, kind, key, 1, Path(folder))
        for number in range(rounds):
            order = list(sides) if number % 2 else list(reversed(sides))
            for kind in KINDS:
                for name in order:
                    sides[name].rounds[kind].append(calm(sides[name], kind, key, seconds, Path(folder)))
    return conclude(sides)


def stop(sides: dict[str, Side]) -> None:
    for side in sides.values():
        figures.stop(side.process)


def tune(settings: Settings, sides: dict[str, Side], key: str, seconds: float, folder: Path) -> None:
    """Have each peer carry out as many invitations at once as it answers the most requests with, by a round of each."""

    def restart(name: str, at_once: int) -> Side:
        figures.stop(sides[name].process)
        sides[name] = start_peer(settings, folder, SIDES[name], at_once)
        ask(sides[name], KINDS["get"], key)
        return sides[name]

    for name, peer in SIDES.items():
        rates: dict[int, float] = {}
        for at_once in peer.at_once:
            side = restart(name, at_once)
            load(side, "post", key, 1, folder)
            rates[at_once] = calm(side, "post", key, seconds, folder).rate
        best = max(rates, key=rates.__getitem__)
        restart(name, best)
        tried = ", ".join(f"{rate:,.0f} with {at_once}" for at_once, rate in rates.items())
        print(f"{name}: invitations/s by how many at once: {tried}; measured with {best}", flush=True)


def calm(side: Side, kind: str, key: str, seconds: float, folder: Path) -> Round:
    """Load one side; again where others disturbed it. Return the round that they disturbed least."""
    return figures.calm(lambda: load(side, kind, key, seconds, folder), lambda found: found.others)


def load(side: Side, kind: str, key: str, seconds: float, folder: Path) -> Round:
    """Load one side with one kind of request."""
    command = [
        "wrk",
        "-t1",
        f"-c{CONNECTIONS}",
        f"-d{seconds:g}s",
        "--latency",
        "-H",
        f"Authorization: Bearer {key}",
    ]
    if kind == "post":
        script = folder / "post.lua"
        script.write_text(LUA.format(base=time.monotonic_ns()))
        command += ["-s", str(script)]
    before, began = figures.cpu_seconds(side.process.pid), figures.usage()
    said = subprocess.run(
        [*command, f"http://127.0.0.1:{side.port}{KINDS[kind]}"], capture_output=True, text=True, check=True
    ).stdout
    used, others = figures.cpu_seconds(side.process.pid) - before, figures.others(began)
    if wrong := re.search(r"Non-2xx or 3xx responses: \d+|Socket errors:.*", said):
        # gunicorn now and then closes a connection that it was asked to keep; a wrong answer is another matter.
        print(f"{kind}: {wrong.group()}", file=sys.stderr)
        if "Non-2xx" in wrong.group():
            raise SystemExit(1)
    count = int(found(r"(\d+) requests in", said))
    rate = float(found(r"Requests/sec:\s+(\S+)", said))
    return Round(
        rate,
        milliseconds(found(r"\n\s+50%\s+(\S+)", said)),
        milliseconds(found(r"\n\s+99%\s+(\S+)", said)),
        used / count * 1e6,
        others,
    )


def found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match, text
    return match.group(1)


def milliseconds(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()  # type: ignore[union-attr]
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


def conclude(sides: dict[str, Side]) -> list[Figure]:
    """Turn rounds into figures: a ratio is that of neighbours in one round, and the median of all rounds counts."""
    ours = sides[OURS]
    made = [
        figures.beside(
            f"{kind}: {what} as a multiple of {peer}",
            figures.ratios(ours.all(kind, name), sides[peer].all(kind, name)),
            "x",
            TARGETS.get((kind, name, peer)),
        )
        for kind in KINDS
        for name, what in MEASURES.items()
        for peer in SIDES
    ]
    for kind in ("get", "post"):
        tails = [one.p99 / one.p50 for one in ours.rounds[kind]]
        made.append(figures.at_most(f"{kind}: p99 as a multiple of p50", tails, "x", 4))
    twenty, hundred = (ours.all(kind, "cpu") for kind in ("page_20", "page_100"))
    dearer = figures.ratios(hundred, twenty)
    made.append(figures.at_most("page of 100: CPU as a multiple of a page of 20", dearer, "x", 4))
    made.append(figures.at_most("page of 100: CPU", [one / 1000 for one in hundred], "ms", 10))
    for kind in KINDS:
        for name, side in sides.items():
            made += [
                figures.plain(f"{kind}: {name} CPU", side.all(kind, "cpu"), "us"),
                figures.plain(f"{kind}: {name} requests", side.all(kind, "rate"), "/s"),
                figures.plain(f"{kind}: {name} p50", side.all(kind, "p50"), "ms"),
                figures.plain(f"{kind}: {name} p99", side.all(kind, "p99"), "ms"),
            ]
    tuned = {name: side.at_once for name, side in sides.items() if side.at_once}
    return [
        *made,
        *(figures.plain(f"post: {name}, invitations at once", most, "") for name, most in tuned.items()),
    ]


if __name__ == "__main__":
    figures.main(measure, __doc__)
