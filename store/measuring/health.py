"""How an organisation's integration is doing: its requests of the last 24 hours, and its endpoints."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BindParameter, bindparam, func, text

from rules import sketches
from rules.caller import Caller
from rules.clock import now
from store.database.base import ANYONE, visible
from store.database.engine import Means
from store.database.prepared import Prepared
from store.delivering import pending
from store.measuring.counts import RequestCount, RequestRefusal, RequestSketch

DAY = timedelta(hours=24)


@dataclass(frozen=True)
class Traffic:
    """Requests of the last 24 hours."""

    requests: int
    faults: int
    p50_ms: float | None
    p95_ms: float | None
    refusals: list[Any]  # code, count, last_seen: the most frequent first


_SINCE: BindParameter[Any] = bindparam("since")
_FAULTS = Prepared(
    visible(ANYONE, RequestCount)
    .with_only_columns(func.coalesce(func.sum(RequestCount.faults), 0).label("faults"))
    .where(RequestCount.hour >= _SINCE)
)
_BUCKETS = Prepared(
    visible(ANYONE, RequestSketch)
    .with_only_columns(RequestSketch.bucket, func.sum(RequestSketch.count).label("count"))
    .where(RequestSketch.hour >= _SINCE)
    .group_by(RequestSketch.bucket)
)
_REFUSALS = Prepared(
    visible(ANYONE, RequestRefusal)
    .with_only_columns(
        RequestRefusal.code,
        func.sum(RequestRefusal.count).label("times"),
        func.max(RequestRefusal.last_seen).label("last_seen"),
    )
    .where(RequestRefusal.hour >= _SINCE)
    .group_by(RequestRefusal.code)
    .order_by(func.sum(RequestRefusal.count).desc(), RequestRefusal.code)
)
_ENDPOINTS = Prepared(
    text(f"""
    SELECT count(*) AS endpoints,
           count(*) FILTER (WHERE NOT is_active AND disabled_reason IS NOT NULL) AS disabled,
           count(*) FILTER (WHERE is_active AND failing_since IS NOT NULL) AS failing,
           coalesce(sum({pending.NUMBER}), 0) AS pending,
           coalesce(extract(epoch FROM :moment - min(first.created_at)), 0) AS oldest_pending_seconds
    FROM webhook_endpoints AS endpoint
    LEFT JOIN LATERAL (
        SELECT created_at FROM deliveries
        WHERE endpoint_id = endpoint.id AND status = 'pending' AND {pending.MAY_BE}
        ORDER BY next_attempt_at LIMIT 1
    ) AS first ON true
    WHERE organisation_id = :organisation_id AND livemode = :livemode
    """)  # noqa: S608 - parts of our own
)
_LANGUAGES = Prepared(
    text("""
    SELECT DISTINCT cases.language
    FROM (
        SELECT id FROM assessments
        WHERE organisation_id = :organisation_id AND livemode = :livemode AND status = 'active'
        ORDER BY id DESC LIMIT :most
    ) AS newest
    JOIN assessment_cases ON assessment_cases.assessment_id = newest.id
    JOIN cases ON cases.id = assessment_cases.case_id
    WHERE cases.language = ANY(:languages)
    ORDER BY cases.language
    """)
)
_MOST_ASSESSMENTS = 1_000  # that are looked at for what their cases are in


def traffic(means: Means, caller: Caller) -> Traffic:
    """Count the requests since the beginning of the hour that was 24 hours ago."""
    since = _hour(now() - DAY)
    counts = {row.bucket: int(row.count) for row in _BUCKETS.all(means, caller, since=since)}
    return Traffic(
        requests=sum(counts.values()),
        faults=int(_FAULTS.first(means, caller, since=since).faults),
        p50_ms=sketches.quantile(counts, 0.50),
        p95_ms=sketches.quantile(counts, 0.95),
        refusals=_REFUSALS.all(means, caller, since=since),
    )


def endpoints(means: Means, caller: Caller) -> Any:
    """Count endpoints and what waits for them."""
    return _ENDPOINTS.first(means, caller, moment=now())


def asked_for(means: Means, caller: Caller, languages: Collection[str]) -> tuple[str, ...]:
    """Name those of some languages that cases of active assessments are in, the newest assessments looked at."""
    if not languages:
        return ()
    found = _LANGUAGES.all(means, caller, languages=list(languages), most=_MOST_ASSESSMENTS)
    return tuple(row.language for row in found)


def _hour(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)
