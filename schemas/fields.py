"""The ways in which answers write what JSON has no word for."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import orjson
from marshmallow import Schema, fields

from rules import decimals
from rules.clock import iso

# How a schema shows one object.
Show = Callable[[Any], dict[str, Any]]


class Moment(fields.Field[datetime]):
    """A moment as ISO 8601 UTC, ending in Z."""

    @staticmethod
    def written(value: datetime | None) -> str | None:
        """Write one moment."""
        if value is None:
            return None
        if value.tzinfo is UTC and value.microsecond:  # nearly always, and orjson takes a third of the time
            return orjson.dumps(value)[1:24].decode() + "Z"
        return iso(value)

    def _serialize(self, value: datetime | None, attr: str | None, obj: Any, **options: Any) -> str | None:
        return self.written(value)


class Day(fields.Field[date]):
    """A calendar date as ISO 8601 has it."""

    @staticmethod
    def written(value: date | None) -> str | None:
        """Write one date."""
        return None if value is None else value.isoformat()

    def _serialize(self, value: date | None, attr: str | None, obj: Any, **options: Any) -> str | None:
        return self.written(value)


class DecimalText(fields.Field[Decimal]):
    """A decimal number as a string; scores have two fraction digits."""

    def __init__(self, *, places: int | None = 2, **options: Any) -> None:
        super().__init__(**options)
        self.places = places

    def written(self, value: Decimal | None) -> str | None:
        """Write one number."""
        return None if value is None else decimals.written(value, self.places)

    def _serialize(self, value: Decimal | None, attr: str | None, obj: Any, **options: Any) -> str | None:
        return self.written(value)


class Resource(Schema):
    """A resource's outside; fields come in the order in which they are written."""

    id = fields.UUID()


class Stamped(Resource):
    """A resource that says when it was made and changed."""

    created_at = Moment()
    updated_at = Moment()
