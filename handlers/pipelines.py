"""Pipelines and their stages."""

from typing import Any

from sqlalchemy.orm import Session

from rules import pipelines as rules
from rules import plans
from rules.caller import Caller
from rules.clock import now
from rules.pages import Page
from schemas import pipelines as schemas
from store.accounts import organisations, squads
from store.advancing import pipelines
from store.advancing.pipelines import Pipeline
from store.assessing import assessments
from store.database.engine import Reading
from store.interviewing import templates

Body = dict[str, Any]


def list_pipelines(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List pipelines that are not archived, newest first."""
    if query["team_id"] is not None or query["team_slug"] is not None:
        plans.require(caller.plan_name, "team_filters")
    return pipelines.LIST.page(reading, caller, **query).map(schemas.item)


def get_pipeline(session: Session, caller: Caller, slug: str) -> Body:
    """Show one pipeline."""
    return schemas.detail(pipelines.get(session, caller, slug))


def create_pipeline(session: Session, caller: Caller, body: Body) -> Body:
    """Make a pipeline with its stages."""
    settings, given = _apart(session, caller, body)
    _, stages = rules.restage(given, **_named(session, caller, given))
    organisations.lock(session, caller)
    pipeline = pipelines.create(session, caller, settings)
    pipelines.restage(session, pipeline, 0, stages)
    return _shown(session, caller, pipeline)


def update_pipeline(session: Session, caller: Caller, slug: str, body: Body) -> Body:
    """Change settings; `stages` is the full list."""
    rules.check_plan(caller.plan, body)
    settings, given = _apart(session, caller, body)
    pipeline = pipelines.get(session, caller, slug, for_update=True)
    if "archived" in settings:
        settings["archived_at"] = (pipeline.archived_at or now()) if settings.pop("archived") else None
    pipeline.change(settings)
    if given:
        named = _named(session, caller, given)
        stand, stages = rules.restage(given, there=pipeline.stages, locked=pipeline.stages_locked, **named)
        pipelines.restage(session, pipeline, stand, stages)
    return _shown(session, caller, pipeline)


def _named(session: Session, caller: Caller, given: list[Body]) -> Body:
    """Look for what stages name: assessments, and templates of interviews."""
    return {
        "found": assessments.find_all(session, caller, rules.assessments(given)),
        "templates": templates.known(session, caller, rules.templates(given)),
    }


def _apart(session: Session, caller: Caller, body: Body) -> tuple[Body, list[Body]]:
    """Part the settings, whose squad has to be there, from the stages; none where none are named."""
    squads.named(session, caller, body.get("team_id"))
    return {name: value for name, value in body.items() if name != "stages"}, body.get("stages", [])


def _shown(session: Session, caller: Caller, pipeline: Pipeline) -> Body:
    """Show a pipeline as it is now, with all that belongs to it."""
    session.flush()
    session.expire(pipeline, ["team", "stages"])
    return schemas.detail(pipelines.get(session, caller, str(pipeline.id)))
