"""Links lead to operations of their document, carry what those need, and say what a reader would follow them for."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.documents import Documented, documents, operations

Link = dict[str, Any]


def links(name: str) -> Iterator[tuple[str, Link, Documented]]:
    for operation in operations(name).values():
        for status, response in operation.definition["responses"].items():
            for key, link in response.get("links", {}).items():
                yield f"{operation.id} {status} {key}", link, operation


LINKS = {at: (name, link, source) for name in documents() for at, link, source in links(name)}


@pytest.mark.parametrize("at", sorted(LINKS))
def test_a_link_carries_the_path_of_its_operation(at: str) -> None:
    name, link, source = LINKS[at]
    target = next(one for one in operations(name).values() if one.id == link["operationId"])
    assert at.endswith(f" {target.id}"), "a link is called as its operation is"
    given = link.get("parameters", {})
    known = {one["name"]: one["in"] for one in target.parameters}
    assert given.keys() <= known.keys()
    assert {parameter for parameter, where in known.items() if where == "path"} <= given.keys()
    taken = {
        value.removeprefix("$request.path.") for value in given.values() if value.startswith("$request.path.")
    }
    assert taken <= {one["name"] for one in source.parameters if one["in"] == "path"}


@pytest.mark.parametrize("name", sorted(documents()))
def test_no_two_links_are_described_alike(name: str) -> None:
    said = [link["description"] for link in documents()[name]["components"].get("links", {}).values()]
    assert len(set(said)) == len(said)


@pytest.mark.parametrize("name", sorted(documents()))
def test_null_is_among_the_values_where_it_may_be_one(name: str) -> None:
    def lists(node: Any) -> Iterator[dict[str, Any]]:
        if isinstance(node, dict) and node.get("nullable") is True and isinstance(node.get("enum"), list):
            yield node
        for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            yield from lists(child)

    assert [one for one in lists(documents()[name]) if None not in one["enum"]] == []
