"""How jobs move, and what plans allow of them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rules import plans
from rules.errors import Invalid, JobLimitReached
from rules.moves import Move, take
from rules.plans import Plan

MOVES = {
    "publish": Move({"draft"}, "open", stamp="published_at", event="job.published"),
    "close": Move({"open"}, "closed", stamp="closed_at", event="job.closed"),
}

# Settings that need more than the starter plan.
GATED = {"cv_analysis_enabled": "cv_analysis", "team_id": "squads", "squad_id": "squads"}

# Paths of the contract that a slug must not hide.
RESERVED_SLUGS = {"create", "embed"}


def publish(
    status: str,
    *,
    expires_at: datetime | None,
    assessment_status: str | None,
    pipeline_archived: bool,
    limit: int | None,
    open_jobs: int,
    now: datetime,
) -> Move:
    """Say how a draft opens, or refuse: not a draft, not fit, or the plan is full."""
    move = take(MOVES, "publish", status)
    if expires_at is not None and expires_at <= now:
        raise Invalid.at("/expires_at", "The job has already expired; choose a later moment or none.")
    if assessment_status == "archived":
        raise Invalid.at("/assessment_id", "The linked assessment is archived.")
    if pipeline_archived:
        raise Invalid.at("/pipeline_id", "The linked pipeline is archived.")
    if limit is not None and open_jobs >= limit:
        raise JobLimitReached(limit=limit, used=open_jobs)
    return move


def close(status: str) -> Move:
    """Say how an open job closes, or refuse."""
    return take(MOVES, "close", status)


def check_plan(plan: Plan, settings: Mapping[str, Any]) -> None:
    """Refuse settings that the plan does not include."""
    plans.require_for(plan.name, settings, GATED)
