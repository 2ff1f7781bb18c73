"""Figures over an organisation's assessments."""

from typing import Any

from sqlalchemy import text

from rules.caller import Caller
from store.accounts import squads
from store.database.engine import Means
from store.database.prepared import Prepared

# A verdict stands once nothing waits for review.
_FIGURES = """
    WITH mine AS (
        SELECT id, status FROM assessments
        WHERE organisation_id = :organisation_id AND livemode = :livemode {of}
    ), invited AS (
        SELECT count(*) AS total_invites, count(DISTINCT email_key) AS total_candidates
        FROM mine JOIN invitations ON invitations.assessment_id = mine.id
    ), sat AS (
        SELECT count(*) FILTER (WHERE sessions.completed_at IS NOT NULL) AS completed_assessments,
               count(DISTINCT email_key) FILTER (WHERE settled_at IS NOT NULL AND passed) AS passed_candidates,
               count(*) FILTER (WHERE settled_at IS NOT NULL AND passed)::numeric
                   / nullif(count(*) FILTER (WHERE settled_at IS NOT NULL AND passed IS NOT NULL), 0) AS pass_rate,
               avg(score_percentage) FILTER (WHERE settled_at IS NOT NULL) AS average_score_percentage
        FROM mine
        JOIN sessions ON sessions.assessment_id = mine.id
        JOIN invitations ON invitations.id = sessions.invitation_id
    )
    SELECT total_invites, total_candidates, completed_assessments, passed_candidates, pass_rate,
           average_score_percentage, (SELECT count(*) FROM mine WHERE status = 'active') AS active_assessments
    FROM invited, sat
"""
_EVERYTHING = Prepared(text(_FIGURES.format(of="")))
_OF_A_SQUAD = Prepared(
    text(_FIGURES.format(of="AND team_id IS NOT DISTINCT FROM CAST(:team_id AS uuid)")),
    planned_by_values=True,
)


def read(means: Means, caller: Caller, team_slug: str | None) -> Any:
    """Read the figures of all assessments, of one squad's, or of those of none (the word null)."""
    if team_slug is None:
        return _EVERYTHING.first(means, caller)
    team_id = None if team_slug == "null" else squads.find_slug(means, caller, team_slug)
    return _OF_A_SQUAD.first(means, caller, team_id=team_id)
