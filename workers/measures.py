"""What a worker or a schedule counts of its own work."""

from functools import cache

from prometheus_client import Counter, Histogram

from rules.retries import Outcome

BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0)

ATTEMPTS = Counter("hiring_delivery_attempts", "Attempts to deliver, by what came of them.", ["outcome"])
ANSWERED = Histogram("hiring_delivery_seconds", "Time until an endpoint answered.", buckets=BUCKETS)
SWITCHED_OFF = Counter("hiring_endpoints_switched_off", "Endpoints switched off because they failed.")
FANNED_OUT = Counter("hiring_events_fanned_out", "Events turned into deliveries.")
HANDED_OVER = Counter("hiring_jobs_handed_over", "Pieces of outbox work handed over.")
JOBS = Counter("hiring_jobs", "Pieces of outbox work, by what came of them.", ["job", "outcome"])
DONE = Counter("hiring_schedule_done", "Rows that became due and were dealt with.", ["kind"])
FAULTS = Counter("hiring_schedule_faults", "Batches of due rows that failed.", ["kind"])

OUTCOMES = {2: "delivered", 3: "redirect", 4: "client_error", 5: "server_error"}
_labelled = cache(ATTEMPTS.labels)  # looking one up costs as much as counting it


def attempt(outcome: Outcome) -> None:
    """Count one attempt to deliver."""
    if outcome.ours:
        _labelled("not_made").inc()
        return
    status = outcome.status_code
    name = OUTCOMES.get(status // 100, "other") if status is not None else "unreachable"
    _labelled("gone" if status == 410 else name).inc()
    if status is not None and outcome.response_time_ms is not None:
        ANSWERED.observe(outcome.response_time_ms / 1000)
