"""What a job may ask, and how its questions are named."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rules import knockouts, slugs
from rules.errors import DuplicateKey, Invalid

MOST = 100  # questions of one job
LONGEST_KEY = 80
LAST_PLACE = 32767
CHOICES = ("single_select", "multi_select")
MEASURED = ("field_type", "options")  # what knockout rules hang on


def check_room(asked: int) -> None:
    """Refuse one question more than a job may ask."""
    if asked >= MOST:
        raise Invalid.at("/label", f"A job asks at most {MOST} questions.")


def check_options(field_type: str, options: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a choice of nothing, options where nothing is chosen, and the same option twice."""
    values = [option["value"] for option in options]
    if field_type in CHOICES and not values:
        raise Invalid.at("/options", f"A {field_type} question needs options.")
    if field_type not in CHOICES and values:
        raise Invalid.at("/options", f"A {field_type} question has no options.")
    if len(set(values)) < len(values):
        raise Invalid.at("/options", "Two options have the same value.")


def check_rules(
    rules: Sequence[Mapping[str, Any]], fields: Sequence[Mapping[str, Any]], changed: Collection[str]
) -> None:
    """Refuse a change of a question that its knockout rules would not fit, at what was changed of it."""
    try:
        knockouts.check(rules, fields)
    except Invalid as fault:
        first = fault.details["fields"][0]["message"]
        place = next((f"/{name}" for name in MEASURED if name in changed), "")
        raise Invalid.at(place, f"A knockout rule stands against this: {first}") from None


def ordered(options: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return options in their order."""
    return sorted((dict(option) for option in options), key=lambda option: option["sort_order"])


def key(given: str | None, label: str, taken: Collection[str]) -> str:
    """Return a question's key: the one given, or one made of the label; a key used twice is refused."""
    if given is not None:
        if given in taken:
            raise DuplicateKey(f"The job has a question with the key {given!r} already.")
        return given
    base = slugs.plain(label, longest=LONGEST_KEY - 4, joint="_") or "question"
    return slugs.free(base, taken, joint="_")
