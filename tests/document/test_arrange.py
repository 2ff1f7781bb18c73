"""What is published says in other words what the parts say, and stock tools find nothing in it that they misread."""

from typing import Any

import pytest

from schemas import document
from schemas.arrangement import ALSO, APART, FORM, JSON, KNOWN, MULTIPART, restore
from tests.document.apart import set_apart
from tests.document.arrange import arrange, bodies
from tests.document.bundle import bundle
from tests.document.diff import breaks, resolved
from tests.document.generate import ROOT

WHOLE = {name: bundle(ROOT / "spec" / f"{name}.yaml") for name in document.NAMES}
PUBLISHED = {name: set_apart(arrange(WHOLE[name])) for name in document.NAMES}


def plain(value: Any) -> Any:
    """A document without what is said for people, and what is said of replays and parts of forms."""
    left_out = ("description", "examples", "encoding", "x-open-enum", "Idempotent-Replayed", "components")
    if isinstance(value, list):
        return [plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: plain(one) for name, one in value.items() if name not in left_out}


def schema(**said: Any) -> dict[str, Any]:
    """A document whose one operation takes and answers a schema."""
    reference = {"schema": {"$ref": "#/components/schemas/Thing"}}
    body = {"content": dict.fromkeys((JSON, FORM, MULTIPART), reference)}
    operation = {
        "operationId": "create_thing",
        "requestBody": {"$ref": "#/components/requestBodies/Thing"},
        "responses": {"201": {"description": "Made.", "content": {JSON: reference}}},
    }
    return {
        "paths": {"/": {"post": operation}},
        "components": {
            "requestBodies": {"Thing": body},
            "schemas": {"Thing": {"type": "object", "properties": said}},
        },
    }


@pytest.mark.parametrize("name", document.NAMES)
def test_what_is_published_means_what_the_parts_say(name: str) -> None:
    assert plain(resolved(restore(PUBLISHED[name]))) == plain(resolved(WHOLE[name]))
    assert list(breaks(resolved(WHOLE[name]), resolved(restore(PUBLISHED[name])))) == []


@pytest.mark.parametrize("name", document.NAMES)
def test_a_document_that_says_nothing_in_words_of_ours_stays_as_it_is(name: str) -> None:
    assert restore(WHOLE[name]) == WHOLE[name]


@pytest.mark.parametrize("name", document.NAMES)
def test_json_comes_first_and_no_two_media_types_of_a_body_share_a_schema(name: str) -> None:
    for _, body in bodies(PUBLISHED[name]):
        content = body["content"]
        if JSON in content:
            assert next(iter(content)) == JSON
            assert {*content, *body.get(ALSO, {})} == {JSON, FORM, MULTIPART}
            references = [one["schema"]["$ref"] for one in content.values()]
            assert len(set(references)) == len(references)


def test_a_default_is_said_in_words_and_comes_back() -> None:
    whole = schema(limit={"type": "integer", "default": 70, "description": "How many."})
    said = arrange(whole)["components"]["schemas"]["Thing"]["properties"]["limit"]
    assert said == {"type": "integer", "x-default": 70, "description": "How many. Default: `70`."}
    assert restore(arrange(whole))["components"]["schemas"]["Thing"]["properties"]["limit"]["default"] == 70


def test_a_list_of_values_in_an_answer_is_open_and_comes_back() -> None:
    whole = schema(status={"type": "string", "enum": ["draft", "open"], "description": "Where it stands."})
    said = arrange(whole)["components"]["schemas"]["Thing"]["properties"]["status"]
    assert "enum" not in said
    assert said[KNOWN] == ["draft", "open"]
    assert said["description"] == "Where it stands. Known values: `draft`, `open`."
    back = restore(arrange(whole))["components"]["schemas"]["Thing"]["properties"]["status"]
    assert {**back, "description": ""} == {
        "type": "string", "enum": ["draft", "open"], "x-open-enum": True, "description": ""
    }  # fmt: skip


def test_a_file_is_sent_in_multipart_alone() -> None:
    whole = schema(name={"type": "string"}, cv={"type": "string", "format": "binary"})
    said = arrange(whole)
    assert said["components"]["schemas"]["Thing"]["allOf"][0] == {
        "$ref": "#/components/schemas/ThingMultipart"
    }
    assert list(said["components"]["schemas"]["ThingMultipart"]["properties"]) == ["name", "cv"]
    body = said["components"]["requestBodies"]["Thing"]
    assert list(body["content"]) == [JSON, MULTIPART]
    assert list(body[ALSO]) == [FORM]


def test_what_a_form_holds_as_json_is_named() -> None:
    items = {"type": "array", "items": {"type": "object"}}
    whole = schema(rules=items, tags={"type": "array", "items": {"type": "string"}})
    body = arrange(whole)["components"]["requestBodies"]["Thing"]
    assert body[ALSO] == {
        media: {"encoding": {"rules": {"contentType": JSON}}} for media in (FORM, MULTIPART)
    }


def test_what_events_alone_refer_to_stands_apart_and_comes_back() -> None:
    apart = PUBLISHED["openapi"][APART]["schemas"]
    kept = PUBLISHED["openapi"]["components"]["schemas"]
    assert "EventApplication" in apart
    assert not apart.keys() & kept.keys()
    assert restore(PUBLISHED["openapi"])["components"]["schemas"].keys() >= apart.keys()
    assert APART not in restore(PUBLISHED["openapi"])


def test_an_operation_that_is_going_to_go_says_when() -> None:
    whole = schema(name={"type": "string"})
    dates = {"deprecated": True, "x-deprecated-at": "2027-01-01", "x-sunset-at": "2028-01-01"}
    whole["paths"]["/"]["post"] |= dates
    said = arrange(whole)["paths"]["/"]["post"]["description"]
    assert said == "Deprecated since 2027-01-01; it may be gone after 2028-01-01."
