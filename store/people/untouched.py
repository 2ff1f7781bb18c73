"""Profiles of whom nothing has happened for as long as their organisation keeps them."""

from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from rules.caller import Caller
from store.branding.settings import Settings
from store.database.due import DueByOwner
from store.database.prepared import Prepared
from store.people.candidates import Candidate

DUE = DueByOwner(
    "candidates",
    Candidate,
    Candidate.updated_at,
    Candidate.gone_at.is_(None),
    days=Settings.candidates_days,
    are_set=Settings.candidates_days.is_not(None),
    most=timedelta(days=3_650),
)

# A profile is not changed by all that happens to its person.
_LATEST = Prepared(
    text("""
    WITH people AS (
        SELECT id FROM candidates WHERE id = :id OR merged_into = :id
    ), applied AS (
        SELECT id, updated_at FROM applications WHERE candidate_id IN (SELECT id FROM people)
    ), invited AS (
        SELECT id, updated_at FROM invitations WHERE candidate_id IN (SELECT id FROM people)
    ), sat AS (
        SELECT id, updated_at FROM sessions WHERE invitation_id IN (SELECT id FROM invited)
    ), met AS (
        SELECT id, updated_at FROM interviews WHERE candidate_id IN (SELECT id FROM people)
    )
    SELECT max(updated_at) AS moment FROM (
        SELECT updated_at FROM applied
        UNION ALL SELECT updated_at FROM invited
        UNION ALL SELECT updated_at FROM sat
        UNION ALL SELECT updated_at FROM session_cases WHERE session_id IN (SELECT id FROM sat)
        UNION ALL SELECT updated_at FROM offers WHERE application_id IN (SELECT id FROM applied)
        UNION ALL SELECT updated_at FROM enrollments WHERE candidate_id IN (SELECT id FROM people)
        UNION ALL SELECT updated_at FROM met
        UNION ALL SELECT (
            SELECT at FROM interview_events WHERE interview_id = met.id ORDER BY number DESC LIMIT 1
        ) FROM met
        UNION ALL SELECT updated_at FROM scorecards WHERE candidate_id IN (SELECT id FROM people)
        UNION ALL SELECT created_at FROM candidate_notes WHERE candidate_id IN (SELECT id FROM people)
    ) AS happened
    """)
)
_NOTE = Prepared(
    text("""
    UPDATE candidates SET updated_at = :moment, last_activity_at = greatest(last_activity_at, :moment) WHERE id = :id
    """)
)


def happened_since(session: Session, caller: Caller, id: UUID) -> bool:
    """Say whether something happened to a held profile's person later than to the profile, which is told of it."""
    moment: datetime | None = _LATEST.first(session, id=id).moment
    row = session.get_one(Candidate, id)
    if moment is None or moment <= row.updated_at:
        return False
    _NOTE.run(session, caller, id=id, moment=moment)
    return True
