"""The cases a candidate gets: drawn from the assessment's, and copied as they stand at the start."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

import rules.grading
import rules.sessions
from store.assessing.assessments import Assessment, AssessmentCase
from store.assessing.cases import Case
from store.database.ids import new_id

COPIED = (
    "title",
    "case_type",
    "difficulty",
    "description",
    "question",
    "points",
    "options",
    "allow_multiple",
    "accepted_answers",
    "language",
    "languages",
    "starter_code",
    "test_cases",
    "rubric",
    "tags",
)


@dataclass(frozen=True)
class Drawn:
    """A case and its place in the assessment."""

    place: AssessmentCase
    case: Case

    @property
    def id(self) -> UUID:
        """The place's id: what a draw is ranked by."""
        return self.place.id

    @property
    def difficulty(self) -> str:
        """What a balanced draw spreads over."""
        return self.case.difficulty


def draw(session: Session, assessment: Assessment, *, seed: str) -> list[Drawn]:
    """Return the assessment's cases in order or, in pool mode, this candidate's own draw of them."""
    rows = session.execute(
        select(AssessmentCase, Case)
        .join(Case, Case.id == AssessmentCase.case_id)
        .where(AssessmentCase.assessment_id == assessment.id)
        .order_by(AssessmentCase.order, AssessmentCase.id)
    )
    everything = [Drawn(place, case) for place, case in rows]
    if not assessment.pool_mode:
        return everything
    return rules.sessions.draw(
        everything, size=assessment.assignment_size, strategy=assessment.shuffle_strategy, seed=seed
    )


def rows(drawn: list[Drawn], *, session_id: UUID, moment: datetime) -> list[dict[str, Any]]:
    """Return the session's cases, in the candidate's order, as rows to insert."""
    return [
        {
            "id": new_id(),
            "created_at": moment,
            "updated_at": moment,
            "session_id": session_id,
            "assessment_case_id": one.id,
            "case_order": number,
            "weight": one.place.weight,
            "content": content(one),
            "time_spent_seconds": 0,
            "max_score": rules.grading.maximum(one.case.points, one.place.weight),
        }
        for number, one in enumerate(drawn, start=1)
    ]


def content(drawn: Drawn) -> dict[str, Any]:
    """Copy a case, correct answers included, ready for JSON; exact numbers become decimal strings."""
    case = drawn.case
    return {name: getattr(case, name) for name in COPIED} | {
        "case_id": str(case.id),
        "answer_number": None if case.answer_number is None else str(case.answer_number),
        "tolerance": None if case.tolerance is None else str(case.tolerance),
        "time_limit_minutes": drawn.place.time_limit_minutes or case.time_limit_minutes,
    }
