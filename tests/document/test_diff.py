"""What the comparison with the published document refuses, and what it lets through."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.document.compare import Schema, narrowed, widened
from tests.document.diff import announced, breaks, load, main, newest

PUBLISHED, CANDIDATE = (load(newest(name)) for name in ("openapi", "candidate"))


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


def changed(
    change: Callable[[dict[str, Any]], object], old: dict[str, Any] = PUBLISHED
) -> list[tuple[str, str]]:
    document = copy.deepcopy(old)
    change(document)
    return list(breaks(old, document))


def refusal(document: dict[str, Any], name: str, status: str) -> dict[str, Any]:
    return operation(document, name)["responses"][status]


def parameter(document: dict[str, Any], name: str, wanted: str) -> dict[str, Any]:
    return next(one for one in operation(document, name)["parameters"] if one["name"] == wanted)


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
    "another default": lambda d: body(d, "create_case")["properties"]["points"].update(default=20),
    "another default of a parameter": lambda d: parameter(d, "list_jobs", "page_size")["schema"].update(default=50),
    "a default that is gone": lambda d: body(d, "create_case")["properties"]["points"].pop("default"),
    "a body that is closed now": lambda d: body(d, "create_application")["properties"]["answers"].update(
        additionalProperties=False
    ),
    "an answer's value that is new": lambda d: answer(d, "get_case", "200")["properties"]["case_type"]["enum"].append(
        "essay"
    ),
    "a list that is said to be open together with its new value": lambda d: answer(d, "get_case", "200")["properties"][
        "case_type"
    ].update({"enum": ["mcq", "numeric", "text", "coding", "essay"], "x-open-enum": True}),
    "an answer's longer text": lambda d: answer(d, "get_case", "200")["properties"]["title"].update(maxLength=1000),
    "an answer's other format": lambda d: answer(d, "get_case", "200")["properties"]["id"].update(format="ulid"),
    "an answer's other pattern": lambda d: answer(d, "get_case", "200")["properties"]["tolerance"].update(pattern="^a"),
    "a refusal that is gone": lambda d: operation(d, "get_case")["responses"].pop("404"),
    "a refusal's header that is gone": lambda d: refusal(d, "get_case", "429")["headers"].pop("Retry-After"),
    "a refusal's header that may be missing": lambda d: refusal(d, "get_case", "429")["headers"]["Retry-After"].update(
        required=False
    ),
    "a refusal of another shape": lambda d: refusal(d, "get_case", "404")["content"]["application/json"]["schema"][
        "properties"
    ].pop("error"),
    "a limit of its own": lambda d: operation(d, "list_jobs").update({"x-limit": "list_jobs"}),
    "another limit of its own": lambda d: operation(d, "bulk_invite").update({"x-limit": "bulk"}),
    "a feature that is needed now": lambda d: operation(d, "list_jobs").update({"x-feature": "squads"}),
    "a feature that a field needs now": lambda d: body(d, "create_case")["properties"]["rubric"].update(
        {"x-feature": "squads"}
    ),
    "a feature that a parameter needs now": lambda d: parameter(d, "list_jobs", "search")["schema"].update(
        {"x-feature": "squads"}
    ),
    "an event that is gone": lambda d: d["x-events"].pop("job.closed"),
    "an event's field that is gone": lambda d: d["x-events"]["job.closed"]["schema"]["properties"].pop("data"),
}  # fmt: skip

ACCEPTED: dict[str, Callable[[dict[str, Any]], object]] = {
    "nothing": lambda d: None,
    "a new operation": lambda d: d["paths"]["/org/"].update(put={"operationId": "new", "responses": {}}),
    "a new optional field": lambda d: body(d, "create_case")["properties"].update(hint={"type": "string"}),
    "a longer field": lambda d: body(d, "create_case")["properties"]["rubric"].update(maxLength=20_000),
    "a new choice": lambda d: body(d, "create_case")["properties"].update(
        case_type={"type": "string", "enum": ["mcq", "numeric", "text", "coding", "essay"]}
    ),
    "a field that is no longer required": lambda d: body(d, "create_case")["required"].remove("case_type"),
    "a new field of an answer": lambda d: answer(d, "get_case", "200")["properties"].update(hint={"type": "string"}),
    "another description": lambda d: operation(d, "get_case").update(description="Better words."),
    "a new code of a refusal": lambda d: refusal(d, "get_case", "404")["content"]["application/json"]["schema"][
        "properties"
    ]["error"]["properties"]["code"]["enum"].append("SQUAD_IN_USE"),
    "a new type of event": lambda d: answer(d, "list_deliveries", "200")["properties"]["results"]["items"][
        "properties"
    ]["event_type"]["enum"].append("squad.created"),
    "an answer's shorter text": lambda d: answer(d, "get_case", "200")["properties"]["title"].update(maxLength=100),
    "a default where there was none": lambda d: body(d, "create_case")["properties"]["title"].update(default="A case"),
    "a new refusal": lambda d: operation(d, "get_case")["responses"].update({"410": {"description": "Gone."}}),
    "a new header": lambda d: refusal(d, "get_case", "404")["headers"].update(
        {"X-New": {"schema": {"type": "string"}}}
    ),
    "a limit that is lifted": lambda d: operation(d, "bulk_invite").pop("x-limit"),
    "no limit at all": lambda d: operation(d, "list_jobs").update({"x-limit": "none"}),
    "a new event": lambda d: d["x-events"].update({"squad.created": {"schema": {"type": "object"}}}),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_change_that_breaks_clients_is_found(case: str) -> None:
    assert changed(REFUSED[case])


@pytest.mark.parametrize("case", ACCEPTED)
def test_a_change_that_breaks_nobody_is_not(case: str) -> None:
    assert changed(ACCEPTED[case]) == []


def test_the_candidates_document_is_compared_too() -> None:
    assert changed(lambda d: operation(d, "get_health").update({"x-limit": "health"}), CANDIDATE)
    assert changed(lambda d: operation(d, "submit_session")["responses"].pop("404"), CANDIDATE)
    assert changed(lambda d: None, CANDIDATE) == []


# The second of two schemas allows less: no request may come to it, and no answer may come from it.
LESS: list[tuple[Schema, Schema]] = [
    ({}, {"type": "string"}),
    ({"type": "number"}, {"type": "integer"}),
    ({"nullable": True}, {}),
    ({}, {"enum": ["a"]}),
    ({"enum": ["a", "b"]}, {"enum": ["a"]}),
    ({}, {"pattern": "^a"}),
    ({}, {"format": "uuid"}),
    *(({}, {word: 1}) for word in ("maxLength", "maximum", "maxItems", "maxProperties")),
    *(({word: 2}, {word: 1}) for word in ("maxLength", "maximum", "maxItems", "maxProperties")),
    *(({}, {word: 1}) for word in ("minLength", "minimum", "minItems", "minProperties")),
    *(({word: 1}, {word: 2}) for word in ("minLength", "minimum", "minItems", "minProperties")),
    ({"minimum": -2}, {"minimum": -1}),
    *(({"maximum": 2}, {"maximum": 2, word: True}) for word in ("exclusiveMaximum", "exclusiveMinimum", "uniqueItems")),
    ({}, {"multipleOf": 0.1}),
    ({"multipleOf": 0.1}, {"multipleOf": 0.2}),
    ({}, {"required": ["a"]}),
    ({}, {"items": {"type": "string"}}),
    ({"items": {}}, {"items": {"maxLength": 1}}),
    ({}, {"additionalProperties": False}),
    ({}, {"additionalProperties": {"type": "string"}}),
    ({"additionalProperties": {}}, {"additionalProperties": {"maxLength": 1}}),
    ({"additionalProperties": {}}, {"additionalProperties": False}),
    *(({word: [{}]}, {word: [{"maxLength": 1}]}) for word in ("allOf", "anyOf", "oneOf")),
    ({"properties": {"a": {}}}, {"properties": {"a": {"maxLength": 1}}}),
]  # fmt: skip
# Neither of two schemas allows all that the other does, or may stand for it.
OTHER: list[tuple[Schema, Schema]] = [
    ({"type": "string"}, {"type": "integer"}),
    ({"enum": ["a"]}, {"enum": ["b"]}),
    ({"pattern": "^a"}, {"pattern": "^b"}),
    ({"format": "uuid"}, {"format": "date"}),
    ({"multipleOf": 2}, {"multipleOf": 3}),
    ({"default": 1}, {"default": 2}),
    ({"not": {"type": "string"}}, {"not": {"type": "integer"}}),
    ({"anyOf": [{}]}, {"anyOf": [{}, {}]}),
]
SAME: list[tuple[Schema, Schema]] = [
    ({"type": "string"}, {"type": "string", "description": "Better words."}),
    ({}, {"minLength": 0}),
    ({"multipleOf": 0.2, "maximum": 1}, {"multipleOf": 0.2, "maximum": 1.0}),
    ({}, {"default": 1}),
    ({}, {"additionalProperties": True}),
    ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}),
]


@pytest.mark.parametrize(("more", "less"), LESS, ids=str)
def test_a_request_may_not_allow_less_and_an_answer_not_more(more: Schema, less: Schema) -> None:
    assert list(narrowed(more, less, "body"))
    assert list(widened(less, more, "200"))
    assert list(narrowed(less, more, "body")) == []
    assert list(widened(more, less, "200")) == []


@pytest.mark.parametrize(("one", "other"), OTHER, ids=str)
def test_nothing_may_be_something_else(one: Schema, other: Schema) -> None:
    for compare in (narrowed, widened):
        assert list(compare(one, other, ""))
        assert list(compare(other, one, ""))


@pytest.mark.parametrize(("one", "other"), SAME, ids=str)
def test_what_allows_the_same_is_the_same(one: Schema, other: Schema) -> None:
    for compare in (narrowed, widened):
        assert list(compare(one, other, "")) == []


def test_a_list_that_was_open_may_grow_in_answers_and_not_shrink_in_requests() -> None:
    old, new = {"enum": ["a"], "x-open-enum": True}, {"enum": ["a", "b"], "x-open-enum": True}
    assert list(widened(old, new, "200")) == []
    assert list(narrowed(new, old, "body"))


def test_a_break_is_let_through_once_the_changelog_names_it_above_the_published_version() -> None:
    entry = "## 2026-12-01\n\n- **Breaking** `get_case`: answers without `tags`.\n- `list_cases`: faster.\n"
    published = "## 2026-11-21\n\nVersion 1.1.0\n\n- **Breaking** `get_organisation`: long ago.\n"
    assert announced(entry + published, "1.1.0") == {"get_case", "tags"}


def test_the_documents_break_nothing_that_is_published() -> None:
    assert main([]) == 0
