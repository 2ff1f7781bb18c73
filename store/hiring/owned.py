"""What belongs to a squad, in both modes."""

from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from store.accounts.squads import Squad
from store.advancing.pipelines import Pipeline
from store.assessing.assessments import Assessment
from store.hiring.jobs import Job

OWNED: tuple[Any, ...] = (Job, Pipeline, Assessment)  # in the order of locks


def has_open_job(session: Session, squad: Squad) -> bool:
    """Say whether any of the squad's jobs is open."""
    mine = select(Job.id).where(
        Job.organisation_id == squad.organisation_id, Job.team_id == squad.id, Job.status == "open"
    )
    return session.scalar(mine.limit(1)) is not None


def release(session: Session, squad: Squad) -> None:
    """Let everything belong to no squad."""
    for model in OWNED:
        session.execute(
            update(model)
            .where(model.organisation_id == squad.organisation_id, model.team_id == squad.id)
            .values(team_id=None)
            .execution_options(synchronize_session=False)
        )
