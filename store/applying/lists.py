"""Applications as lists show them: in three orders, with what is shown of their jobs and screenings."""

from typing import Any
from uuid import UUID

from sqlalchemy import Select, Uuid, bindparam, select

from store.applying.applications import Application
from store.applying.screening import Screening
from store.database import listing
from store.database.base import ANYONE, visible
from store.hiring import jobs
from store.hiring.jobs import Job

_BESIDE: dict[str, listing.Beside] = {
    "job": (lambda page: Job.id == page.c.job_id, (Job.slug, Job.title)),
    "screening": (
        lambda page: Screening.application_id == page.c.id,
        (
            Screening.status,
            Screening.l1_passed,
            Screening.l3_breakdown,
            Screening.ai_brief,
            Screening.ai_red_flags,
            Screening.brief_error,
            Screening.auto_advanced,
            Screening.screened_at,
            Screening.parse_error,
        ),
    ),
}


def _of_jobs(*conditions: listing.Condition) -> listing.Condition:
    return Application.job_id.in_(visible(ANYONE, Job).where(*conditions).with_only_columns(Job.id))


def _of_the_job(named: Select[Any]) -> listing.Filter:
    """Look at the squad of the one job that is asked for at once, and not for each of its applications."""
    team_id = named.scalar_subquery()
    return listing.Filter(
        team_id.in_([bindparam("team_id", type_=Uuid())]), instead={"null": team_id.is_(None)}
    )


LIST = listing.Listing(
    visible(ANYONE, Application),
    {
        "-l3_score": (Application.l3_rank, Application.submitted_at, Application.id),
        "-submitted_at": (Application.submitted_at, Application.id),
        "submitted_at": (Application.submitted_at, Application.id),
    },
    {
        "job_id": listing.equals(Application.job_id),
        "job_slug": listing.Filter(Application.job_id == bindparam("job_slug"), find=jobs.find_id),
        "status": listing.equals(Application.status),
        "email": listing.address(Application.email_key),
        "team_id": listing.Filter(
            _of_jobs(Job.team_id == bindparam("team_id", type_=Uuid())),
            read=UUID,
            instead={"null": _of_jobs(Job.team_id.is_(None))},
            together={
                name: _of_the_job(select(Job.team_id).where(Job.id == bindparam(name)))
                for name in ("job_id", "job_slug")
            },
            skewed=True,
        ),
        "updated_after": listing.updated_after(Application),
    },
    _BESIDE,
)
