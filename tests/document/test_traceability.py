"""Every row of the requirement leads to what is there and to its tests, or is said not to be built."""

import re

import pytest
import yaml

from rules.events import EVENTS
from rules.scopes import SCOPES
from tests.document import traceability
from tests.document.traceability import Row, contract, operations, requirement, rows

SECTIONS = [section for section in requirement() if section != "not_built"]
ROWS = [pytest.param(section, row, id=row.id) for section in SECTIONS for row in rows(section)]
NOT_BUILT = {kind: set(names) for kind, names in requirement()["not_built"].items()}


def test_no_id_stands_twice() -> None:
    def keys(node: yaml.Node) -> list[str]:
        if not isinstance(node, yaml.MappingNode):
            return []
        own = [key.value for key, _ in node.value]
        assert len(own) == len(set(own)), own
        return own + [one for _, value in node.value for one in keys(value)]

    assert keys(yaml.compose(traceability.REQUIREMENT.read_text(), Loader=yaml.SafeLoader))
    ids = [(section, row.id) for section in SECTIONS for row in rows(section)]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(("section", "row"), ROWS)
def test_a_row_is_built_and_held_by_tests_or_said_not_to_be_built(section: str, row: Row) -> None:
    lacking = {
        "fields": lambda: row.here.strip("`").partition(".")[0] in NOT_BUILT["schemas"],
        "events": lambda: row.id in NOT_BUILT["events"],
        "scopes": lambda: row.id in NOT_BUILT["scopes"],
        "refusals": lambda: False,
    }.get(section, lambda: row.here.strip("`") in NOT_BUILT["operations"])()
    assert row.built != lacking, (
        f"{row.id}: {row.here} is {'in' if lacking else 'not in'} the list of what is not built"
    )
    assert row.tests or not row.built, f"no test asks for {row.here}: name one in docs/requirement.yaml"


def test_what_is_said_not_to_be_built_is_not_there() -> None:
    assert not NOT_BUILT["operations"] & operations().keys()
    assert not NOT_BUILT["schemas"] & contract()["components"]["schemas"].keys()
    assert NOT_BUILT["events"] <= set(EVENTS)
    assert NOT_BUILT["scopes"] <= set(SCOPES)


def test_what_is_said_not_to_be_built_is_a_row_of_the_requirement() -> None:
    written = requirement()
    assert (
        NOT_BUILT["operations"]
        == {row["operation"] for row in written["operations"].values()} - operations().keys()
    )
    assert NOT_BUILT["schemas"] <= {one["schema"] for one in written["fields"].values()}
    assert NOT_BUILT["events"] <= set(written["events"])
    assert NOT_BUILT["scopes"] <= set(written["scopes"])


def test_a_route_of_the_requirement_is_its_operations_and_nobody_elses() -> None:
    def route(words: str) -> str:
        return re.sub(r"\{[^}]+\}", "{}", words)

    served = {route(where): name for name, (where, _) in operations().items()}
    for row in requirement()["operations"].values():
        if re.match(r"[A-Z]+ /", row["row"]):
            wanted = row["operation"] if row["operation"] in operations() else None
            assert served.get(route(row["row"])) == wanted, row


def test_a_test_that_is_named_and_is_not_there_is_found() -> None:
    with pytest.raises(LookupError, match="nobody_wrote_this"):
        traceability._named("nobody_wrote_this")
