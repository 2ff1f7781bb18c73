"""What pipelines are made of, and what may change of them once candidates are enrolled."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any
from uuid import UUID

from rules import decimals, plans
from rules.errors import Invalid, StagesLocked
from rules.plans import Plan

# Settings that need more than the starter plan.
GATED = {"team_id": "squads"}

# Paths of the contract that a slug must not hide.
RESERVED_SLUGS = {"create", "enrollments"}

LINKS = ("assessment_slug", "assessment_id")  # two names of one assessment
OF_ASSESSMENTS = (*LINKS, "pass_score_override")  # what no other stage has
# What tells one stage from another.
CONTENT = ("stage_type", "label", "assessment_id", "interview_template_id", "pass_score_override")

Stage = Mapping[str, Any]
Fault = dict[str, str]


def check_plan(plan: Plan, settings: Mapping[str, Any]) -> None:
    """Refuse settings that the plan does not include."""
    plans.require_for(plan.name, settings, GATED)


def assessments(stages: Sequence[Stage]) -> set[str]:
    """Return the slugs and ids by which stages name their assessments."""
    return {str(one[name]) for one in stages for name in _names(one)}


def templates(stages: Sequence[Stage]) -> set[UUID]:
    """Return the interview templates that stages name."""
    return {one["interview_template_id"] for one in stages if one.get("interview_template_id") is not None}


def restage(
    given: Sequence[Stage],
    found: Mapping[str, Any],
    there: Sequence[Any] = (),
    *,
    templates: Collection[UUID] = (),
    locked: bool = False,
) -> tuple[int, list[dict[str, Any]]]:
    """Say how many of the stages that are there stand in front, and what follows them, as it is kept.

    `found` has the assessments by the names that stages give them, `templates` those of interviews.
    Refuses the list with every fault, and one that changes what candidates are going through.
    """
    known = {one.id: one for one in there}
    _refuse(
        [
            *_faults(given, found),
            *_of_interviews(given, templates, known),
            *_repeated(given, "id"),
            *_repeated(given, "order"),
            *_unknown(given, known),
        ]
    )
    wanted = [(number, _content(one, found)) for number, one in _ordered(given)]
    stand = sum(1 for _ in takewhile(lambda pair: _is(pair[0], pair[1][1]), zip(there, wanted, strict=False)))
    if locked and stand < len(there):
        raise StagesLocked
    _refuse(
        _fault(number, name, "The assessment is archived.")
        for number, one in wanted[stand:]
        for name in _names(given[number])[:1]
        if found[str(given[number][name])].status == "archived" and not _had(one, known)
    )
    return stand, [one for _, one in wanted[stand:]]


def _faults(given: Sequence[Stage], found: Mapping[str, Any]) -> Iterator[Fault]:
    for number, one in enumerate(given):
        names = _names(one)
        if one["stage_type"] != "assessment":
            for name in OF_ASSESSMENTS:
                if one.get(name) is not None:
                    yield _fault(number, name, "Only an assessment stage has this.")
        elif not names:
            yield _fault(number, "assessment_slug", "An assessment stage names its assessment.")
        else:
            missing = [name for name in names if str(one[name]) not in found]
            for name in missing:
                yield _fault(number, name, "There is no such assessment.")
            if not missing and len({found[str(one[name])].id for name in names}) > 1:
                yield _fault(number, "assessment_slug", "Names another assessment than `assessment_id` does.")


def _of_interviews(
    given: Sequence[Stage], templates: Collection[UUID], known: Mapping[Any, Any]
) -> Iterator[Fault]:
    for number, one in enumerate(given):
        id = one.get("interview_template_id")
        if id is not None and one["stage_type"] != "interview":
            yield _fault(number, "interview_template_id", "Only an interview stage has this.")
        elif id is not None and id not in templates and id not in _kept_templates(known):
            yield _fault(number, "interview_template_id", "There is no such interview template.")


def _kept_templates(known: Mapping[Any, Any]) -> set[Any]:
    """Return the templates that stages have already: a deleted one may stay."""
    return {one.interview_template_id for one in known.values()}


def _repeated(given: Sequence[Stage], name: str) -> Iterator[Fault]:
    seen = set()
    for number, one in enumerate(given):
        value = one.get(name)
        if value is not None and value in seen:
            yield _fault(number, name, f"Another stage has this {name}.")
        seen.add(value)


def _unknown(given: Sequence[Stage], known: Mapping[Any, Any]) -> Iterator[Fault]:
    for number, one in enumerate(given):
        if one.get("id") is not None and one["id"] not in known:
            yield _fault(number, "id", "The pipeline has no such stage.")


def _fault(number: int, name: str, message: str) -> Fault:
    return {"pointer": f"/stages/{number}/{name}", "message": message}


def _refuse(faults: Iterator[Fault] | Sequence[Fault]) -> None:
    if found := list(faults):
        raise Invalid(fields=found)


def _ordered(given: Sequence[Stage]) -> list[tuple[int, Stage]]:
    """Sort stages by their order, by default the place in the array; each with its place there."""
    return sorted(enumerate(given), key=lambda pair: pair[1].get("order", pair[0]))


def _names(one: Stage) -> list[str]:
    return [name for name in LINKS if one.get(name) is not None]


def _content(one: Stage, found: Mapping[str, Any]) -> dict[str, Any]:
    names, score = _names(one), one.get("pass_score_override")
    kept = {"id": one["id"]} if one.get("id") is not None else {}
    return kept | {
        "stage_type": one["stage_type"],
        "label": one.get("label", ""),
        "assessment_id": found[str(one[names[0]])].id if names else None,
        "interview_template_id": one.get("interview_template_id"),
        "pass_score_override": None if score is None else decimals.cents(score),
    }


def _is(row: Any, one: Stage) -> bool:
    """Say whether a stage that is there is wanted as it is."""
    return one.get("id", row.id) == row.id and all(getattr(row, name) == one[name] for name in CONTENT)


def _had(one: Stage, known: Mapping[Any, Any]) -> bool:
    """Say whether a stage has had its assessment before."""
    return "id" in one and known[one["id"]].assessment_id == one["assessment_id"]
