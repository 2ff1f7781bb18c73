"""Bodies at the bounds of their schema are taken, and beyond them refused by the name of the field: every operation."""

import dataclasses
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from tests import api
from tests.api import Api, address
from tests.documents import Documented
from tests.operations.bounds import Place, changed, edges, objects, pointer, without
from tests.operations.rows import JSON, Row, ask, at_home, fill
from tests.operations.table.every import each
from tests.probes import WITH_BODY, body_schema, faults, media_types

with_body = each(lambda one: one in WITH_BODY)


@dataclasses.dataclass
class Sender:
    """Sends one operation's request with another body."""

    api: Api
    operation: Documented
    row: Row

    def __post_init__(self) -> None:
        self.ids = {"email": address(), **self.row.state(self.api)}
        self.body: dict[str, Any] = fill(self.row.body, self.ids)
        self.schema = body_schema(self.operation)

    def send(self, body: Any, media: str | None = None) -> httpx.Response:
        media = media or media_types(self.operation)[0]
        return ask(self.api, self.operation, self.row, self.ids, body=body, media=media)


@pytest.fixture
def sender(endless: None, http: TestClient, operation: Documented, row: Row) -> Sender:
    return Sender(at_home(operation, api.tenant(http, "enterprise")).live, operation, row)


def names(found: dict[str, str], place: Place) -> list[str]:
    """The faults of a place or of something in it."""
    at = pointer(place)
    return [one for one in found if one == at or one.startswith(f"{at}/")]


def required(schema: dict[str, Any]) -> list[str]:
    """What a body has to have, but for its files, which are no part of a row's body."""
    names = schema.get("required", ())
    return [one for one in names if schema["properties"][one].get("format") != "binary"]


@with_body
def test_a_field_is_taken_at_its_bounds_and_refused_beyond_them(
    operation: Documented, row: Row, sender: Sender
) -> None:
    for place, value, keeps in edges(sender.schema, sender.body):
        spoilt = changed(sender.body, place, value)
        about = f"{pointer(place)}: {value!r:.80}"
        if keeps:
            # Beside a fault of another kind it is none: the schema takes it, whatever the state makes of it then.
            assert list(faults(sender.send({**spoilt, "no_such_field": 1}))) == ["/no_such_field"], about
            assert sender.send(spoilt).status_code != 429
        else:
            assert names(faults(sender.send(spoilt)), place), about


@with_body
def test_a_missing_field_and_an_unknown_one_are_named(
    operation: Documented, row: Row, sender: Sender
) -> None:
    for at, schema in objects(sender.schema, sender.body):
        for name in required(schema):
            assert pointer((*at, name)) in faults(sender.send(without(sender.body, (*at, name))))
        for word in ("oneOf", "anyOf"):
            bare = sender.body
            for one in schema.get(word, ()):
                for name in one.get("required", ()):
                    bare = without(bare, (*at, name))
            assert word not in schema or faults(sender.send(bare))
        if schema.get("additionalProperties") is False:
            found = faults(sender.send(changed(sender.body, (*at, "no_such_field"), 1)))
            assert list(found) == [pointer((*at, "no_such_field"))]


@with_body
def test_forms_are_held_to_the_same_bounds(operation: Documented, row: Row, sender: Sender) -> None:
    forms = [media for media in media_types(operation) if media != JSON]
    for media in forms:
        for name in required(sender.schema):
            assert pointer((name,)) in faults(sender.send(without(sender.body, (name,)), media))
        found = faults(sender.send({**sender.body, "no_such_field": "1"}, media))
        assert list(found) == ["/no_such_field"]
    told = [
        (place, value)
        for place, value, keeps in edges(sender.schema, sender.body)
        if not keeps and is_text(sender.schema["properties"][place[0]], place, value)
    ]
    for number, (place, value) in enumerate(told):
        media = forms[number % len(forms)]
        found = faults(sender.send(changed(sender.body, place, value), media))
        assert names(found, place), (place, value, media)


def is_text(schema: dict[str, Any], place: Place, value: Any) -> bool:
    """Whether a form can say a wrong value: it has texts alone, and an empty one is null where that may be."""
    return (
        len(place) == 1
        and isinstance(value, str)
        and value != ""
        and schema.get("type") in ("string", "integer", "boolean")
    )
