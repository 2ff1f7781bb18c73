"""What it costs a request to show resources: with a schema's function worked out once, and with marshmallow's dump.

`python -m bench.showing`. Whole requests in process, in pairs of interleaved rounds; CPU of this process for each.
"""

import json
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from starlette.testclient import TestClient

import schemas.assessments
import store
from app.http.application import create_app
from bench import figures
from bench.figures import Figure
from rules.caller import Caller
from store.accounts import keys, organisations
from store.assessing import assessments

PAIRS, SLICES, QUICK_SLICES, TIMES = 5, 20, 4, 50  # in a slice both ways take turns
PLANS = json.dumps({"enterprise": {"reads": 2**31 - 1}})
ROOT = "/api/v1/public/assessments/"
KINDS = {
    "one": ROOT + "ways-1/",
    "page of 20": ROOT + "?page_size=20",
    "page of 100": ROOT + "?page_size=100",
}
WORTH = 10  # per cent of a request, less than which a way of our own is not kept for


def measure(quick: bool) -> list[Figure]:
    """Ask for one, for twenty and for a hundred, both ways in turn."""
    slices = QUICK_SLICES if quick else SLICES
    with figures.place(plans=PLANS) as settings:
        with store.transaction() as session:
            owner = organisations.create(session, name="Ways", plan="enterprise")
            caller = Caller(owner.id, livemode=True, plan_name="enterprise")
            for number in range(100):
                assessments.create(session, caller, {"title": f"Ways {number}", "description": "What for."})
            _, key = keys.create(session, organisation=owner, name="Ways", livemode=True)
        saved: dict[str, list[float]] = {kind: [] for kind in KINDS}
        spent: dict[tuple[str, bool], list[float]] = {
            (kind, quick): [] for kind in KINDS for quick in (True, False)
        }
        with TestClient(create_app(settings), base_url=settings.base_url) as http:
            for number in range(PAIRS + 1):
                for kind, target in KINDS.items():
                    pair = {True: 0.0, False: 0.0}
                    for turn in range(slices):
                        for worked_out in (True, False) if turn % 2 else (False, True):
                            pair[worked_out] += ask(http, target, key, worked_out=worked_out) / slices
                    if number:  # the first only warms up
                        for worked_out, cost in pair.items():
                            spent[kind, worked_out].append(cost)
                        saved[kind].append(100 * (1 - pair[True] / pair[False]))
    made = []
    for kind in KINDS:
        made += [
            figures.plain(f"{kind}: marshmallow's dump", spent[kind, False], "us CPU"),
            figures.plain(f"{kind}: worked out once", spent[kind, True], "us CPU"),
            figures.at_least(f"{kind}: saved", saved[kind], "%", WORTH),
        ]
    return made


def ask(http: TestClient, target: str, key: str, *, worked_out: bool) -> float:
    if worked_out:
        return cost(http, target, key)
    shown: dict[str, Callable[[Any], Any]] = {
        "item": schemas.assessments.Item().dump,
        "detail": schemas.assessments.Detail().dump,
    }
    with patch.multiple(schemas.assessments, **shown):
        return cost(http, target, key)


def cost(http: TestClient, target: str, key: str) -> float:
    """Return the microseconds of CPU that a request takes."""
    path, _, query = target.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [(b"host", b"testserver"), (b"authorization", f"Bearer {key}".encode())],
        "client": ("127.0.0.1", 4711), "server": ("testserver", 80), "state": {},
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start" and message["status"] != 200:
            raise RuntimeError(f"{target} answered {message['status']}.")

    async def all_of_them() -> float:
        began = time.process_time()
        for _ in range(TIMES):
            await http.app(dict(scope), receive, send)  # type: ignore[arg-type]
        return (time.process_time() - began) / TIMES * 1e6

    assert http.portal
    return http.portal.call(all_of_them)


if __name__ == "__main__":
    figures.main(measure, __doc__)
