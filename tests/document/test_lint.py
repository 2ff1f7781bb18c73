"""The linters' exceptions are those that decision 0054 gives a reason for, and no more."""

import re

import yaml

from tests.document.lint import HERE, ROOT

SLASH = {"no-path-trailing-slash", "path-keys-no-trailing-slash"}


def excepted() -> set[str]:
    """Every rule that is switched off anywhere."""
    found = set()
    for name in ("redocly.yaml", "spectral.yaml"):
        found |= set(re.findall(r"^ +([\w:-]+): off$", (HERE / name).read_text(), re.M)) - {"telemetry"}
    ignored = yaml.safe_load((HERE / ".redocly.lint-ignore.yaml").read_text())
    return found | {rule for rules in ignored.values() for rule in rules}


def test_an_exception_has_a_reason() -> None:
    [page] = (ROOT / "docs" / "decisions").glob("0054-*.md")
    rules = "\n".join(re.findall(r"^\| (`.*?) \|", page.read_text(), re.M))
    told = set(re.findall(r"`([^`]+)`", rules))
    told = {f"owasp:api2:2023-{rule[1:]}" if rule.startswith("…") else rule for rule in told}
    assert excepted() - SLASH == told
