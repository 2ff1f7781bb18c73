"""What the reference fills in, without a browser: each operation of the document has values that work."""

import json
import subprocess
from pathlib import Path

import pytest

from tests import nodes
from tests.app.instances import ENVIRON, up, walkable
from tests.documents import operations

SCRIPT = Path(__file__).with_name("reference.js")
ENDLESS = '{"growth": {"reads": 1000000, "writes": 1000000}}'


def test_every_operation_is_filled_in_with_what_works_on_the_demo_organisation() -> None:
    node = nodes.node()
    if node is None:
        pytest.skip("There is no Node of at least 22.18 here, and none could be installed.")
    with walkable() as folder, up(folder / "data", environ={"PLANS": ENDLESS}) as running:
        given = {"BASE_URL": running.facts["base_url"], "API_KEY": running.facts["test_key"]}
        command = [node, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", SCRIPT]
        done = subprocess.run(
            command, env=ENVIRON | given, capture_output=True, text=True, check=False, timeout=600
        )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert {one["id"] for one in answers} == {one.id for one in operations("openapi").values()}
    assert [one for one in answers if not 200 <= one["status"] < 300] == []
