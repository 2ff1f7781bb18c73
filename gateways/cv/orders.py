"""What the process that reads one CV is started with."""

from datetime import date
from typing import Any

from gateways import walled

SECONDS = 20.0
MEMORY_MB = 280  # of address space: what is resident can only be less

WORK = "gateways.cv.child"
START = walled.start(WORK)


def orders(kind: str, *, today: date, seconds: float = SECONDS, memory_mb: int = MEMORY_MB) -> dict[str, Any]:
    """Write the reader's orders."""
    return {"kind": kind, "today": today.isoformat(), "seconds": int(seconds) + 1, "memory_mb": memory_mb}
