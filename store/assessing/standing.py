"""Where a result stands among all settled ones of its assessment."""

from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from rules import results as rules
from store.assessing.sessions import CandidateSession
from store.database.prepared import Prepared

NEWEST = 1_000  # settled results, of which medians are taken

_AMONG = Prepared(
    text("""
    SELECT count(*) AS count, count(*) FILTER (WHERE score_percentage < CAST(:own AS numeric)) AS below,
           count(*) FILTER (WHERE score_percentage = CAST(:own AS numeric)) AS equal
    FROM sessions
    WHERE assessment_id = :assessment_id AND settled_at IS NOT NULL AND score_percentage IS NOT NULL
    """)
)
_NEWEST = f"""
    WITH newest AS (
        SELECT id, score_percentage FROM sessions
        WHERE assessment_id = :assessment_id AND settled_at IS NOT NULL AND score_percentage IS NOT NULL
        ORDER BY id DESC LIMIT {NEWEST}
    )
"""  # noqa: S608 - parts of our own, as below
_MEDIAN = "percentile_cont(0.5) WITHIN GROUP (ORDER BY {})"
_WHOLE = Prepared(
    text(f"{_NEWEST} SELECT count(*) AS count, {_MEDIAN.format('score_percentage')} AS share FROM newest")  # noqa: S608
)
_CASES = Prepared(
    text(f"""
    {_NEWEST}
    SELECT assessment_case_id, {_MEDIAN.format("score / max_score * 100")} AS share
    FROM newest JOIN session_cases ON session_cases.session_id = newest.id
    WHERE max_score > 0
    GROUP BY assessment_case_id
    """)  # noqa: S608
)
# A case has the tags of its newest snapshot: opening every one of thirty thousand took most of the time.
_SKILLS = Prepared(
    text(f"""
    {_NEWEST}, graded AS (
        SELECT newest.id AS session_id, session_cases.id, assessment_case_id, score, max_score
        FROM newest JOIN session_cases ON session_cases.session_id = newest.id
        WHERE max_score > 0
    ), snapshots AS (
        SELECT DISTINCT ON (assessment_case_id) assessment_case_id, id
        FROM graded ORDER BY assessment_case_id, session_id DESC
    ), tags AS (
        SELECT snapshots.assessment_case_id, tag
        FROM snapshots JOIN session_cases ON session_cases.id = snapshots.id,
        jsonb_array_elements_text(session_cases.content -> 'tags') AS tag
    ), skills AS (
        SELECT tag, sum(score) / sum(max_score) * 100 AS share
        FROM graded JOIN tags ON tags.assessment_case_id = graded.assessment_case_id
        GROUP BY session_id, tag
    )
    SELECT tag, {_MEDIAN.format("share")} AS share FROM skills GROUP BY tag ORDER BY tag COLLATE "C"
    """)  # noqa: S608
)


def percentile(session: Session, sitting: CandidateSession) -> int | None:
    """Place a settled result among those of its assessment; None where there are too few, or it is not settled."""
    if sitting.settled_at is None or sitting.score_percentage is None:
        return None
    found = _AMONG.first(session, assessment_id=sitting.assessment_id, own=sitting.score_percentage)
    return rules.percentile(found.count, found.below, found.equal)


def medians(session: Session, assessment_id: UUID) -> dict[str, Any]:
    """Return the medians of the newest settled results: how many, of the whole, by case, by tag."""
    whole, cases, skills = (
        one.all(session, assessment_id=assessment_id) for one in (_WHOLE, _CASES, _SKILLS)
    )
    return {"whole": whole[0], "cases": cases, "skills": skills}
