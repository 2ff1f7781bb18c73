"""The funnel: of the applications of a span of days, how many came how far, and how long it took them.

Read from the history itself, in one statement, so that all figures are of one moment.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from itertools import pairwise
from typing import Any
from uuid import UUID

from sqlalchemy import text

from rules.caller import Caller
from store.database.engine import Reading, set_for
from store.database.prepared import Prepared

MOST = 20  # jobs, origins

# When an application first reached each stage; null where it never did.
STAGES = {
    "applied": "came.submitted_at",
    "passed_knockouts": "CASE WHEN failed.application_id IS NULL THEN came.submitted_at END",
    "screened": "came.first_screened_at",
    "advanced": "came.first_advanced_at",
    "assessed": "sittings.completed",
    "passed_assessment": "sittings.passed",
    "interviewed": "talks.ended",
    "offered": "letters.sent",
    "accepted": "letters.accepted",
    "hired": "came.first_hired_at",
}
# What is reached in the moment of the stage before it: there is no need to put a million zeros in order.
AT_ONCE = {"passed_knockouts": "CASE WHEN count(passed_knockouts) > 0 THEN CAST(0 AS float8) END"}
_STEPS = tuple(pairwise(STAGES))
_REACHED = ", ".join(f"{moment} AS {stage}" for stage, moment in STAGES.items())
# Of those that reached both; what was reached before the stage before it took no time.
_MEDIAN = """percentile_cont(0.5) WITHIN GROUP (
    ORDER BY CASE WHEN {after} > {before} THEN date_part('epoch', {after} - {before}) ELSE 0 END
) FILTER (WHERE {after} IS NOT NULL AND {before} IS NOT NULL)"""
_FIGURES = [
    f'count({after}) AS "{after}.count",'
    f' count(*) FILTER (WHERE {after} IS NOT NULL AND {before} IS NOT NULL) AS "{after}.came",'
    f' {AT_ONCE.get(after) or _MEDIAN.format(before=before, after=after)} AS "{after}.seconds"'
    for before, after in _STEPS
]
# Most applications end before they come to this one: what all come to is counted apart from what few do.
_FEW = list(STAGES).index("advanced")
_LATER = ", ".join(list(STAGES)[_FEW:])


def _named(table: str, steps: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f'{table}."{after}.{one}"' for _, after in steps for one in ("count", "came", "seconds"))


_COHORT = """
    applications.organisation_id = :organisation_id AND applications.livemode = :livemode
    AND applications.submitted_at >= :first AND applications.submitted_at <= :last
    AND (CAST(:job_id AS uuid) IS NULL OR applications.job_id = CAST(:job_id AS uuid))
    AND (NOT CAST(:by_team AS boolean) OR applications.job_id IN (
        SELECT id FROM jobs
        WHERE organisation_id = :organisation_id AND livemode = :livemode
          AND team_id IS NOT DISTINCT FROM CAST(:team_id AS uuid)
    ))
