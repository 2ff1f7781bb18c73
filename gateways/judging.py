"""Judging: whether what programs printed is right, by comparing or by the check function of a test."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateways import sandbox
from gateways.places import Holder
from gateways.sandbox import Run, UnavailableError
from rules import outputs

CHECK_SECONDS = 5.0
CHECK_MEMORY_MB = 256
LONGEST_MESSAGE = 500  # characters

# Runs a test's check behind the same walls as the program that it judges; what it prints itself is no verdict.
CHECKER = """
import contextlib, json, sys

given = json.load(sys.stdin)
names = {"__name__": "check"}
with contextlib.redirect_stdout(sys.stderr):
    exec(compile(given["check"], "check.py", "exec"), names)
    verdict = names["check"](given["input"], given["output"], given["expected_output"])
if verdict is not True and verdict is not False and not (isinstance(verdict, str) and verdict.strip()):
    sys.exit(f"check() returned {verdict!r}, which is neither True nor False nor a text")
print(json.dumps({"passed": verdict is True, "message": verdict if isinstance(verdict, str) else ""}))
"""


@dataclass(frozen=True)
class Verdict:
    """What is said of one run; `passed` is None where the check itself failed, and a person has to judge."""

    passed: bool | None
    message: str = ""
    difference: Mapping[str, Any] | None = None


def judge(
    tests: Sequence[Mapping[str, Any]],
    runs: Sequence[Run],
    *,
    together: float = sandbox.TOGETHER_SECONDS,
    holder: Holder | None = None,
) -> list[Verdict]:
    """Judge each run by its test, all checks within so many seconds and in the share of whom the programs ran for.

    A test whose expected output is None says nothing but how the program ended.
    """
    checked = [
        (test, run)
        for test, run in zip(tests, runs, strict=True)
        if run.outcome == "ok" and test.get("check")
    ]
    verdicts = iter(_checked(checked, together, holder) if checked else [])
    return [
        next(verdicts)
        if run.outcome == "ok" and test.get("check")
        else _compared(run, test["expected_output"])
        for test, run in zip(tests, runs, strict=True)
    ]


def _compared(run: Run, expected: str | None) -> Verdict:
    if run.outcome != "ok":
        ended = outputs.ended(run.outcome, run.exit_code) if run.compiled else outputs.NOT_COMPILED
        return Verdict(None if expected is None else False, ended)
    if expected is None:
        return Verdict(None)
    found = outputs.difference(run.stdout, expected)
    return Verdict(True) if found is None else Verdict(False, outputs.described(found), found)


def _checked(
    pairs: Sequence[tuple[Mapping[str, Any], Run]], together: float, holder: Holder | None
) -> list[Verdict]:
    given = [
        json.dumps(
            {
                "check": test["check"],
                "input": test["input"],
                "output": run.stdout,
                "expected_output": test["expected_output"],
            }
        )
        for test, run in pairs
    ]
    try:
        said = sandbox.run(
            "python",
            CHECKER,
            given,
            seconds=CHECK_SECONDS,
            together=max(together, 1.0),
            memory_mb=CHECK_MEMORY_MB,
            holder=holder,
        )
    except UnavailableError:
        return [Verdict(None, "The check of this test cannot run on this machine.") for _ in pairs]
    return [_verdict(run) for run in said]


def _verdict(run: Run) -> Verdict:
    if run.outcome == "ok":
        try:
            found = json.loads(run.stdout)
            passed, message = found["passed"], _clean(found["message"])
        except (ValueError, KeyError, TypeError):
            pass
        else:
            return Verdict(passed, message or ("" if passed else "The output is not right."))
    why = (
        outputs.ENDS.get(run.outcome) or (_clean(run.stderr).strip().splitlines() or ["It said nothing."])[-1]
    )
    return Verdict(None, f"The check of this test failed: {why}"[:LONGEST_MESSAGE])


def _clean(text: str) -> str:
    """Return a text that can be kept: without half a surrogate pair, and no longer than a message is."""
    return text.encode(errors="replace").decode()[:LONGEST_MESSAGE]
