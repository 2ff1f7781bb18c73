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
    return _made(message, message, None, None, values)


def say_many(one: str, many: str, number: int, /, **values: Any) -> Said:
    """Say the same of a number of things, which is `%(num)s` in both texts."""
    return _made(one if number == 1 else many, one, many, number, {"num": number, **values})


def together(*parts: str) -> Said:
    """Say several things, one after the other."""
    values = {f"part{number}": part for number, part in enumerate(parts)}
    return say(" ".join(f"%({name})s" for name in values), **values)


def _made(text: str, message: str, plural: str | None, number: int | None, values: dict[str, Any]) -> Said:
    said = Said(text % values if values else text)
    said.message, said.plural, said.number, said.values = message, plural, number, values
    return said
