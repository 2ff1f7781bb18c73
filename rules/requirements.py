"""What a job asks of an applicant: requirements in both forms they may come in, brought into one."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from rules import slugs
from rules.errors import Invalid

KINDS = ("skill", "years", "tool", "title", "education", "custom")
IMPORTANCES = ("must", "should")

MAX_KEY, MAX_LABEL = 64, 200


def normalise(
    requirements: Sequence[Mapping[str, Any]], field_keys: Collection[str] | None = None
) -> list[dict[str, Any]]:
    """Bring requirements into the form kind = category + importance, or refuse them with every fault.

    Those that say kind = must or should carry their category in `field`. With field_keys, a `field` has to be
    the key of an application field: its answer then counts beside the CV.
    """
    plain = _named([_one(item, number) for number, item in enumerate(requirements)])
    faults = [
        {"pointer": f"/requirements/{number}/{name}", "message": message}
        for number, (given, item) in enumerate(zip(requirements, plain, strict=True))
        for name, message in _faults(given, item, field_keys)
    ]
    faults += _repeated(plain)
    if faults:
        raise Invalid(fields=faults)
    return plain


def _one(given: Mapping[str, Any], number: int) -> dict[str, Any]:
    kind, field = given.get("kind"), given.get("field") or None
    if kind in IMPORTANCES:
        kind, field, importance = field, None, kind
    else:
        importance = given.get("importance") or "must"
    values = [text for value in given.get("values") or [] if (text := str(value).strip())]
    label = (given.get("label") or given.get("key") or next(iter(values), "")).strip()[:MAX_LABEL]
    return {
        "kind": kind,
        "importance": importance,
        "field": field,
        "key": given.get("key") or None,
        "label": label,
        "weight": _or(given.get("weight"), 1),
        "min_years": given.get("min_years"),
        "values": values,
        "sort_order": _or(given.get("sort_order"), number),
        "is_active": _or(given.get("is_active"), True),
    }


def _faults(
    given: Mapping[str, Any], item: Mapping[str, Any], field_keys: Collection[str] | None
) -> Iterable[tuple[str, str]]:
    both = given.get("kind") in IMPORTANCES
    if item["kind"] not in KINDS:
        yield "field" if both else "kind", f"Must be one of: {', '.join(KINDS)}."
    if both and given.get("importance") not in {None, given["kind"]}:
        yield "importance", f"Contradicts kind, which says {given['kind']}."
    elif item["importance"] not in IMPORTANCES:
        yield "importance", "Must be must or should."
    if field_keys is not None and item["field"] and item["field"] not in field_keys:
        yield "field", "The job has no application field with this key."
    if item["kind"] in {"skill", "tool", "title", "education", "custom"} and not (
        item["values"] or item["label"] or item["field"]
    ):
        yield "values", "Nothing says what to look for: give values, a label or a field."


def _named(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give a key, made of the label and taken by no other, to each requirement that came without."""
    taken = {item["key"] for item in items if item["key"]}
    for number, item in enumerate(items, 1):
        if item["key"] is None:
            label = item["label"].replace("#", "-sharp").replace("+", "-plus")
            base = slugs.plain(label, longest=MAX_KEY) or f"requirement-{number}"
            item["key"] = slugs.free(base, taken, longest=MAX_KEY)
            taken.add(item["key"])
    return items


def _repeated(items: Sequence[Mapping[str, Any]]) -> Iterable[dict[str, str]]:
    seen: set[str] = set()
    for number, item in enumerate(items):
        if item["key"] in seen:
            yield {"pointer": f"/requirements/{number}/key", "message": "Another requirement has this key."}
        seen.add(item["key"])


def _or(given: Any, default: Any) -> Any:
    return default if given is None else given
