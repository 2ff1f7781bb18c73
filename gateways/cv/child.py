"""The process that reads one CV: orders as an argument, the file on stdin, one JSON answer on stdout."""

import json
import sys
from datetime import date
from typing import Any

from gateways import limited
from gateways.cv.kinds import decode
from gateways.cv.texts import Text

# Has something of all that is looked for.
_SAMPLE = """Ada Lovelace
ada@example.com, +44 20 7946 0958, https://ada.example.com
Experience
Data engineer, Example Ltd, January 2019 - present
Education
BSc Mathematics, University of London, 2015 - 2018
Skills
Python, SQL"""


def prepare() -> None:
    """Load what reads CVs, and make what is made when the first is read: each is read in a fork of this process."""
    from gateways.cv import pdf, word  # noqa: F401
    from gateways.cv.profiles import profile

    profile(Text(_SAMPLE.splitlines()), date.min)


def main() -> None:
    """Read the file within the limits ordered and write what it says, or why it cannot be read."""
    orders = json.loads(sys.argv[2])
    limited.limit(orders["seconds"], orders["memory_mb"])
    content = sys.stdin.buffer.read()
    try:
        answer = _answer(orders, content)
    except MemoryError:
        answer = {"error": "The file needs too much memory to read."}
    except RecursionError:
        answer = {"error": "The file is nested too deeply to read."}
    sys.stdout.buffer.write(json.dumps(answer).encode())


def _answer(orders: dict[str, Any], content: bytes) -> dict[str, Any]:
    # Imported here if it was not prepared: under the limits, and only what the kind of file needs.
    from gateways.cv.errors import UnreadableError
    from gateways.cv.profiles import profile

    try:
        text = _text(orders["kind"], content)
    except UnreadableError as error:
        return {"error": str(error)}
    return {"profile": profile(text, date.fromisoformat(orders["today"]))}


def _text(kind: str, content: bytes) -> Text:
    if kind == "pdf":
        from gateways.cv import pdf

        return pdf.text(content)
    if kind == "docx":
        from gateways.cv import word

        return word.text(content)
    return Text(decode(content).splitlines())
