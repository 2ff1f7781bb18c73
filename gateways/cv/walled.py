"""Reads a CV behind the sandbox's walls: no network, and no files but the reader's own.

Not every machine can build them; there the limits that the reader takes upon itself have to do.
"""

import json
import os
import sys
import sysconfig
from datetime import date
from typing import Any

from gateways import languages
from gateways.cv.orders import START, orders
from gateways.jail.starting import Known, process_limit, supervise

OUTPUT_BYTES = 4 << 20  # several times what the longest text and profile take
PATIENCE_SECONDS = 10.0  # for the walls, beside the reader's own time

# Says `ada@example.com`: whoever reads it has everything that reading needs.
_SMALLEST = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 44>>stream
BT /F 12 Tf 20 99 Td (ada@example.com) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
%%EOF
"""


def why_not() -> str:
    """Give the reason why CVs are read without walls here; empty where they are read behind them."""
    return _known.why_not()


def read(start: str, orders: dict[str, Any], content: bytes, seconds: float) -> dict[str, Any] | None:
    """Have `start` carry out the orders; return its output and how it ended. None where there are no walls."""
    if why_not():
        return None
    answer = _run(start, orders, content, seconds)
    if "fault" in answer:
        _known.doubt()  # a file may have brought them down, or else the machine has none to give any more
        return None if why_not() else {"stdout": "", "outcome": "error"}
    return answer


def _run(start: str, orders: dict[str, Any], content: bytes, seconds: float) -> dict[str, Any]:
    command = [
        languages.python(),
        "-I",
        "-S",
        "-B",
        "-c",
        start,
        os.pathsep.join(_code()),
        json.dumps(orders),
    ]
    spec = {
        "command": command,
        "fine": [0],
        "files": {},
        "walls": _walls(),
        "limits": {"RLIMIT_NPROC": process_limit()},  # the others it takes itself, walls or not
        "seconds": seconds,
        "memory_bytes": orders["memory_mb"] << 20,
        "output_bytes": OUTPUT_BYTES,
    }
    try:
        answer = supervise(spec, content, patience=seconds + PATIENCE_SECONDS)
    except TimeoutError:
        return {"stdout": "", "outcome": "timeout"}
    if "fault" in answer:
        return answer
    return answer | {name: answer[name].decode(errors="replace") for name in ("stdout", "stderr")}


def _code() -> list[str]:
    """List where the reader's code is: ours, then the libraries."""
    installed = sysconfig.get_paths()
    return [str(languages.SERVICE), *dict.fromkeys((installed["purelib"], installed["platlib"]))]


def _walls() -> list[tuple[str, str]]:
    """Show what the reader's code needs; of the service's folder, which may hold its data too, only packages."""
    service, *libraries = _code()
    ours = [f"{service}/{package}" for package in ("gateways", "insides", "rules")]
    return [*languages.walls(languages.python()), *(("bind", path) for path in (*libraries, *ours))]


def _probe() -> str:
    if sys.platform != "linux":
        return "the walls need Linux"
    answer = _run(START, orders("pdf", today=date.min), _SMALLEST, 20)
    if "fault" in answer:
        return f"this machine offers no sandbox: {answer['fault']}"
    if '"ada@example.com"' not in answer["stdout"]:
        return (
            f"the reader does not work behind them ({answer['outcome']}): {answer.get('stderr', '')[-300:]}"
        )
    return ""


_known = Known(_probe)
