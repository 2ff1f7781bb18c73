"""Reads a CV behind the sandbox's walls: no network, and no files but the reader's own."""

import json
from datetime import date
from typing import Any

from gateways import walled
from gateways.cv.orders import START, WORK, orders

OUTPUT_BYTES = 4 << 20  # several times what the longest text and profile take

# Whoever reads an address and a number of a telephone in it has everything that reading needs.
_SMALLEST = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 58>>stream
BT /F 12 Tf 20 99 Td (ada@example.com +442079460958) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
%%EOF
"""


def why_not() -> str:
    """Give the reason why CVs are read without walls here; empty where they are read behind them."""
    return _reader.why_not()


def read(start: str, orders: dict[str, Any], content: bytes, seconds: float) -> dict[str, Any] | None:
    """Have `start` carry out the orders; return its output and how it ended. None where there are no walls."""
    return _reader.run(start, [json.dumps(orders)], content, _limits(orders, seconds))


def _limits(orders: dict[str, Any], seconds: float) -> walled.Limits:
    return walled.Limits(seconds, orders["memory_mb"], OUTPUT_BYTES)


def _run(start: str, orders: dict[str, Any], content: bytes, seconds: float) -> dict[str, Any]:
    return walled.run(WORK, start, [json.dumps(orders)], content, _limits(orders, seconds))


def _probe() -> str:
    answer = _run(START, orders("pdf", today=date.min), _SMALLEST, 20)
    return walled.fault("reader", answer, b'"+442079460958"')


_reader = walled.Walled(WORK, _probe)
