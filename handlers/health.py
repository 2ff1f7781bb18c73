"""Whether a web process lives and can serve."""

import time
from typing import Any

from store.operating import health

Body = dict[str, Any]
KEPT_SECONDS = 1.0

_found: tuple[float, dict[str, str]] = (0.0, {})


def get_health() -> Body:
    """Answer."""
    return {"status": "ok"}


def get_readiness() -> tuple[Body, int]:
    """Say whether database, schema and Redis are as they have to be; looked at once a second at most.

    A process serves without Redis too.
    """
    global _found  # noqa: PLW0603 - one process, one answer
    moment, checks = _found
    if not checks or time.monotonic() - moment > KEPT_SECONDS:
        checks = health.checks()
        _found = (time.monotonic(), checks)
    ready = all(state == health.OK for name, state in checks.items() if name != "redis")
    return {"status": "ok" if ready else "unavailable", "checks": checks}, 200 if ready else 503
