"""The steps of screening after the knockouts: which there are, what they start from, what they leave."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

# What each action runs, in order. Each step starts from what the one before it left.
ACTIONS: dict[str, tuple[str, ...]] = {
    "full": ("parse", "score", "brief"),
    "rerun_parse": ("parse",),
    "rescore": ("score",),
    "rerun_brief": ("brief",),
}
USED_UP = "The hour's briefs of the organisation are used up; run the brief again later."
NO_BRIEF = "The AI brief is switched off for this job, or not in the organisation's plan."


@dataclass(frozen=True)
class Task:
    """Everything that screening one application needs, taken out of the database."""

    application_id: UUID
    action: str
    cv: str | None  # where the CV is kept
    received: date | None  # the day on which it came: what its "present" means, whenever it is read
    profile: Mapping[str, Any] | None
    parse_error: str
    answers: Sequence[Mapping[str, Any]]
    requirements: Sequence[Mapping[str, Any]]
    job_title: str
    job_text: str
    brief: bool  # whether the job wants one and the plan has it
    briefed_on: str | None = None  # what the brief that is there was written on; None: there is none

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps to take; a brief that nobody wants is none unless it is all that was asked for."""
        steps = ACTIONS[self.action]
        return tuple(step for step in steps if step != "brief" or self.brief or len(steps) == 1)


@dataclass
class Outcome:
    """What the steps found: columns of the screening, and the score if there is a new one."""

    changes: dict[str, Any] = field(default_factory=dict)
    scored: bool = False
    l3_score: Decimal | None = None
    later: str | None = None  # the action that takes longer than the request has
    brief_later: bool = False  # all but the brief is done, which has a queue of its own


def status(*, parse_error: str, model_version: str, brief: str, parsed_last: bool) -> str:
    """Say how far screening got."""
    if parse_error:
        return "failed"
    if parsed_last or not model_version:
        return "parsed"
    return "briefed" if brief else "scored"
