from typing import Any

import pytest

from schemas import document


def test_what_a_document_says_to_people_goes_and_fields_that_are_called_so_stay() -> None:
    said = {"title": "A job", "description": "An opening.", "example": {"title": "Engineer"}}
    named = {"description": {"type": "string", "description": "In Markdown."}, "properties": said}
    assert document.bare({"type": "object", "properties": named, "required": ["description"]} | said) == {
        "type": "object",
        "properties": {"description": {"type": "string"}, "properties": {}},
        "required": ["description"],
    }


def defaults(part: Any) -> list[Any]:
    if isinstance(part, list):
        return [found for one in part for found in defaults(one)]
    if not isinstance(part, dict):
        return []
    mine = [part["default"]] if isinstance(part.get("default"), list | dict) else []
    return mine + [found for one in part.values() for found in defaults(one)]


@pytest.mark.parametrize("name", document.NAMES)
def test_no_default_of_a_document_loses_a_part(name: str) -> None:
    found = defaults(document.read(name))
    assert found
    assert [one for one in found if document.bare(one) != one] == []


def test_what_is_left_is_the_same_operations_with_the_same_schemas() -> None:
    for name in document.NAMES:
        whole = document.read(name)
        bare = document.bare(whole)
        assert bare["paths"].keys() == whole["paths"].keys()
        assert bare["components"]["schemas"].keys() == whole["components"]["schemas"].keys()
        for schema, given in whole["components"]["schemas"].items():
            assert (
                bare["components"]["schemas"][schema].get("properties", {}).keys()
                == given.get("properties", {}).keys()
            )
