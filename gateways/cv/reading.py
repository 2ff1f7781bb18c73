"""Reads a CV in a process of its own, which may fail or be stopped without harm."""

import json
import signal
import subprocess
from dataclasses import dataclass
from datetime import date
from typing import Any

from gateways.cv import walled
from gateways.cv.kinds import sniff, why_not
from gateways.cv.orders import MEMORY_MB, SECONDS, START, orders
from gateways.walled import bare

TOO_LONG = "The file takes too long to read."
TOO_BIG = "The file needs too much memory to read."
BROKEN = "The file is damaged, or made so that it needs too much memory to read."
STOPPED = {"timeout": TOO_LONG, "memory": TOO_BIG, "output_limit": TOO_BIG}


@dataclass(frozen=True)
class Parsed:
    """What a CV said: its kind, text and profile; or, in a sentence, why it could not be read."""

    kind: str | None
    text: str = ""
    profile: dict[str, Any] | None = None
    error: str | None = None


def parse(
    content: bytes,
    filename: str = "",
    *,
    today: date,
    seconds: float = SECONDS,
    memory_mb: int = MEMORY_MB,
) -> Parsed:
    """Read a CV; never raises for what is in the file. Positions that go on are counted up to `today`, the day it came.

    Its name is taken and not heeded: the content alone says what a file is.
    """
    kind = sniff(content)
    if kind is None:
        return Parsed(None, error=why_not(content))
    given = orders(kind, today=today, seconds=seconds, memory_mb=memory_mb)
    walled_answer = walled.read(START, given, content, seconds)
    answer = _read(given, content, seconds) if walled_answer is None else _heard(walled_answer)
    if "error" in answer:
        return Parsed(kind, error=answer["error"])
    return Parsed(kind, answer["profile"]["text"], answer["profile"])


def _read(orders: dict[str, Any], content: bytes, seconds: float) -> dict[str, Any]:
    """Read in a process that has its limits alone."""
    try:
        done = bare(START, [json.dumps(orders)], content, seconds=seconds)
    except subprocess.TimeoutExpired:
        return {"error": TOO_LONG}
    ends = {-signal.SIGXCPU: "timeout", -signal.SIGKILL: "memory"}
    return _heard({"outcome": ends.get(done.returncode, "ok"), "stdout": done.stdout})


def _heard(answer: dict[str, Any]) -> dict[str, Any]:
    """Make sense of what the reader wrote and how it ended."""
    if answer["outcome"] in STOPPED:
        return {"error": STOPPED[answer["outcome"]]}
    try:
        heard = json.loads(answer["stdout"])
        if isinstance(heard["error"] if "error" in heard else heard["profile"]["text"], str):
            return dict(heard)
    except (ValueError, TypeError, KeyError):  # it fell, or somebody else wrote this
        pass
    return {"error": BROKEN}
