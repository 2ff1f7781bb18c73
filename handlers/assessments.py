"""Assessments, their cases and their results."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from rules import assessments as rules
from rules import plans
from rules.caller import Caller
from rules.errors import CaseNotFound
from rules.pages import Page
from schemas import assessments as schemas
from schemas import results as result_schemas
from schemas.files import Stream
from store import events
from store.accounts import organisations, squads
from store.assessing import assessments, cases, results, standing
from store.assessing.assessments import Assessment, AssessmentCase
from store.assessing.cases import Case
from store.auditing import trail
from store.database.engine import Reading

Body = dict[str, Any]
Readings = Callable[[], AbstractContextManager[Reading]]


def list_assessments(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List assessments, newest first."""
    if query["team_id"] is not None or query["team_slug"] is not None:
        plans.require(caller.plan_name, "team_filters")
    return assessments.LIST.page(reading, caller, **query).map(schemas.item)


def get_assessment(reading: Reading, caller: Caller, slug: str) -> Body:
    """Show one assessment."""
    return schemas.detail(assessments.read(reading, caller, slug))


def create_assessment(session: Session, caller: Caller, body: Body) -> Body:
    """Make a draft, with its cases if any are named."""
    rules.check_plan(caller.plan, body)
    settings, wanted = _apart(session, caller, body)
    places = _find(session, caller, wanted or [])
    _check_room(session, caller)
    rules.check_cases(caller.plan, len(places))
    assessment = assessments.create(session, caller, settings)
    assessments.attach(session, assessment, places)
    return schemas.detail(assessment)


def update_assessment(session: Session, caller: Caller, slug: str, body: Body) -> Body:
    """Change settings and status; `cases` is the full set."""
    rules.check_plan(caller.plan, body)
    settings, wanted = _apart(session, caller, body)
    if "status" in settings:  # which may need room; whatever else changes waits for no other assessment
        organisations.lock(session, caller)
    assessment = assessments.get(session, caller, slug, for_update=True)
    move = rules.move(assessment.status, settings.pop("status", assessment.status))
    if move:
        if assessment.status == "archived":
            _check_room(session, caller)
        events.apply(session, assessment, move)
    assessment.change(settings)
    if wanted is not None:
        _replace(session, caller, assessment, wanted)
    session.flush()
    return schemas.detail(assessment)


def duplicate_assessment(session: Session, caller: Caller, slug: str, body: Body) -> Body:
    """Copy settings and cases into a new draft."""
    original = assessments.get(session, caller, slug)
    rules.check_cases(caller.plan, original.case_count)
    settings = {name: getattr(original, name) for name in assessments.SETTINGS}
    rules.check_plan(caller.plan, settings | {"team_id": original.team_id})
    squads.hold(session, caller, original.team_id)
    session.refresh(original, ["team_id"])  # to none, if the squad was deleted just now
    settings["team"] = settings["team"] if original.team_id else None
    _check_room(session, caller)
    settings["title"] = body.get("title") or f"{original.title[:190]} (copy)"
    copy = assessments.create(session, caller, settings)
    assessments.attach(
        session,
        copy,
        [
            (
                row.case,
                {"order": row.order, "weight": row.weight, "time_limit_minutes": row.time_limit_minutes},
            )
            for row in assessments.attached(session, original)
        ],
    )
    return schemas.detail(copy)


def list_assessment_cases(reading: Reading, caller: Caller, slug: str, **query: Any) -> Page:
    """List an assessment's cases in their order."""
    query["assessment_id"] = assessments.read(reading, caller, slug).id
    return assessments.CASES.page(reading, caller, **query).map(schemas.attached_case)


