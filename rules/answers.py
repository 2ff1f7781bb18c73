"""What applicants answer: checked against the job's fields and brought into typed rows."""

import difflib
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from rules import decimals
from rules.errors import Invalid
from rules.words import say

Field = Mapping[str, Any]  # an application field: id, key, label, field_type, is_required, options, …
Row = dict[str, Any]  # a typed answer, as it is kept
Value = str | Decimal | bool | list[str]

FIELD_TYPES = ("short_text", "long_text", "single_select", "multi_select", "number", "boolean", "url")

MAX_TEXT = {"short_text": 1_000, "long_text": 20_000, "url": 2_000}
MAX_INTEGER_DIGITS, MAX_FRACTION_DIGITS = 12, 6  # numeric(18, 6)

WORDS = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}

HINTS = 10  # unknown keys for which the nearest known one is looked for

NOT_TEXT = say("Must be a text.")


class _Fault(Exception):
    """What is wrong with one answer, in a sentence."""


def check(answers: Mapping[str, Any], fields: Sequence[Field]) -> list[Row]:
    """Return one typed row per question answered, in the order of the fields, or refuse with every fault."""
    asked = [field for field in fields if field.get("is_active", True)]
    rows, faults = [], []
    for field in asked:
        given = answers.get(field["key"])
        try:
            if not _unanswered(given, field):
                rows.append(_row(field, _TYPES[field["field_type"]](given, field)))
            elif field.get("is_required"):
                raise _Fault(say("An answer is required."))
        except _Fault as fault:
            faults.append({"pointer": pointer(field["key"]), "message": fault.args[0]})
    known = [field["key"] for field in asked]
    strangers = [key for key in answers if key not in known]
    faults += [_unknown(key, known if number < HINTS else ()) for number, key in enumerate(strangers)]
    if faults:
        raise Invalid(fields=faults)
    return rows


def value(row: Mapping[str, Any]) -> Value | None:
    """Return the answer of a typed row in its own type; None if it holds none."""
    kind = row["field_type"]
    if kind == "multi_select":
        return list(row["value_json"] or []) or None
    if kind == "number":
        return decimals.read(row["value_number"])
    if kind == "boolean":
        found: bool | None = row["value_boolean"]
        return found
    return row["value_text"] or None


def is_empty(given: object) -> bool:
    """Say whether a question was left unanswered: nothing, white space, or nothing chosen."""
    if isinstance(given, str):
        return not given.strip()
    return given is None or (isinstance(given, list | tuple) and all(is_empty(part) for part in given))


def _unanswered(given: object, field: Field) -> bool:
    # Only where a list may be the answer is an empty one none.
    is_list = isinstance(given, list | tuple)
    return is_empty(given) and (not is_list or field["field_type"] == "multi_select")


def pointer(key: str) -> str:
    """Point at an answer in the request body."""
    return "/answers/" + key.replace("~", "~0").replace("/", "~1")


def option_values(field: Field) -> list[str]:
    """List the values that a select field offers."""
    return [str(option["value"]) for option in field.get("options") or []]


def _unknown(key: str, known: Sequence[str]) -> dict[str, str]:
    near = difflib.get_close_matches(key[:80], known, n=1)
    hint = f"; did you mean {near[0]}?" if near else "."
    return {"pointer": pointer(key), "message": f"The job asks no such question{hint}"}


def _row(field: Field, given: Value) -> Row:
    return {
        "field_id": field["id"],
        "field_key": field["key"],
        "field_label": field["label"],
        "field_type": field["field_type"],
        "value_text": given if isinstance(given, str) else "",
        "value_number": given if isinstance(given, Decimal) else None,
        "value_boolean": given if isinstance(given, bool) else None,
        "value_json": given if isinstance(given, list) else None,
    }


def _text(given: object, field: Field) -> str:
    if not isinstance(given, str):
        raise _Fault(NOT_TEXT)
    # Neither can be kept: PostgreSQL takes no NUL and half a surrogate pair is no character.
    if any(char == "\0" or unicodedata.category(char) == "Cs" for char in given):
        raise _Fault(say("Holds a character that cannot be kept."))
    limit = MAX_TEXT[field["field_type"]]
    if len(given) > limit:
        raise _Fault(say("Must have at most %(count)s characters.", count=limit))
    return given.strip()


def _url(given: object, field: Field) -> str:
    text = _text(given, field)
    try:
        parts = urlsplit(text)
        fit = parts.scheme.lower() in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fit = False
    if not fit or any(char.isspace() or ord(char) < 32 for char in text):
        raise _Fault(say("Must be a web address that begins with http:// or https://."))
    return text


def _number(given: object, _field: Field) -> Decimal:
    number = decimals.read(given)
    if number is None:
        raise _Fault(say("Must be a number."))
    if number and number.adjusted() >= MAX_INTEGER_DIGITS:
        raise _Fault(say("Must have at most %(count)s digits before the point.", count=MAX_INTEGER_DIGITS))
    if number != round(number, MAX_FRACTION_DIGITS):
        raise _Fault(say("Must have at most %(count)s digits after the point.", count=MAX_FRACTION_DIGITS))
    return Decimal(decimals.plain(round(number, MAX_FRACTION_DIGITS))) if number else Decimal(0)


def _boolean(given: object, _field: Field) -> bool:
    if isinstance(given, bool):
        return given
    found = WORDS.get(given.strip().casefold()) if isinstance(given, str) else None
    if found is None:
        raise _Fault(say("Must be true or false."))
    return found


def _single(given: object, field: Field) -> str:
    if not isinstance(given, str):
        raise _Fault(NOT_TEXT)
    offered = option_values(field)
    for candidate in (given, given.strip()):
        if candidate in offered:
            return candidate
    raise _Fault(say("Must be one of: %(values)s.", values=_listed(offered)))


def _multiple(given: object, field: Field) -> list[str]:
    # A form sends a single choice as a plain text, and where a part holds JSON it is a list in a text.
    chosen = _parts(given) if isinstance(given, str) else given
    if not isinstance(chosen, list | tuple) or not all(isinstance(part, str) for part in chosen):
        raise _Fault(say("Must be a list of texts."))
    return list(dict.fromkeys(_single(part, field) for part in chosen if not is_empty(part)))


def _parts(given: str) -> list[Any]:
    if given.lstrip().startswith("["):
        try:
            parts = json.loads(given)
        except (ValueError, RecursionError):
            parts = None
        if isinstance(parts, list):
            return parts
    return [given]


def _listed(values: Sequence[str], most: int = 20) -> str:
    return ", ".join(values[:most]) + (", …" if len(values) > most else "")


_TYPES: dict[str, Callable[[object, Field], Value]] = {
    "short_text": _text,
    "long_text": _text,
    "single_select": _single,
    "multi_select": _multiple,
    "number": _number,
    "boolean": _boolean,
    "url": _url,
}
