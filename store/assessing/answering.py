"""The cases of a session, as its candidate meets and answers them."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

import rules.sessions
from store import telling
from store.assessing.sessions import CandidateSession, SessionCase
from store.database.engine import Change
from store.database.prepared import Prepared, is_on_loop, rows


def cases(session: Session, candidate_session: CandidateSession) -> list[SessionCase]:
    """List a session's cases in the candidate's order."""
    of_session = select(SessionCase).where(SessionCase.session_id == candidate_session.id)
    return list(session.scalars(of_session.order_by(SessionCase.case_order)))


def count_cases(session: Session, candidate_session: CandidateSession) -> int:
    """Count a session's cases."""
    of_session = SessionCase.session_id == candidate_session.id
    return session.scalar(select(func.count()).select_from(SessionCase).where(of_session)) or 0


def case(session: Session, candidate_session: CandidateSession, place: UUID) -> SessionCase | None:
    """Find one case of a session by the place it was taken from."""
    return session.scalar(
        select(SessionCase).where(
            SessionCase.session_id == candidate_session.id, SessionCase.assessment_case_id == place
        )
    )


# Without what may be long and decides nothing about an answer.
_OPEN = Prepared(
    text("""
    SELECT invitations.status, invitations.expires_at, sessions.deadline_at, clock_timestamp() AS moment,
           content - ARRAY['question', 'test_cases', 'starter_code'] AS content
    FROM invitations
    JOIN sessions ON sessions.invitation_id = invitations.id
    JOIN session_cases ON session_cases.session_id = sessions.id AND assessment_case_id = CAST(:place AS uuid)
    WHERE token = :token
    """)
)
# The session's own moment is the last save's, also where this waited for that: what cases say is as it was when the
# statement began. They know what processes of the version before have saved.
SPENT = "floor(extract(epoch FROM :moment - started_at)) - floor(extract(epoch FROM last - started_at))"
_SAVE = Prepared(
    text(f"""
    WITH held AS MATERIALIZED (
        SELECT sessions.id, sessions.started_at, sessions.saved_at
        FROM invitations JOIN sessions ON sessions.invitation_id = invitations.id
        WHERE token = :token AND status = 'started' AND sessions.completed_at IS NULL
          AND (deadline_at IS NULL OR deadline_at > CAST(:moment AS timestamptz))
        FOR NO KEY UPDATE
    ), since AS (
        SELECT id, started_at, greatest(saved_at, (
            SELECT max(saved_at) FROM session_cases WHERE session_id = held.id
        ), started_at) AS last FROM held
    ), kept AS (
        UPDATE session_cases
        SET answer = CAST(:answer AS jsonb), language = coalesce(:language, language),
            saved_at = :moment, updated_at = :moment,
            time_spent_seconds = time_spent_seconds + greatest(0, {SPENT})
        FROM since WHERE session_id = since.id AND assessment_case_id = CAST(:place AS uuid)
        RETURNING session_id
    ), noted AS (
        UPDATE sessions SET saved_at = greatest(saved_at, :moment) FROM kept WHERE sessions.id = kept.session_id
    )
    SELECT CAST(count(*) AS int) AS made FROM kept
    """)  # noqa: S608 - a part of our own
)


class Place(NamedTuple):
    """A case of a running session, where an answer may be kept."""

    token: str
    id: UUID  # of the place that the case was taken from
    content: dict[str, Any]  # at least what says which answers there are
    deadline_at: datetime | None
    moment: datetime  # of the database's clock


def place(alone: Change, token: str, id: UUID) -> Place:
    """Find, without a lock, where an answer may be kept; raises NeedsTransaction where it may not."""
    found = _OPEN.first(alone, token=token, place=id)
    if found is None:
        raise telling.NeedsTransaction
    moments = {"expires_at": found.expires_at, "deadline_at": found.deadline_at, "moment": found.moment}
    if rules.sessions.status(found.status, **moments) != "started":
        raise telling.NeedsTransaction
    return Place(token, id, found.content, found.deadline_at, found.moment)


def save(change: Change, place: Place, answer: Any, language: str | None = None) -> None:
    """Keep an answer (None clears it); the time since the candidate's last save was spent on this case."""
    written = _SAVE.bound(
        token=place.token,
        place=place.id,
        moment=place.moment,
        answer=None if answer is None else rows([answer]),
        language=language,
    )
    if is_on_loop(change):
        telling.leave(change, written)
    else:
        written.run(change)