def attach_cases(session: Session, caller: Caller, slug: str, body: Body) -> list[Body]:
    """Attach cases that are not attached yet."""
    wanted = body.get("cases", [body])
    assessment = assessments.get(session, caller, slug, for_update=True)
    trail.about(session, "assessment", assessment)
    there = {row.case_id for row in assessments.attached(session, assessment)}
    places = [(case, place) for case, place in _find(session, caller, wanted) if case.id not in there]
    rules.check_unlocked(locked=assessment.cases_locked)
    rules.check_cases(caller.plan, len(there) + len(places), used=len(there))
    return [schemas.attached_case(row) for row in assessments.attach(session, assessment, places)]


def replace_cases(session: Session, caller: Caller, slug: str, body: Body) -> list[Body]:
    """Make the given cases the full set."""
    assessment = assessments.get(session, caller, slug, for_update=True)
    trail.about(session, "assessment", assessment)
    return [
        schemas.attached_case(row) for row in _replace(session, caller, assessment, body.get("cases", [body]))
    ]


def remove_case(session: Session, caller: Caller, slug: str, assessment_case_id: UUID) -> None:
    """Take one case out."""
    assessment = assessments.get(session, caller, slug, for_update=True)
    row = assessments.get_attached(session, assessment, assessment_case_id)
    rules.check_unlocked(locked=assessment.cases_locked)
    assessments.detach(session, assessment, [row])


def list_results(reading: Reading, caller: Caller, slug: str, **query: Any) -> Page:
    """List an assessment's sessions, the latest start first."""
    query["assessment_id"] = assessments.read(reading, caller, slug).id
    return results.LIST.page(reading, caller, **query).map(result_schemas.item)


def export_results(readings: Readings, caller: Caller, slug: str, **query: Any) -> Stream:
    """Write an assessment's sessions into a file while it is sent."""
    with readings() as reading:
        found = assessments.read(reading, caller, slug)
    batches = results.LIST.batches(readings, caller, results.EXPORTED, assessment_id=found.id, **query)
    return result_schemas.stream(batches, found.slug)


def compare_results(session: Session, caller: Caller, slug: str, invite_token: list[str]) -> Body:
    """Put some candidates' scores side by side, with the medians of all."""
    assessment = assessments.read(session, caller, slug)
    found = results.of_tokens(session, caller, assessment.id, invite_token)
    return result_schemas.comparison(assessment, found, standing.medians(session, assessment.id))


def _check_room(session: Session, caller: Caller) -> None:
    organisations.lock(session, caller)
    if caller.livemode:
        rules.check_room(caller.plan, assessments.count_kept(session, caller))


def _find(session: Session, caller: Caller, wanted: list[Body]) -> list[tuple[Case, Body]]:
    """Load the cases named, each once, or raise CaseNotFound for the first that is not there."""
    found = cases.find_all(session, caller, [one["case_id"] for one in wanted])
    places: dict[UUID, tuple[Case, Body]] = {}
    for one in wanted:
        case = found.get(one["case_id"])
        if case is None or one["source"] != case.source:
            raise CaseNotFound(case_id=str(one["case_id"]))
        places.setdefault(case.id, (case, one))
    return list(places.values())


def _replace(
    session: Session, caller: Caller, assessment: Assessment, wanted: list[Body]
) -> list[AssessmentCase]:
    there = assessments.attached(session, assessment)
    if rules.is_same(there, wanted):
        return there
    places = _find(session, caller, wanted)
    rules.check_unlocked(locked=assessment.cases_locked)
    rules.check_cases(caller.plan, len(places), used=assessment.case_count)
    assessments.detach(session, assessment, there)
    assessments.attach(session, assessment, places)
    return assessments.attached(session, assessment)


def _apart(session: Session, caller: Caller, body: Body) -> tuple[Body, list[Body] | None]:
    """Part the settings, with the squad itself, from the cases, which are None where none are named."""
    settings = {name: value for name, value in body.items() if name not in ("cases", "team_id")}
    if "team_id" in body:
        settings["team"] = squads.named(session, caller, body["team_id"])
    return settings, body.get("cases")
