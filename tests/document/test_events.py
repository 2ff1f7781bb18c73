"""Events for consumers: webhooks that are signed, schemas that tell a delivery from what is none, and a page."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rules import signatures
from rules.events import EVENTS
from schemas import document
from tests.document import events

SCHEMA = json.loads((document.PUBLISHED / "events.schema.json").read_bytes())
TWIN = json.loads((document.PUBLISHED / "openapi-3.1.json").read_bytes())
DELIVERY = Draft202012Validator(SCHEMA)


def test_the_bundle_is_a_json_schema_of_every_event() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert set(EVENTS) <= set(SCHEMA["$defs"])


@pytest.mark.parametrize("event", EVENTS)
def test_an_events_example_is_a_delivery_and_of_no_other_event(event: str) -> None:
    [example] = SCHEMA["$defs"][event]["examples"]
    assert DELIVERY.is_valid(example)
    taken = [
        other
        for other in EVENTS
        if Draft202012Validator({**SCHEMA, "allOf": [{"$ref": f"#/$defs/{other}"}]}).is_valid(example)
    ]
    assert taken == [event]


@pytest.mark.parametrize("spoilt", [{"data": {}}, {"sequence": "one"}, {"livemode": None}], ids=str)
def test_what_is_no_delivery_is_refused(spoilt: dict[str, Any]) -> None:
    [example] = SCHEMA["$defs"]["job.published"]["examples"]
    assert not DELIVERY.is_valid(example | spoilt)


def test_a_type_of_event_to_come_passes() -> None:
    assert DELIVERY.is_valid({"type": "job.archived", "data": {"anything": 1}})


@pytest.mark.parametrize("event", EVENTS)
def test_a_webhook_carries_signatures_and_no_key_of_ours(event: str) -> None:
    hook = TWIN["webhooks"][event]["post"]
    signed = signatures.headers(["whsec_c2VjcmV0"], "evt_1", 1, b"{}")
    assert hook["security"] == []
    assert [one["name"] for one in hook["parameters"] if one["required"]] == list(signed)
    assert list(signed) == list(events.HEADERS)
