"""Texts that people read: English wherever they go, and remembering what they were made of for who translates."""

from typing import Any


class Said(str):
    """An English text with the message that it was made of, its plural and number, and what was put in."""

    __slots__ = ("message", "number", "plural", "values")

    message: str
    plural: str | None
    number: int | None
    values: dict[str, Any]


def say(message: str, /, **values: Any) -> Said:
    """Say something: `say("At most %(count)s files.", count=20)`; a value may be something said."""
    return _said(message, values)


def say_many(one: str, many: str, number: int, /, **values: Any) -> Said:
    """Say the same of a number of things, which is `%(num)s` in both texts."""
    said = _said(one if number == 1 else many, {"num": number, **values})
    said.message, said.plural, said.number = one, many, number
    return said


def together(*parts: str) -> Said:
    """Say several things, one after the other."""
    values = {f"part{place}": part for place, part in enumerate(parts)}
    return _said(" ".join(f"%({name})s" for name in values), values)


def _said(message: str, values: dict[str, Any]) -> Said:
    said = Said(message % values if values else message)
    said.message, said.plural, said.number, said.values = message, None, None, values
    return said
