"""What a later schema takes or gives away: a request may lose nothing that it could say, an answer may gain nothing."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

Schema = Mapping[str, Any]
OPEN = "x-open-enum"  # says that an answer's list of values may grow

# For each word, whether a schema that has the second value allows all that one with the first allows; None: without it.
Fits = Callable[[Any, Any], bool]


def _same(wide: Any, tight: Any) -> bool:
    return tight is None or wide == tight


def _at_most(wide: Any, tight: Any) -> bool:
    return tight is None or (wide is not None and wide <= tight)


def _at_least(wide: Any, tight: Any) -> bool:
    return tight is None or (wide is not None and wide >= tight)


def _size_at_least(wide: Any, tight: Any) -> bool:
    return (wide or 0) >= (tight or 0)


def _not_set(wide: Any, tight: Any) -> bool:
    return bool(wide) or not tight


FITS: dict[str, Fits] = {
    "type": lambda wide, tight: _same(wide, tight) or (wide, tight) == ("integer", "number"),
    "nullable": lambda wide, tight: bool(tight) or not wide,
    "enum": lambda wide, tight: tight is None or (wide is not None and all(one in tight for one in wide)),
    "pattern": _same,
    "format": _same,
    "maxLength": _at_most,
    "maximum": _at_most,
    "maxItems": _at_most,
    "maxProperties": _at_most,
    "minLength": _size_at_least,
    "minimum": _at_least,
    "minItems": _size_at_least,
    "minProperties": _size_at_least,
    "exclusiveMaximum": _not_set,
    "exclusiveMinimum": _not_set,
    "uniqueItems": _not_set,
    "multipleOf": lambda wide, tight: (
        tight is None or (wide is not None and Decimal(str(wide)) % Decimal(str(tight)) == 0)
    ),
}


def narrowed(old: Schema, new: Schema, at: str) -> Iterator[str]:
    """Find what a request may no longer say, or what is taken differently when it does not say it."""
    yield from _compare(old, new, at, asked=True)


def widened(old: Schema, new: Schema, at: str) -> Iterator[str]:
    """Find what an answer may no longer be relied on for."""
    yield from _compare(old, new, at, asked=False)


def _compare(old: Schema, new: Schema, at: str, *, asked: bool) -> Iterator[str]:
    wide, tight = (old, new) if asked else (new, old)
    for word, fits in FITS.items():
        open_list = word == "enum" and not asked and old.get(OPEN) is True
        if not open_list and not fits(wide.get(word), tight.get(word)):
            yield f"{at} has {_said(new, word)} instead of {_said(old, word)}"
    if "default" in old and new.get("default") != old["default"]:
        yield f"{at} has {_said(new, 'default')} instead of {_said(old, 'default')}"
    if asked and new.get("x-feature") not in (None, old.get("x-feature")):
        yield f"{at} needs the feature {new['x-feature']}"
    for name in set(tight.get("required", [])) - set(wide.get("required", [])):
        yield f"{at}/{name} is required now" if asked else f"{at}/{name} may be missing now"
    for name, one in old.get("properties", {}).items():
        if name in new.get("properties", {}):
            yield from _compare(one, new["properties"][name], f"{at}/{name}", asked=asked)
        elif not asked or new.get("additionalProperties") is False:
            yield f"{at}/{name} is no longer taken" if asked else f"{at}/{name} is gone"
    yield from _further(old, new, at, asked=asked)
    if "items" in tight:
        yield from _compare(old.get("items", {}), new.get("items", {}), f"{at}/*", asked=asked)
    yield from _alternatives(old, new, at, asked=asked)


def _further(old: Schema, new: Schema, at: str, *, asked: bool) -> Iterator[str]:
    """Compare what is said of properties that have no name."""
    was, now = old.get("additionalProperties", True), new.get("additionalProperties", True)
    wide, tight = (was, now) if asked else (now, was)
    if wide is not False and tight is False:
        yield f"{at} is closed now" if asked else f"{at} is no longer closed"
    elif isinstance(tight, Mapping) and wide is not False:
        schemas = [one if isinstance(one, Mapping) else {} for one in (was, now)]
        yield from _compare(*schemas, f"{at}/*", asked=asked)


def _alternatives(old: Schema, new: Schema, at: str, *, asked: bool) -> Iterator[str]:
    """Look into schemas in lists, one by one; another number of them is a break either way, as is another `not`."""
    if old.get("not") != new.get("not"):
        yield f"{at} rules out something else"
    for word in ("allOf", "anyOf", "oneOf"):
        was, now = old.get(word, ()), new.get(word, ())
        if len(was) != len(now):
            yield f"{at} has {len(now)} schemas in {word} instead of {len(was)}"
        for number, (one, other) in enumerate(zip(was, now, strict=False)):
            yield from _compare(one, other, f"{at}/{word}/{number}", asked=asked)


def _said(schema: Schema, word: str) -> str:
    return f"{word} {schema[word]}" if word in schema else f"no {word}"
