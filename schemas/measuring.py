"""What usage and health look like outside."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from rules import usage as rules
from rules.clock import iso

COUNTED = ("invitations", "sessions", "completions", "api_reads", "api_writes")


def usage(
    start: date, end: date, *, livemode: bool, days: Mapping[date, Mapping[str, int]], by_assessment: Any
) -> dict[str, Any]:
    """Show usage, with a line for every day of the span."""
    series = [
        {"date": day.isoformat(), **{name: days.get(day, {}).get(name, 0) for name in COUNTED}}
        for day in rules.days(start, end)
    ]
    return {
        "range": {"start": start.isoformat(), "end": end.isoformat()},
        "livemode": livemode,
        "total_sessions": sum(line["sessions"] for line in series),
        "series": series,
        "by_assessment": by_assessment,
    }


def health(
    traffic: Any, endpoints: Any, alerts: Sequence[Mapping[str, str]], languages: Sequence[str]
) -> dict[str, Any]:
    """Show how an integration is doing."""
    return {
        "alerts": alerts,
        "errors": [
            {"code": one.code, "count": int(one.times), "last_seen": iso(one.last_seen)}
            for one in traffic.refusals
        ],
        "webhooks": {
            "endpoints": endpoints.endpoints,
            "disabled": endpoints.disabled,
            "pending": int(endpoints.pending),
            "oldest_pending_seconds": max(0, int(endpoints.oldest_pending_seconds)),
        },
        "sla": {
            "requests": traffic.requests,
            "error_rate": rules.error_rate(traffic.requests, traffic.faults),
            "p50_ms": _ms(traffic.p50_ms),
            "p95_ms": _ms(traffic.p95_ms),
        },
        "languages": languages,
    }


def _ms(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
