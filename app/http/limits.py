"""Rate limits, counted after identity and before the body."""

from functools import lru_cache
from uuid import UUID

from prometheus_client import Counter

from app.http.context import Request
from rules.caller import Caller
from rules.errors import RateLimited
from rules.plans import EXTRA_CAPS
from store.accounts import limits
from store.accounts.limits import Limit

_candidate_limit = 600
MOST = 2**31 - 1  # that the documents have room for
HEALTH, HEALTH_TIMES = "health", 10  # times as often as candidates may ask
MEMBER_LIMIT = 6_000  # an hour of one member's sessions; what they do there is not the organisation's hour
COUNTED_HERE = Counter(
    "hiring_requests_counted_here", "Requests counted in the process: Redis does not answer."
)


def configure(candidate_limit: int) -> None:
    """Set how many requests a minute one candidate address may make."""
    global _candidate_limit  # noqa: PLW0603 - one process, one setting
    _candidate_limit = candidate_limit


@lru_cache(maxsize=1024)
def _named(organisation_id: UUID) -> str:
    return f"limit:{organisation_id}"


def applying(caller: Caller | None, client: str, *, reads: bool, cap: str | None) -> list[Limit]:
    """List the limits that a request counts against; `cap` is the operation's `x-limit`.

    A cap named `public_api_…` is a throttle of its own and stands instead of the hour's writes.
    """
    if cap == HEALTH:
        return [Limit(f"limit:health:{client}", min(_candidate_limit * HEALTH_TIMES, MOST), 60)]
    if caller is None:
        return [Limit(f"limit:address:{client}", _candidate_limit, 60)]
    if caller.person:
        return [Limit(f"limit:member:{caller.person.user_id}", MEMBER_LIMIT)]
    organisation = _named(caller.organisation_id)
    extra = [Limit(f"{organisation}:{cap}", EXTRA_CAPS[cap])] if cap else []
    if cap and cap.startswith("public_api_"):
        return extra
    plan = caller.plan
    hour = (
        Limit(f"{organisation}:reads", plan.reads) if reads else Limit(f"{organisation}:writes", plan.writes)
    )
    return [hour, *extra]


def count(request: Request, *, reads: bool, cap: str | None) -> None:
    """Count a request, or refuse it; the answer will carry where the limit stands."""
    counted = applying(request.caller, request.counts_as, reads=reads, cap=cap)
    # Whether a process can serve has an answer while Redis has none.
    is_health = cap == HEALTH
    standing, wait = limits.take(counted, here=is_health)
    if limits.away() and not is_health:
        COUNTED_HERE.inc()
    request.headers |= {
        "X-RateLimit-Limit": str(standing.limit),
        "X-RateLimit-Remaining": str(standing.remaining),
        "X-RateLimit-Reset": str(standing.reset),
    }
    if wait is not None:
        raise RateLimited(retry_after_seconds=wait)
