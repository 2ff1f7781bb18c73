"""Rate limits, counted after identity and before the body."""

from typing import Any

from connexion.middleware.abstract import RoutedAPI, RoutedMiddleware
from connexion.operations import AbstractOperation
from starlette.concurrency import run_in_threadpool

from app.http import context
from rules.caller import Caller
from rules.errors import RateLimited
from rules.plans import EXTRA_CAPS
from store.accounts import limits
from store.accounts.limits import Limit

_candidate_limit = 600
UNCOUNTED = "none"


def configure(candidate_limit: int) -> None:
    """Set how many requests a minute one candidate address may make."""
    global _candidate_limit  # noqa: PLW0603 - one process, one setting
    _candidate_limit = candidate_limit


def applying(caller: Caller | None, address: str, *, reads: bool, cap: str | None) -> list[Limit]:
    """List the limits that a request counts against; `cap` is the operation's `x-limit`.

    A cap named `public_api_…` is a throttle of its own and stands instead of the hour's writes; with `none` nothing
    is counted.
    """
    if cap == UNCOUNTED:
        return []
    if caller is None:
        return [Limit(f"limit:address:{address}", _candidate_limit, 60)]
    organisation = f"limit:{caller.organisation_id}"
    extra = [Limit(f"{organisation}:{cap}", EXTRA_CAPS[cap])] if cap else []
    if cap and cap.startswith("public_api_"):
        return extra
    plan = caller.plan
    hour = (
        Limit(f"{organisation}:reads", plan.reads) if reads else Limit(f"{organisation}:writes", plan.writes)
    )
    return [hour, *extra]


def count(request: context.Request, caller: Caller | None, *, reads: bool, cap: str | None) -> None:
    """Count a request, or refuse it; the answer will carry where the limit stands."""
    counted = applying(caller, request.address, reads=reads, cap=cap)
    if not counted:
        return
    standing, wait = limits.take(counted)
    request.headers |= {
        "X-RateLimit-Limit": str(standing.limit),
        "X-RateLimit-Remaining": str(standing.remaining),
        "X-RateLimit-Reset": str(standing.reset),
    }
    if wait is not None:
        raise RateLimited(wait)


class _Operation:
    def __init__(self, next_app: Any, *, reads: bool, cap: str | None) -> None:
        self.next_app, self.reads, self.cap = next_app, reads, cap

    async def __call__(self, scope: context.Scope, receive: Any, send: Any) -> None:
        request, caller = context.of(scope), context.caller(scope)
        await run_in_threadpool(count, request, caller, reads=self.reads, cap=self.cap)
        await self.next_app(scope, receive, send)


class _Api(RoutedAPI):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.add_paths()

    def make_operation(self, operation: AbstractOperation) -> _Operation:
        cap = self.specification.get_operation(operation.path, operation.method).get("x-limit")
        return _Operation(self.next_app, reads=operation.method.upper() == "GET", cap=cap)


class Limits(RoutedMiddleware):
    """The station between security and validation."""

    api_cls = _Api
