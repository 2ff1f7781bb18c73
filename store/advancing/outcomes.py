"""What interviews lead to: the enrollment that a room is of moves with its outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import bindparam
from sqlalchemy.orm import Session

from rules import interviews as rules
from rules.caller import Caller
from rules.clock import now
from rules.errors import NotFound
from store.advancing import engine, enrollments
from store.advancing.enrollments import Enrollment
from store.advancing.pipelines import Stage
from store.database.base import ANYONE, visible
from store.database.prepared import Prepared
from store.interviewing import rooms
from store.interviewing.rooms import Interview
from store.people import candidates, scorecards
from store.people.candidates import Candidate
from store.people.scorecards import Scorecard


@dataclass(frozen=True)
class Judged:
    """What an interviewer made of the candidate, by criteria."""

    author_name: str
    criteria: Sequence[Mapping[str, Any]]  # name and score


_ENROLLED = Prepared(
    visible(ANYONE, Enrollment)
    .outerjoin(
        Stage, (Stage.pipeline_id == Enrollment.pipeline_id) & (Stage.position == Enrollment.current_stage)
    )
    .with_only_columns(
        Enrollment.id,
        Enrollment.email,
        Enrollment.candidate_name,
        Enrollment.current_stage,
        Enrollment.pipeline_id,
        Stage.stage_type,
    )
    .where(Enrollment.id == bindparam("id"))
)


def enrolled(session: Session, caller: Caller, id: UUID | None) -> Any | None:
    """Read the enrollment that a room is to be of, and the kind of stage where it stands; or raise NotFound."""
    if id is None:
        return None
    found = _ENROLLED.first(session, caller, id=id)
    if found is None:
        raise NotFound("There is no such enrollment.")
    return found


def settle(
    session: Session,
    caller: Caller,
    id: UUID,
    recommendation: str,
    comment: str,
    shows: engine.Shows,
    *,
    actor: str,
    judged: Judged | None = None,
) -> tuple[Interview, Scorecard | None]:
    """Keep what an interview leads to, or refuse; its enrollment moves, if it still stands where the interview was.

    On hold it remembers the outcome, as that of any stage. What was judged is a scorecard of the candidate's profile.
    The room is locked last, as it comes after all that a move may need (store.database.locks): who cancels it meanwhile
    has nothing of this happen.
    """
    seen = rooms.get(session, caller, id)
    _check(seen)
    enrollment = enrolled(session, caller, seen.pipeline_enrollment_id)
    if enrollment is not None:
        engine.hold_month(session, caller, enrollment.pipeline_id)
    profile = None
    if judged is not None and judged.criteria and seen.candidate_id is not None:
        profile = candidates.write_on(session, caller, seen.candidate_id)
    if enrollment is not None:
        for one in enrollments.lock(session, Enrollment.id == enrollment.id):
            if seen.stage == one.current_stage and one.completed_at is None:
                way = engine.Way(
                    session, caller, one, engine.stages(session, one.pipeline_id), shows, actor, id
                )
                engine.outcome(way, rules.SIGNALS[recommendation], comment)
        session.flush()
    room = rooms.get(session, caller, id, for_update=True)
    _check(room)
    outcome = {
        "recommendation": recommendation,
        "outcome_comment": comment,
        "outcome_by": actor,
        "outcome_at": now(),
    }
    room.change(outcome)
    card = _score(session, room, profile, judged) if judged and profile else None
    session.flush()
    return room, card


def _score(session: Session, room: Interview, profile: Candidate, judged: Judged) -> Scorecard:
    """Keep one interviewer's scorecard; judging again changes it."""
    scores = {"criteria": list(judged.criteria), "total": rules.total(judged.criteria)}
    known = scorecards.of_interview(session, room.id, judged.author_name)
    if known is None:
        return scorecards.create(
            session, profile, {**scores, "interview_id": room.id, "author_name": judged.author_name}
        )
    known.change(scores)
    return known


def _check(room: Interview) -> None:
    rules.check_outcome(cancelled=rules.was_cancelled(room.session_metadata), status=room.status)
