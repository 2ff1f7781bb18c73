"""What is shown the quick way is what marshmallow dumps, for every schema and any values."""

import ast
import importlib
import pkgutil
from datetime import UTC, timedelta, timezone
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marshmallow import Schema, fields, post_dump

import schemas
from schemas.applications import Profile
from schemas.fields import Day, DecimalText, Moment
from schemas.showing import show
from tests.test_house import short, sources

for found in pkgutil.iter_modules(schemas.__path__):
    importlib.import_module(f"schemas.{found.name}")


def below(schema: type[Schema]) -> set[type[Schema]]:
    return {schema}.union(*(below(one) for one in schema.__subclasses__()))


OURS = sorted(
    (one for one in below(Schema) if one.__module__.startswith("schemas.")),
    key=lambda one: (one.__module__, one.__name__),
)
VALUES: dict[type, st.SearchStrategy[Any]] = {
    fields.String: st.text(),
    fields.Integer: st.integers() | st.booleans(),
    fields.Float: st.floats(allow_nan=False) | st.decimals(allow_nan=False, allow_infinity=False),
    fields.Boolean: st.booleans(),
    fields.UUID: st.uuids(),
    fields.Raw: st.recursive(st.none() | st.text(), st.lists),
    Moment: st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))])).filter(
        lambda moment: 1 < moment.year < 9999
    ),
    Day: st.dates(),
    Profile: st.dictionaries(st.text(), st.text()),
    DecimalText: st.decimals(allow_nan=False, allow_infinity=False, places=4),
}
# What the schemas' functions look at.
EXTRA = {
    "token": st.text(),
    "interviewer_token": st.text(),
    "event_id": st.uuids(),
    "value_number": st.none() | st.decimals(allow_nan=False, allow_infinity=False),
    "slug": st.text(),
    "logo": st.none() | st.text(),
    "score": st.none() | st.decimals(0, 1_000_000, places=6),
    "max_score": st.decimals(0, 1_000_000, places=2),
    "value": st.lists(st.integers(), min_size=1),
    "content": st.fixed_dictionaries(
        {
            "title": st.text(),
            "case_type": st.text(),
            "language": st.none() | st.text(),
            "rubric": st.text(),
            "question": st.text(),
            "options": st.just([]),
            "test_cases": st.just([]),
        }
    ),
    "answer": st.lists(st.text(), max_size=1),
    "saved_at": st.datetimes(timezones=st.just(UTC)),
    "tests": st.just([]),
    "status": st.none() | st.text(),
    "sent_at": st.none() | st.datetimes(timezones=st.just(UTC)),
    "response_body": st.none() | st.text(),
    "last_error": st.none() | st.text(),
    "assessment": st.none() | st.builds(lambda slug: SimpleNamespace(slug=slug), st.text()),
    "team": st.none()
    | st.builds(
        lambda id, text: SimpleNamespace(id=id, name=text, slug=text), st.none() | st.uuids(), st.text()
    ),
    "pipeline": st.none() | st.builds(lambda slug: SimpleNamespace(slug=slug), st.text()),
    "archived_at": st.none() | st.datetimes(timezones=st.just(UTC)),
    "actor_type": st.text(),
    "actor_id": st.none() | st.uuids(),
    "key": st.builds(lambda name: SimpleNamespace(name=name), st.none() | st.text()),
    "candidates_days": st.none() | st.integers(),
    "recordings_days": st.none() | st.integers(min_value=1),
    "events_days": st.integers(),
    "invitation": st.builds(lambda role: SimpleNamespace(role=role), st.text()),
}


def values(field: Any) -> st.SearchStrategy[Any]:
    if isinstance(field, fields.List):
        return st.none() | st.lists(values(field.inner))
    if isinstance(field, fields.Nested):
        return objects(field.schema)
    return st.none() | VALUES[type(field)]


def objects(schema: Schema) -> st.SearchStrategy[Any]:
    """Objects with whatever a schema shows, dotted names included."""
    wanted = dict(EXTRA)
    for name, field in schema.dump_fields.items():
        if not isinstance(field, (fields.Function, fields.Constant)):
            wanted[field.attribute or name] = values(field)
    return st.fixed_dictionaries(wanted).map(nested)


def nested(flat: dict[str, Any]) -> SimpleNamespace:
    made = SimpleNamespace(**{name: value for name, value in flat.items() if "." not in name})
    for path, value in flat.items():
        if "." in path:
            *above, last = path.split(".")
            node = made
            for step in above:
                if not isinstance(getattr(node, step, None), SimpleNamespace):
                    setattr(node, step, SimpleNamespace())
                node = getattr(node, step)
            setattr(node, last, value)
    return made


@pytest.mark.parametrize("schema", OURS, ids=lambda schema: f"{schema.__module__}.{schema.__name__}")
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_every_schema_is_shown_as_marshmallow_dumps_it(schema: type[Schema], data: st.DataObject) -> None:
    one = data.draw(objects(schema()))
    shown, dumped = show(schema())(one), schema().dump(one)
    assert shown == dumped
    assert list(shown) == list(dumped)
    assert [type(value) for value in shown.values()] == [type(value) for value in dumped.values()]


def test_a_schema_with_hooks_is_found_out() -> None:
    class Hooked(Schema):
        name = fields.String()

        @post_dump
        def change(self, data: Any, **_options: Any) -> Any:
            return data | {"more": True}

    one = SimpleNamespace(name="Ada")
    assert show(Hooked())(one) != Hooked().dump(one)


def test_nothing_is_shown_by_marshmallow_itself() -> None:
    dumping = [
        short(path)
        for path in sources("handlers", "schemas", "workers")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr == "dump"
    ]
    assert dumping == []


def test_a_kind_of_field_that_nobody_thought_of_is_refused() -> None:
    class Strange(Schema):
        when = fields.Time()

    with pytest.raises(TypeError):
        show(Strange())
