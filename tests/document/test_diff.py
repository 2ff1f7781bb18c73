"""What the comparison with the published document refuses, and what it lets through."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.document.diff import announced, breaks, load, main, newest

PUBLISHED = load(newest())


def operation(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(
        one
        for item in document["paths"].values()
        for one in item.values()
        if isinstance(one, dict) and one.get("operationId") == name
    )


def body(document: dict[str, Any], name: str) -> dict[str, Any]:
    return operation(document, name)["requestBody"]["content"]["application/json"]["schema"]


def answer(document: dict[str, Any], name: str, status: str) -> dict[str, Any]:
    return operation(document, name)["responses"][status]["content"]["application/json"]["schema"]


def changed(change: Callable[[dict[str, Any]], object]) -> list[tuple[str, str]]:
    document = copy.deepcopy(PUBLISHED)
    change(document)
    return list(breaks(PUBLISHED, document))


REFUSED: dict[str, Callable[[dict[str, Any]], object]] = {
    "an operation that is gone": lambda d: d["paths"]["/org/"].pop("patch"),
    "another path": lambda d: d["paths"].update({"/organisation/": d["paths"].pop("/org/")}),
    "another scope": lambda d: operation(d, "get_organisation").update(security=[{"bearer": ["x:read"]}]),
    "a parameter that is gone": lambda d: operation(d, "list_assessments")["parameters"].pop(),
    "a parameter that is required now": lambda d: operation(d, "list_assessments")["parameters"][3].update(
        required=True
    ),
    "a shorter parameter": lambda d: operation(d, "list_assessments")["parameters"][3]["schema"].update(maxLength=10),
    "a media type that is gone": lambda d: operation(d, "create_case")["requestBody"]["content"].popitem(),
    "a field that is required now": lambda d: body(d, "create_case")["required"].append("rubric"),
    "a field that is no longer taken": lambda d: body(d, "create_case")["properties"].pop("rubric"),
    "a choice that is gone": lambda d: body(d, "create_case")["properties"]["case_type"]["enum"].remove("text"),
    "another type": lambda d: body(d, "create_case")["properties"]["points"].update(type="string"),
    "a narrower number": lambda d: body(d, "create_case")["properties"]["points"].update(maximum=10),
    "a new pattern": lambda d: body(d, "create_case")["properties"]["rubric"].update(pattern="^a"),
    "an alternative that is gone": lambda d: body(d, "attach_cases")["oneOf"].pop(),
    "an alternative that asks for more": lambda d: body(d, "attach_cases")["oneOf"][0]["required"].append("order"),
    "a value in a map that is no longer taken": lambda d: body(d, "create_application")["properties"]["answers"][
        "additionalProperties"
    ]["anyOf"].pop(),
    "a shorter value in a map": lambda d: body(d, "create_application")["properties"]["answers"][
        "additionalProperties"
    ]["anyOf"][0].update(maxLength=10),
    "no more null": lambda d: body(d, "create_case")["properties"]["time_limit_minutes"].update(nullable=False),
    "a status that is gone": lambda d: operation(d, "create_invitation")["responses"].pop("200"),
    "an answer's field that is gone": lambda d: answer(d, "get_case", "200")["properties"].pop("tags"),
    "an answer's field that may be missing": lambda d: answer(d, "get_case", "200")["required"].remove("tags"),
    "an answer's field that may be null": lambda d: answer(d, "get_case", "200")["properties"]["title"].update(
        nullable=True
    ),
}  # fmt: skip

ACCEPTED: dict[str, Callable[[dict[str, Any]], object]] = {
    "nothing": lambda d: None,
    "a new operation": lambda d: d["paths"]["/org/"].update(put={"operationId": "new", "responses": {}}),
    "a new optional field": lambda d: body(d, "create_case")["properties"].update(hint={"type": "string"}),
    "a longer field": lambda d: body(d, "create_case")["properties"]["rubric"].update(maxLength=20_000),
    "a new choice": lambda d: body(d, "create_case")["properties"]["case_type"]["enum"].append("essay"),
    "a field that is no longer required": lambda d: body(d, "create_case")["required"].remove("case_type"),
    "a new field of an answer": lambda d: answer(d, "get_case", "200")["properties"].update(hint={"type": "string"}),
    "another description": lambda d: operation(d, "get_case").update(description="Better words."),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_change_that_breaks_clients_is_found(case: str) -> None:
    assert changed(REFUSED[case])


@pytest.mark.parametrize("case", ACCEPTED)
def test_a_change_that_breaks_nobody_is_not(case: str) -> None:
    assert changed(ACCEPTED[case]) == []


def test_a_break_is_let_through_once_the_changelog_names_it_above_the_published_version() -> None:
    entry = "## 2026-12-01\n\n- **Breaking** `get_case`: answers without `tags`.\n- `list_cases`: faster.\n"
    published = "## 2026-11-21\n\nVersion 1.1.0\n\n- **Breaking** `get_organisation`: long ago.\n"
    assert announced(entry + published, "1.1.0") == {"get_case", "tags"}


def test_the_document_breaks_nothing_that_is_published() -> None:
    assert main([]) == 0
