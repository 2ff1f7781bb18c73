"""Level 1 of screening: conditions on the answers that an application has to meet."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from rules import answers as typed
from rules import decimals
from rules.answers import WORDS, Value, option_values
from rules.errors import Invalid
from rules.grading import fold

Rule = Mapping[str, Any]  # field_key, operator, value, on_fail, is_active, sort_order

EQUAL, LISTED = ("eq", "neq"), ("in", "not_in")
ORDERED = ("gte", "lte", "gt", "lt")
TRUTH = ("truthy", "falsy")

OPERATORS = (*EQUAL, *ORDERED, *LISTED, *TRUTH)

# Which operator fits which field type. Free text and lists have no falsy: empty is unanswered, which fails
# any rule, so the condition could never be met. A short text or a choice is falsy when it says no.
FITTING: dict[str, tuple[str, ...]] = {
    "short_text": (*EQUAL, *LISTED, *TRUTH),
    "long_text": (*EQUAL, *LISTED, "truthy"),
    "url": (*EQUAL, *LISTED, "truthy"),
    "single_select": (*EQUAL, *LISTED, *TRUTH),
    "multi_select": (*EQUAL, *LISTED, "truthy"),
    "number": (*EQUAL, *ORDERED, *LISTED, *TRUTH),
    "boolean": (*EQUAL, *TRUTH),
}

NO = {word for word, meaning in WORDS.items() if not meaning} | {"n", "none"}

SEVERITY = ("reject", "hold")  # the first wins


@dataclass(frozen=True)
class Knockout:
    """How an application fared: the rule that decides, and what it triggers (reject, hold; None when passed)."""

    passed: bool
    failed_rule: Rule | None = None
    on_fail: str | None = None


def check(rules: Sequence[Rule], fields: Sequence[Mapping[str, Any]]) -> None:
    """Refuse rules that no answer could be measured by: unknown field, unfit operator or value."""
    known = {field["key"]: field for field in fields}
    faults = [
        {"pointer": f"/rules/{number}/{name}", "message": message}
        for number, rule in enumerate(rules)
        for name, message in _faults(rule, known)
    ]
    if faults:
        raise Invalid(fields=faults)


def evaluate(
    rules: Iterable[Rule], answers: Iterable[Mapping[str, Any]], asked: Collection[str] | None = None
) -> Knockout:
    """Measure typed answers by the rules; those on questions that are not `asked` (any more) are left out."""
    given = {row["field_key"]: typed.value(row) for row in answers}
    failed = [
        rule
        for rule in sorted(rules, key=lambda rule: rule.get("sort_order") or 0)
        if rule.get("is_active", True)
        and (asked is None or rule["field_key"] in asked)
        and not _met(rule, given.get(rule["field_key"]))
    ]
    if not failed:
        return Knockout(passed=True)
    worst = min(failed, key=lambda rule: SEVERITY.index(_on_fail(rule)))
    return Knockout(passed=False, failed_rule=worst, on_fail=_on_fail(worst))


def _on_fail(rule: Rule) -> str:
    return rule.get("on_fail") or "reject"


def _met(rule: Rule, given: Value | None) -> bool:
    return given is not None and _OPERATORS[rule["operator"]](given, rule.get("value"))


def _equal(given: Value, wanted: object) -> bool:
    if isinstance(given, list):
        return {fold(part) for part in given} == {fold(str(part)) for part in _list(wanted)}
    if isinstance(given, bool):
        return given is _boolean(wanted)
    if isinstance(given, Decimal):
        return given == decimals.read(wanted)
    return wanted is not None and fold(given) == fold(str(wanted))


def _listed(given: Value, wanted: object) -> bool:
    """Say whether the answer is in the list; of several choices, whether any is."""
    choices = given if isinstance(given, list) else [given]
    return any(_equal(choice, one) for choice in choices for one in _list(wanted))


def _true(given: Value) -> bool:
    return fold(given) not in NO if isinstance(given, str) else bool(given)


def _ordered(given: Value, wanted: object, holds: Callable[[Decimal, Decimal], bool]) -> bool:
    bound = decimals.read(wanted)
    return isinstance(given, Decimal) and bound is not None and holds(given, bound)


_OPERATORS: dict[str, Callable[[Value, object], bool]] = {
    "eq": _equal,
    "neq": lambda given, wanted: not _equal(given, wanted),
    "gte": lambda given, wanted: _ordered(given, wanted, lambda a, b: a >= b),
    "lte": lambda given, wanted: _ordered(given, wanted, lambda a, b: a <= b),
    "gt": lambda given, wanted: _ordered(given, wanted, lambda a, b: a > b),
    "lt": lambda given, wanted: _ordered(given, wanted, lambda a, b: a < b),
    "in": _listed,
    "not_in": lambda given, wanted: not _listed(given, wanted),
    "truthy": lambda given, _: _true(given),
    "falsy": lambda given, _: not _true(given),
}


def _faults(rule: Rule, fields: Mapping[str, Mapping[str, Any]]) -> Iterable[tuple[str, str]]:
    field = fields.get(rule["field_key"])
    if field is None:
        yield "field_key", "The job has no such field."
        return
    kind, operator, wanted = field["field_type"], rule["operator"], rule.get("value")
    if operator not in FITTING[kind]:
        yield "operator", f"{operator} does not fit a {kind} field; use one of: {', '.join(FITTING[kind])}."
    elif operator in LISTED and not (isinstance(wanted, list) and wanted):
        yield "value", f"{operator} needs a list of at least one value."
    elif operator not in TRUTH:
        yield from (("value", message) for message in _value_faults(field, operator, wanted))


def _value_faults(field: Mapping[str, Any], operator: str, wanted: object) -> Iterable[str]:
    kind = field["field_type"]
    parts = _list(wanted) if operator in LISTED or kind == "multi_select" else [wanted]
    if not parts or not all(_fits(part, kind) for part in parts):
        yield f"{operator} on a {kind} field needs {_NEEDED[kind]}."
    elif kind in {"single_select", "multi_select"}:
        offered = option_values(field)
        yield from (f"The field does not offer {part}." for part in parts if part not in offered)


_NEEDED = {
    "number": "a number",
    "boolean": "true or false",
    "multi_select": "the values of options",
    "single_select": "the value of an option",
    "short_text": "a text",
    "long_text": "a text",
    "url": "a text",
}


def _fits(wanted: object, kind: str) -> bool:
    if kind == "number":
        return decimals.read(wanted) is not None
    if kind == "boolean":
        return _boolean(wanted) is not None
    return isinstance(wanted, str) and bool(wanted.strip())


def _boolean(wanted: object) -> bool | None:
    if isinstance(wanted, bool):
        return wanted
    return WORDS.get(fold(wanted)) if isinstance(wanted, str) else None


def _list(wanted: object) -> list[Any]:
    return list(wanted) if isinstance(wanted, list | tuple) else [] if wanted is None else [wanted]
