"""What each plan includes, in one table."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from rules.errors import PlanRequired

RANKS = ("starter", "growth", "enterprise")

# The lowest plan that has a feature; a feature that is not here belongs to every plan.
GATES = {
    "assistant": "starter",
    "screen_recording": "growth",
    "webcam_recording": "growth",
    "pool_mode": "growth",
    "squads": "growth",
    "team_filters": "growth",
    "pipelines": "growth",
    "offers": "growth",
    "insights": "growth",
    "cv_analysis": "growth",
    "hybrid_interviews": "growth",
}


@dataclass(frozen=True)
class Plan:
    """A plan's numbers; None is unlimited."""

    name: str
    invites: int | None  # per calendar month (UTC)
    assessments: int | None  # not archived
    cases: int  # per assessment
    open_jobs: int | None
    interviews: int | None  # per calendar month (UTC)
    seats: int | None
    reads: int  # per rolling hour
    writes: int  # per rolling hour


PLANS = {
    plan.name: plan
    for plan in (
        Plan("starter", 500, 15, 30, 5, 20, 5, 500, 100),
        Plan("growth", 1_000, 50, 60, 25, 100, 15, 2_000, 400),
        Plan("enterprise", None, None, 200, None, None, None, 10_000, 2_000),
    )
}

# Requests per rolling hour and organisation, whatever the plan.
EXTRA_CAPS = {"bulk_invite": 20, "bulk_enroll": 20, "public_api_assistant": 30, "briefs": 200}


def override(text: str) -> None:
    """Replace numbers of the tables from the operator's JSON, `{"starter": {"invites": 50}, "caps": {…}}`.

    Raises ValueError naming a plan, number or cap that does not exist.
    """
    for name, numbers in json.loads(text).items():
        if name == "caps":
            if unknown := set(numbers) - set(EXTRA_CAPS):
                raise ValueError(f"There is no cap {', '.join(sorted(unknown))}.")
            EXTRA_CAPS.update(numbers)
            continue
        if name not in PLANS:
            raise ValueError(f"There is no plan {name!r}; the plans are {', '.join(PLANS)}.")
        if unknown := set(numbers) - (set(asdict(PLANS[name])) - {"name"}):
            raise ValueError(f"Plan {name!r} has no {', '.join(sorted(unknown))}.")
        PLANS[name] = replace(PLANS[name], **numbers)


def includes(plan: str, feature: str) -> bool:
    """Say whether a plan has a feature."""
    return RANKS.index(plan) >= RANKS.index(GATES.get(feature, RANKS[0]))


def require(plan: str, feature: str) -> None:
    """Refuse what the plan does not include."""
    if not includes(plan, feature):
        raise PlanRequired(required_plan=GATES[feature], feature=feature)


def require_for(plan: str, settings: Mapping[str, Any], gated: Mapping[str, str]) -> None:
    """Refuse settings that are switched on and need a feature that the plan does not include."""
    for name, feature in gated.items():
        if settings.get(name):
            require(plan, feature)
