"""Prints a letter behind the sandbox's walls, in a process that may fail or be stopped without harm."""

import json
import subprocess
from collections.abc import Mapping
from typing import Any

from gateways import walled
from gateways.letters import fonts
from gateways.letters.blocks import blocks, breakable, is_rtl, language

LARGEST = 20 << 20  # all of the largest font, and more
# Of address space, the longest letters need a fifth of this.
LIMITS = walled.Limits(seconds=20.0, memory_mb=1000, output_bytes=LARGEST + 1)

WORK = "gateways.letters.child"
START = walled.start(WORK)
# Chinese, Japanese and Korean have one face.
THICKENED = r"[\u{1100}-\u{11ff}\u{2e80}-\u{9fff}\u{ac00}-\u{d7af}\u{f900}-\u{faff}\u{ff00}-\u{ffef}]+"
REGIONS = {"ja": "jp", "ko": "kr", "zh": "cn"}


class PrintingError(RuntimeError):
    """A letter could not be printed within the limits."""


def render(letter: Mapping[str, Any]) -> bytes:
    """Return a letter as PDF, the same for the same letter; raises PrintingError.

    It has `{organisation_name, title, facts, body_html}`, the facts by their labels, the last safe to show.
    """
    pdf = _run({"letter": _data(letter)})
    if not pdf.startswith(b"%PDF-") or len(pdf) > LARGEST:
        raise PrintingError("The letter could not be printed.")
    return pdf


def _data(letter: Mapping[str, Any]) -> dict[str, Any]:
    """Write a letter as the template wants it."""
    spoken = language("".join(str(one) for one in letter.values()))
    return {
        "organisation_name": breakable(letter["organisation_name"]),
        "title": breakable(letter["title"]),
        "rtl": {name: is_rtl(letter[name]) for name in ("organisation_name", "title")},
        "facts": [
            [label, breakable(words), is_rtl(words)] for label, words in letter["facts"].items() if words
        ],
        "blocks": blocks(letter["body_html"]),
        "families": [*fonts.FAMILIES],
        "language": {"lang": spoken, "region": REGIONS[spoken]} if spoken else {},
        "thickened": THICKENED,
    }


def why_not() -> str:
    """Give the reason why letters are printed without walls here; empty where they are printed behind them."""
    return _printer.why_not()


def _run(orders: dict[str, Any]) -> bytes:
    answer = _printer.run(START, [], _given(orders), LIMITS)
    if answer is None:
        answer = _bare(orders)
    if answer["outcome"] == "timeout":
        raise PrintingError("The letter takes too long to print.")
    if answer["outcome"] != "ok":
        said = answer["stderr"].decode(errors="replace")[-500:] or answer["outcome"]
        raise PrintingError(f"The letter could not be printed: {said}")
    return bytes(answer["stdout"])


def _bare(orders: dict[str, Any]) -> dict[str, Any]:
    """Print in a process that has its limits alone."""
    try:
        done = walled.bare(START, [], _given(orders), seconds=LIMITS.seconds, complaints=subprocess.PIPE)
    except subprocess.TimeoutExpired:
        return {"outcome": "timeout"}
    return {"outcome": "error" if done.returncode else "ok", "stdout": done.stdout, "stderr": done.stderr}


def _given(orders: dict[str, Any]) -> bytes:
    folders = [str(one) for one in fonts.folders()]
    return json.dumps(
        {**orders, "folders": folders, "seconds": int(LIMITS.seconds) + 1, "memory_mb": LIMITS.memory_mb}
    ).encode()


def _probe() -> str:
    letter = {"organisation_name": "A", "title": "A", "body_html": "", "facts": {}}
    answer = walled.run(WORK, START, [], _given({"letter": _data(letter)}), LIMITS)
    return walled.fault("printer", answer, b"NotoSans-")  # the font too


_printer = walled.Walled(WORK, _probe)
