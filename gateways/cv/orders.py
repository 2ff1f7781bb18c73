"""What the process that reads one CV is started with."""

from datetime import UTC, date, datetime
from typing import Any

SECONDS = 20.0
MEMORY_MB = 280  # of address space: what is resident can only be less

START = "import sys; sys.path[:0] = sys.argv[1].split(':'); from gateways.cv.child import main; main()"


def orders(
    kind: str, *, today: date | None = None, seconds: float = SECONDS, memory_mb: int = MEMORY_MB
) -> dict[str, Any]:
    """Write the reader's orders."""
    day = today or datetime.now(UTC).date()
    return {"kind": kind, "today": day.isoformat(), "seconds": int(seconds) + 1, "memory_mb": memory_mb}
