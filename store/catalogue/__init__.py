"""The platform catalogue: cases that ship with the service, in YAML files: `track.yaml` or `track.part.yaml`."""

from decimal import Decimal
from pathlib import Path

import yaml

# What a case has when its file says nothing; a mutable value is copied for each case.
DEFAULTS: dict[str, object] = {
    "time_limit_minutes": None,
    "description": "",
    "options": [],
    "allow_multiple": False,
    "accepted_answers": [],
    "answer_number": None,
    "tolerance": None,
    "language": None,
    "starter_code": "",
    "test_cases": [],
    "rubric": "",
    "tags": [],
    "solution": "",
}
DECIMALS = ("answer_number", "tolerance")

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is about ten times as fast


def load() -> list[dict[str, object]]:
    """Read every case of the catalogue, complete with defaults, in the order of case_number."""
    cases = [
        _complete(case, track=path.name.split(".")[0])
        for path in Path(__file__).parent.glob("*.yaml")
        for case in yaml.load(path.read_text("utf-8"), Loader=_LOADER)  # noqa: S506 - both are safe loaders
    ]
    return sorted(cases, key=lambda case: int(str(case["case_number"])))


def _complete(case: dict[str, object], *, track: str) -> dict[str, object]:
    defaults = {name: list(value) if isinstance(value, list) else value for name, value in DEFAULTS.items()}
    for name in DECIMALS:
        if case.get(name) is not None:
            case[name] = Decimal(str(case[name]))
    check = case.pop("check", "")  # written once for all tests of a case
    if check:
        case["test_cases"] = [test | {"check": check} for test in case["test_cases"]]  # type: ignore[attr-defined]
    return {"track": track, **defaults, **case}
