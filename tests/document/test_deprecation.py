"""What is deprecated has its dates, far enough apart, and is told of."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from rules.deprecation import SHORTEST_DAYS
from schemas import document
from tests.document.arrange import SINCE, UNTIL
from tests.document.diff import CHANGELOG

METHODS = ("get", "post", "put", "patch", "delete")


def faults(spec: dict[str, Any], changelog: str) -> Iterator[str]:
    told = [line for line in changelog.splitlines() if "**Deprecated**" in line]
    for item in spec["paths"].values():
        for operation in (one for method, one in item.items() if method in METHODS):
            name, dates = operation["operationId"], [operation.get(word) for word in (SINCE, UNTIL)]
            if bool(operation.get("deprecated")) != all(dates):
                yield f"{name} is not deprecated with both of its dates"
            elif all(dates):
                since, until = (date.fromisoformat(str(one)) for one in dates)
                if (until - since).days < SHORTEST_DAYS:
                    yield f"{name} goes too soon"
                if not any(re.search(rf"`{name}`.*{until}", line) for line in told):
                    yield f"{name} is not told of in docs/api-changelog.md with its last day"


@pytest.mark.parametrize("name", document.NAMES)
def test_what_is_deprecated_is_told_of_in_time(name: str) -> None:
    assert list(faults(document.read(name), CHANGELOG.read_text())) == []


@pytest.mark.parametrize(
    ("said", "told", "found"),
    [
        ({"deprecated": True}, "", 1),
        ({SINCE: "2027-01-01", UNTIL: "2028-01-01"}, "", 1),
        ({"deprecated": True, SINCE: "2027-01-01", UNTIL: "2027-02-01"}, "", 2),
        ({"deprecated": True, SINCE: "2027-01-01", UNTIL: "2028-01-01"}, "", 1),
        (
            {"deprecated": True, SINCE: "2027-01-01", UNTIL: "2028-01-01"},
            "- **Deprecated**: `get_key` since 2027-01-01, gone after 2028-01-01.",
            0,
        ),
        ({}, "", 0),
    ],
)
def test_what_is_deprecated_in_another_way_is_found(said: dict[str, Any], told: str, found: int) -> None:
    spec = {"paths": {"/key/": {"get": {"operationId": "get_key", **said}}}}
    assert len(list(faults(spec, told))) == found
