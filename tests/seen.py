"""What tests have seen of the product: the outcomes of operations that the documents name, and the events.

Every worker of a run notes what its clients and receivers are sent; who started them merges the notes. Run as a program
after the tests, this fails on what nobody has seen and unseen.txt does not list, and on what it lists and was seen.
"""

import json
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest

from rules.events import EVENTS
from tests.documents import Documented, documents, find, operations

ROOT = Path(__file__).resolve().parents[1]
NOTES, REPORT = (ROOT / ".cache" / "coverage" / name for name in ("seen.json", "operations.md"))
LISTED = Path(__file__).with_name("unseen.txt")
# A fault of our own is no outcome that a request can ask for; test_security.py brings one about.
NEVER = "500"

_seen: set[str] = set()


def answer(response: httpx.Response) -> None:
    """Note one answer; a hook of every test's client."""
    response.read()
    note(response.request.method, response.request.url.path, response.status_code, response.content)


def note(method: str, path: str, status: int, body: bytes) -> None:
    """Note what an operation answered."""
    operation = find(method, path)
    if operation is None:
        return
    shown = {}
    if body[:1] == b"{":
        with suppress(ValueError):  # a file that begins so
            shown = json.loads(body)
    _seen.add(outcome(operation, status, code_of(shown) if status >= 400 else ""))
    if operation.id == "list_events" and status == 200:
        for one in shown["results"]:
            event(one)


def delivery(content: bytes) -> None:
    """Note what an endpoint was sent, if it is an event."""
    with suppress(ValueError):
        sent = json.loads(content)
        if isinstance(sent, dict) and sent.get("type") in EVENTS:
            event(sent)


def event(envelope: dict[str, Any]) -> None:
    """Note an event that the product brought about; what a test wrote itself says what it is about."""
    if envelope.get("data", {}).get("about") != envelope["type"]:
        _seen.add(f"event {envelope['type']}")


def code_of(refusal: dict[str, Any]) -> str:
    """Read a refusal's code; the assistant's are flat."""
    error = refusal.get("error", refusal)
    return str(error.get("code", ""))


def outcome(operation: Documented, status: int | str, code: str) -> str:
    """Name an outcome: `get_job 404 NOT_FOUND`. A page says what is wrong to people, without a code."""
    shown = operation.definition["responses"].get(str(status), {}).get("content", {})
    is_page = operation.definition["tags"] == ["pages"] or "text/html" in shown
    return f"{operation.id} {status} {'' if is_page else code}".strip()


@cache
def documented() -> set[str]:
    """Every outcome that the documents name for an operation, and every event."""
    named = {f"event {type}" for type in EVENTS}
    for operation in (one for name in documents() for one in operations(name).values()):
        for status, promised in operation.definition["responses"].items():
            examples = promised.get("content", {}).get("application/json", {}).get("examples", {}).values()
            codes = {code_of(one["value"]) for one in examples if status >= "400"}
            named |= {outcome(operation, status, code) for code in codes or {""} if status != NEVER}
    return named


# --- A run


def end(config: pytest.Config) -> None:
    """Hand what a worker has seen to the process that started it, which makes the report of all.

    A run of some tests leaves the notes of the last whole one, which is the one that is judged.
    """
    if hasattr(config, "workeroutput"):
        config.workeroutput["seen"] = sorted(_seen)
    elif is_whole(config):
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        NOTES.write_text(json.dumps(sorted(_seen)))
        REPORT.write_text(report(_seen))


def merge(worker: Any) -> None:
    """Take what a worker has seen."""
    _seen.update(getattr(worker, "workeroutput", {}).get("seen", ()))


def is_whole(config: pytest.Config) -> bool:
    """Say whether a run was of everything: only then is what it has not seen unseen."""
    option = config.option
    chosen = (option.keyword, option.markexpr, option.deselect, option.maxfail, option.collectonly)
    return not any(chosen) and [Path(one).name for one in config.args] == ["tests"]


def listed() -> set[str]:
    return {line for line in LISTED.read_text().splitlines() if line and not line.startswith("#")}


def report(seen: set[str]) -> str:
    """Write the report: what was seen of how much, and what was not."""
    unseen = sorted(documented() - seen)
    kinds = {
        "operations that succeed": {one for one in documented() if one.split()[1:2] < ["4"]},
        "refusals": {one for one in documented() if not one.startswith("event ") and one.split()[1] >= "4"},
        "events": {one for one in documented() if one.startswith("event ")},
    }
    lines = [f"| {kind} | {len(of & seen)} | {len(of)} |" for kind, of in kinds.items()]
    head = ["# What the tests have seen", "", "| What | Seen | Named |", "|---|---|---|", *lines]
    return "\n".join([*head, "", "## Unseen", "", *(f"- {one}" for one in unseen), ""])


def judge(seen: Iterable[str]) -> list[str]:
    """Say what has to be mended: unseen and not listed, or listed and seen or unknown."""
    unseen = documented() - set(seen)
    return [
        *(f"No test has seen: {one}" for one in sorted(unseen - listed())),
        *(f"Take out of {LISTED.name}, it is seen: {one}" for one in sorted(listed() - unseen)),
    ]


def main() -> int:
    """Judge the last run of all tests."""
    if not NOTES.exists():
        print("There has been no run of all tests: ./hiring test -e tests,seen")
        return 1
    print(REPORT.read_text().partition("## Unseen")[0], f"(unseen: {REPORT})", sep="")
    wrong = judge(json.loads(NOTES.read_text()))
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