"""
# An application leads to assessments by its enrollment's stages, or straight to one; any attempt at them counts. It
# leads to interviews by its enrollment alone: a room of nobody's enrollment is of no application. An
# offer goes out after its application came in, so those before the span are nobody's.
_FUNNEL = Prepared(
    text(f"""
    WITH led AS NOT MATERIALIZED (
        SELECT id, invitation_id, enrollment_id FROM applications
        WHERE {_COHORT} AND (invitation_id IS NOT NULL OR enrollment_id IS NOT NULL)
    ), came AS NOT MATERIALIZED (
        SELECT id, submitted_at, job_id, source, origin, first_screened_at, first_advanced_at, first_hired_at
        FROM applications WHERE {_COHORT}
    ), failed AS (
        SELECT application_id FROM screenings WHERE l1_passed IS NOT TRUE
    ), invited AS (
        SELECT id AS application_id, invitation_id FROM led WHERE invitation_id IS NOT NULL
        UNION ALL
        SELECT led.id, invitations.id
        FROM led
        JOIN invitations AS newest ON newest.id = led.invitation_id AND newest.attempt > 1
        JOIN invitations ON invitations.candidate_id = newest.candidate_id
                        AND invitations.assessment_id = newest.assessment_id
        UNION ALL
        SELECT led.id, invitations.id
        FROM led
        JOIN enrollments ON enrollments.id = led.enrollment_id
        JOIN pipeline_stages AS stage ON stage.pipeline_id = enrollments.pipeline_id
                                     AND stage.position <= enrollments.current_stage
        JOIN invitations ON invitations.candidate_id = enrollments.candidate_id
                        AND invitations.assessment_id = stage.assessment_id
    ), sittings AS (
        SELECT application_id, min(completed_at) AS completed, min(settled_at) FILTER (WHERE passed) AS passed
        FROM invited JOIN sessions ON sessions.invitation_id = invited.invitation_id
        WHERE completed_at IS NOT NULL
        GROUP BY application_id
    ), talks AS (
        SELECT led.id AS application_id, min(interviews.ended_at) AS ended
        FROM led JOIN interviews ON interviews.pipeline_enrollment_id = led.enrollment_id
        WHERE interviews.ended_at IS NOT NULL
        GROUP BY led.id
    ), letters AS (
        SELECT application_id, min(sent_at) AS sent,
               min(responded_at) FILTER (WHERE status = 'accepted') AS accepted
        FROM offers
        WHERE organisation_id = :organisation_id AND livemode = :livemode AND sent_at >= :first
        GROUP BY application_id
    ), reached AS MATERIALIZED (
        SELECT job_id, source, origin, {_REACHED}
        FROM came
        LEFT JOIN failed ON failed.application_id = came.id
        LEFT JOIN sittings ON sittings.application_id = came.id
        LEFT JOIN talks ON talks.application_id = came.id
        LEFT JOIN letters ON letters.application_id = came.id
    ), counted AS MATERIALIZED (
        SELECT source, origin, job_id, count(*) AS applied, count(hired) AS hired
        FROM reached GROUP BY source, origin, job_id
    ), early AS (
        SELECT count(*) AS applied, {", ".join(_FIGURES[: _FEW - 1])} FROM reached
    ), late AS (
        SELECT {", ".join(_FIGURES[_FEW - 1 :])} FROM reached WHERE coalesce({_LATER}) IS NOT NULL
    )
    SELECT (
        SELECT coalesce(jsonb_agg(to_jsonb(one)), '[]') FROM (
            SELECT source, sum(applied) AS applied, sum(hired) AS hired
            FROM counted GROUP BY source ORDER BY applied DESC, source
        ) AS one
    ) AS by_source, (
        SELECT coalesce(jsonb_agg(to_jsonb(one)), '[]') FROM (
            SELECT origin, sum(applied) AS applied, sum(hired) AS hired FROM counted
            WHERE origin IS NOT NULL GROUP BY origin ORDER BY applied DESC, hired DESC, origin LIMIT {MOST}
        ) AS one
    ) AS by_origin, (
        SELECT coalesce(jsonb_agg(to_jsonb(one)), '[]') FROM (
            SELECT job_id, jobs.slug AS job_slug, jobs.title, applied, hired
            FROM (
                SELECT job_id, sum(applied) AS applied, sum(hired) AS hired
                FROM counted GROUP BY job_id ORDER BY applied DESC, hired DESC, job_id LIMIT {MOST}
            ) AS most JOIN jobs ON jobs.id = most.job_id
            ORDER BY applied DESC, hired DESC, job_id
        ) AS one
    ) AS by_job, early.applied, {_named("early", _STEPS[: _FEW - 1])}, {_named("late", _STEPS[_FEW - 1 :])}
    FROM early, late
    """),  # noqa: S608 - parts of our own
    planned_by_values=True,
)

# Few rows of many are looked up rather than sought by reading all of them. At the usual 1.1 it has not been measured.
_DISK = "SET LOCAL random_page_cost = 2"


@dataclass(frozen=True)
class Step:
    """How many reached a stage, and of those of the stage before it: how many, and in how many seconds half of them."""

    count: int
    came: int = 0
    seconds: float | None = None


@dataclass(frozen=True)
class Funnel:
    """The stages by name, in order; what came by each source, origin and job."""

    stages: dict[str, Step]
    by_source: list[dict[str, Any]]
    by_origin: list[dict[str, Any]]
    by_job: list[dict[str, Any]]


def read(
    reading: Reading,
    caller: Caller,
    first: date,
    last: date,
    *,
    job_id: UUID | None = None,
    team_id: str | None = None,
) -> Funnel:
    """Read the funnel of what came from one day to another, both included; of one job, of one squad's or of none's."""
    with set_for(reading, _DISK):
        row = _FUNNEL.first(
            reading,
            caller,
            first=datetime.combine(first, time.min, UTC),
            last=datetime.combine(last, time.max, UTC),  # to the microsecond, as PostgreSQL has it
            job_id=job_id,
            by_team=team_id is not None,
            team_id=None if team_id in (None, "null") else UUID(team_id),
        )
    steps = {stage: Step(*getattr(row, stage)) for _, stage in _STEPS}
    return Funnel({"applied": Step(row.applied), **steps}, row.by_source, row.by_origin, row.by_job)
