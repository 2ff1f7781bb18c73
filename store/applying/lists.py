"""Applications as lists show them: in three orders, with what is shown of their jobs and screenings."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Uuid, bindparam, select
from sqlalchemy.orm import Session

from rules.caller import Caller
from rules.pages import Page
from store.applying.applications import Application
from store.applying.screening import Screening
from store.database import pages
from store.database.base import ANYONE, visible
from store.database.engine import Reading
from store.hiring.jobs import Job

_BESIDE: dict[str, pages.Beside] = {
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

# The squad of the job that is asked for, looked at once and not for each of its applications.
_TEAM_ASKED = select(Job.team_id).where(Job.id == bindparam("job_id")).scalar_subquery()


def _of_jobs(*conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    return Application.job_id.in_(visible(ANYONE, Job).where(*conditions).with_only_columns(Job.id))


def _listing(*keys: Any, falls: bool = True) -> pages.Listing:
    team_id = bindparam("team_id", type_=Uuid())
    return pages.Listing(
        visible(ANYONE, Application),
        *keys,
        Application.submitted_at,
        Application.id,
        descending=falls,
        filters={
            "job_id": Application.job_id == bindparam("job_id"),
            "status": Application.status == bindparam("status"),
            "email": Application.email_key == bindparam("email"),
            "updated_after": Application.updated_at > bindparam("updated_after"),
            "team_id": _of_jobs(Job.team_id == team_id),
            "no_team": _of_jobs(Job.team_id.is_(None)),
            "team_asked": _TEAM_ASKED.in_([bindparam("team_asked", type_=Uuid())]),
            "no_team_asked": _TEAM_ASKED.is_(None),
        },
        skewed={"updated_after", "team_id", "no_team"},
        beside=_BESIDE,
    )


_LISTS = {
    "-l3_score": _listing(Application.l3_rank),
    "-submitted_at": _listing(),
    "submitted_at": _listing(falls=False),
}


def page(
    means: Session | Reading,
    caller: Caller,
    *,
    job_id: UUID | None = None,
    status: str | None = None,
    team_id: str | None = None,
    email: str | None = None,
    updated_after: datetime | None = None,
    ordering: str,
    cursor: str | None,
    page_size: int,
) -> Page:
    """Read one page with what lists show of their jobs and screenings."""
    team = ("team_id", "no_team") if job_id is None else ("team_asked", "no_team_asked")
    return _LISTS[ordering].page(
        means,
        caller,
        job_id=job_id,
        status=status,
        email=None if email is None else email.strip().casefold(),
        updated_after=updated_after,
        cursor=cursor,
        page_size=page_size,
        **{
            team[0]: None if team_id in (None, "null") else UUID(team_id),
            team[1]: True if team_id == "null" else None,
        },
    )
