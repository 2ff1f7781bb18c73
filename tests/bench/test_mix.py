"""Each call of the mix is what the service takes: a load that is refused measures refusals."""

import json
import os
import subprocess
import sys
from collections import Counter
from random import Random

from sqlalchemy import make_url

from app.instance.settings import ROOT
from bench import mix
from tests.servers import _text

FEW, ROWS = 11, 1_100
GIVEN = {"organisations": FEW, "rows": ROWS, "first": 0, "count": FEW, "mark": "m"}
ASK = f"""
import json
from random import Random
from tests.client import Client
from app.http.application import create_app
from bench import figures, mix, scale_rows
from bench.sides import PLANS

found = []
with figures.place(plans=PLANS) as settings:
    scale_rows.fill({FEW}, {ROWS})
    with Client(create_app(settings), base_url=settings.base_url) as http:
        for first in range({FEW}):  # the large one, and each of the others
            among = mix.Among({GIVEN} | {{"first": first, "count": 1, "mark": f"m{{first}}"}}, Random(first))
            calls = [mix.of(kind, among) for kind in mix.MIXED for _ in range(2)]
            pages = mix.pages({GIVEN} | {{"first": first, "count": 1}}, Random(first))
            for call in [*calls, next(pages), next(pages)]:
                head, _, body = call.request.decode().partition("\\r\\n\\r\\n")
                line, *fields = head.split("\\r\\n")
                method, path, _ = line.split(" ")
                headers = dict(field.split(": ", 1) for field in fields)
                answer = http.request(method, path, headers=headers, content=body)
                if answer.status_code != call.status:
                    found.append([call.kind, first, answer.status_code, answer.text[:300]])
                elif call.kind.startswith("list") and not answer.json()["results"]:
                    found.append([call.kind, first, "an empty page"])
print(json.dumps(found))
"""


def test_each_call_is_answered_as_it_should_be(servers: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ASK],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": _text(make_url(servers["postgres"]))},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


def test_seven_of_ten_read_and_one_saves() -> None:
    assert sum(weight for weight, *_ in mix.MIXED.values()) == 100
    calls = mix.mixed(GIVEN, Random(1))
    methods = Counter(next(calls).request.split(b" ")[0] for _ in range(20_000))
    assert {method: round(count / 2_000) for method, count in methods.items()} == {
        b"GET": 7, b"POST": 2, b"PUT": 1, b"PATCH": 0
    }  # fmt: skip


def test_rows_of_an_organisation_are_within_what_there_is() -> None:
    chance = Random(1)
    for number in range(FEW):
        among = mix.Among(GIVEN | {"first": number, "count": 1}, chance)
        rows = {among.row(number, step) for step in (1, mix.STARTED) for _ in range(500)}
        assert max(rows) < ROWS
        assert {row % 2 for row in rows} == {number > 0}
        assert all(number == 0 or 1 + row // 2 % (FEW - 1) == number for row in rows)
