"""Everything that is held on a person, as it stands in the database; of links and keys of ours only their names."""

import re
from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from rules.clock import iso
from store.database.prepared import Prepared
from store.people.candidates import Candidate

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?[+-]\d\d:\d\d")
OURS = (
    "'organisation_id', 'email_key', 'token', 'retake_of', 'key', 'content', 'candidate_token', 'interviewer_token', "
    "'claimed_by', 'claimed_until'"
)
HELD = {
    "applications": f"""
        SELECT to_jsonb(application) - ARRAY[{OURS}] || jsonb_build_object(
            'answers', (SELECT coalesce(jsonb_agg(to_jsonb(answer) ORDER BY id), '[]')
                        FROM application_answers AS answer WHERE application_id = application.id),
            'events', (SELECT coalesce(jsonb_agg(to_jsonb(line) ORDER BY id), '[]')
                       FROM application_events AS line WHERE application_id = application.id),
            'screening', (SELECT to_jsonb(screening) FROM screenings AS screening
                          WHERE application_id = application.id)
        ) AS held
        FROM applications AS application WHERE candidate_id = :id ORDER BY id
    """,  # noqa: S608 - names of our own
    "invitations": f"""
        SELECT to_jsonb(invitation) - ARRAY[{OURS}] || jsonb_build_object(
            'sessions', (
                SELECT coalesce(jsonb_agg(to_jsonb(sitting) || jsonb_build_object(
                    'cases', (SELECT coalesce(jsonb_agg(to_jsonb(one) - ARRAY[{OURS}] ORDER BY case_order), '[]')
                              FROM session_cases AS one WHERE session_id = sitting.id),
                    'violations', (SELECT coalesce(jsonb_agg(to_jsonb(seen) ORDER BY id), '[]')
                                   FROM violations AS seen WHERE session_id = sitting.id),
                    'recordings', (SELECT coalesce(jsonb_agg(to_jsonb(tape) - ARRAY[{OURS}, 'track']
                                                             ORDER BY started_ms, id), '[]')
                                   FROM recordings AS tape WHERE session_id = sitting.id)
                )), '[]')
                FROM sessions AS sitting WHERE invitation_id = invitation.id
            )
        ) AS held
        FROM invitations AS invitation WHERE candidate_id = :id ORDER BY id
    """,  # noqa: S608 - names of our own
    "enrollments": f"""
        SELECT to_jsonb(enrollment) - ARRAY[{OURS}] || jsonb_build_object(
            'history', (SELECT coalesce(jsonb_agg(to_jsonb(line) ORDER BY id), '[]')
                        FROM enrollment_events AS line WHERE enrollment_id = enrollment.id),
            'notes', (SELECT coalesce(jsonb_agg(to_jsonb(note) ORDER BY id), '[]')
                      FROM enrollment_notes AS note WHERE enrollment_id = enrollment.id)
        ) AS held
        FROM enrollments AS enrollment WHERE candidate_id = :id ORDER BY id
    """,  # noqa: S608 - names of our own
    "interviews": f"""
        SELECT to_jsonb(interview) - ARRAY[{OURS}, 'ics_sequence', 'last_number', 'due_at'] || jsonb_build_object(
            'questions', (SELECT coalesce(jsonb_agg(jsonb_build_object(
                              'id', id, 'title', title, 'body', body, 'current_code', current_code,
                              'current_language', current_language
                          ) ORDER BY position), '[]')
                          FROM interview_questions WHERE interview_id = interview.id),
            'events', (SELECT coalesce(jsonb_agg(to_jsonb(line) ORDER BY number), '[]')
                       FROM interview_events AS line WHERE interview_id = interview.id),
            'document', (SELECT coalesce(jsonb_agg(encode(update, 'base64') ORDER BY number), '[]')
                         FROM interview_updates WHERE interview_id = interview.id)
        ) AS held
        FROM interviews AS interview WHERE candidate_id = :id ORDER BY id
    """,  # noqa: S608 - names of our own
    "offers": f"""
        SELECT to_jsonb(offer) - ARRAY[{OURS}] AS held
        FROM offers AS offer JOIN applications ON applications.id = offer.application_id
        WHERE applications.candidate_id = :id ORDER BY offer.id
    """,  # noqa: S608 - names of our own
    "files": """
        SELECT to_jsonb(file) AS held
        FROM attachments AS file JOIN applications ON applications.id = file.application_id
        WHERE applications.candidate_id = :id ORDER BY file.id
    """,
}
_HELD = {name: Prepared(text(statement)) for name, statement in HELD.items()}


def everything(session: Session, candidate: Candidate) -> dict[str, list[dict[str, Any]]]:
    """Read every row that is of a person, by its kind; files with the key of their content."""
    return {
        name: [_written(row.held) for row in statement.all(session, id=candidate.id)]
        for name, statement in _HELD.items()
    }


def _written(held: Any, name: str = "") -> Any:
    """Write moments as all answers have them."""
    if isinstance(held, dict):
        return {key: _written(value, key) for key, value in held.items()}
    if isinstance(held, list):
        return [_written(value) for value in held]
    return (
        iso(datetime.fromisoformat(held))
        if isinstance(held, str) and name.endswith("_at") and MOMENT.fullmatch(held)
        else held
    )
