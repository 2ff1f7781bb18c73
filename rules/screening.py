"""Level 3 of screening: a score from 0 to 100 that the profile, the answers and the requirements settle.

score = 70 % of the must share + 30 % of the should share; where a job asks only one sort, that share alone.
A share is the weighted mean of how far each requirement of the sort is met. Nothing to measure: 0.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from rules import matching, skills
from rules.decimals import cents
from rules.matching import Hit, Sources

# Names these rules and the vocabulary: under one name, the same input has the same score for ever.
MODEL_VERSION = f"l3-1.{skills.version()}"

PARTS = {"must": Fraction(70, 100), "should": Fraction(30, 100)}

NONE, HALF, ALL = Fraction(0), Fraction(1, 2), Fraction(1)


@dataclass(frozen=True)
class Evidence:
    """How far one requirement is met, 0 to 1, and what in the CV or the answers shows it."""

    key: str
    label: str
    kind: str
    importance: str
    weight: int
    matched: Decimal
    found: list[dict[str, str]]  # source (cv, answers), text, for (the value it meets)

    def as_dict(self) -> dict[str, Any]:
        """Write it as JSON can hold it: matched as a decimal string."""
        return {**self.__dict__, "matched": str(self.matched)}


@dataclass(frozen=True)
class Score:
    """A level 3 result; `breakdown` holds percentages with 2 digits."""

    score: Decimal
    breakdown: dict[str, float]
    evidence: list[Evidence]
    model_version: str = MODEL_VERSION


def score(
    profile: Mapping[str, Any] | None,
    answers: Iterable[Mapping[str, Any]],
    requirements: Iterable[Mapping[str, Any]],
) -> Score:
    """Score an application: parsed profile (None without a CV), typed answers, normalised requirements."""
    sources = Sources(profile or {}, list(answers))
    active = sorted(
        (item for item in requirements if item.get("is_active", True)),
        key=lambda item: (item.get("sort_order") or 0, item["key"]),
    )
    met = [(item, *_meet(item, sources)) for item in active]
    shares = {sort: _share(sort, met) for sort in PARTS}
    asked = {sort: part for sort, part in PARTS.items() if shares[sort] is not None}
    total = sum((part * (shares[sort] or NONE) for sort, part in asked.items()), NONE)
    coverage = Fraction(sum(1 for _, share, _ in met if share), len(met)) if met else NONE
    empty = ALL if asked else NONE
    breakdown = {sort: _percent(empty if share is None else share) for sort, share in shares.items()}
    return Score(
        score=cents(100 * total / sum(asked.values()) if asked else NONE),
        breakdown={**breakdown, "coverage": _percent(coverage)},
        evidence=[_evidence(*one) for one in met],
    )


def advances(
    *, enabled: bool, l1_passed: bool | None, l3_score: Decimal | None, minimum: Decimal | None
) -> bool:
    """Say whether an application moves on by itself: switched on, level 1 passed, and the score reaches the bar."""
    return bool(
        enabled and l1_passed and l3_score is not None and minimum is not None and l3_score >= minimum
    )


def _share(sort: str, met: Sequence[tuple[Mapping[str, Any], Fraction, list[Hit]]]) -> Fraction | None:
    """Return the weighted mean of one sort; None where nothing of it has weight."""
    weighted = [(_weight(item), share) for item, share, _ in met if _importance(item) == sort]
    total = sum(weight for weight, _ in weighted)
    return sum((weight * share for weight, share in weighted), NONE) / total if total else None


def _meet(item: Mapping[str, Any], sources: Sources) -> tuple[Fraction, list[Hit]]:
    return _KINDS[item["kind"]](item, sources)


def _skill(item: Mapping[str, Any], sources: Sources) -> tuple[Fraction, list[Hit]]:
    """One of the values named is enough; with min_years, half is for the name and half for the time."""
    return _timed(item, matching.skills(_values(item), item.get("field"), sources), sources)


def _title(item: Mapping[str, Any], sources: Sources) -> tuple[Fraction, list[Hit]]:
    """A title with all words of a value; half where only the rank (senior, lead, …) is missing."""
    return _timed(item, matching.titles(_values(item), item.get("field"), sources), sources)


def _timed(item: Mapping[str, Any], hits: list[Hit], sources: Sources) -> tuple[Fraction, list[Hit]]:
    named = max((hit.share for hit in hits), default=NONE)
    bar = item.get("min_years")
    if not named or not bar:
        return named, hits
    months = matching.months(hits, sources)
    time = min(ALL, Fraction(months, 12 * bar))
    return named * (HALF + HALF * time), [*hits, *([matching.years_hit(months)] if months else [])]


def _years(item: Mapping[str, Any], sources: Sources) -> tuple[Fraction, list[Hit]]:
    """The years of the CV, or of the positions that name a value, or an answer in numbers: the most of them.

    Without a number any time at all will do.
    """
    hits = matching.years(item.get("values") or [], item.get("field"), sources)
    bar = item.get("min_years")
    if bar == 0:
        return ALL, hits
    best = max(hits, key=lambda hit: hit.share, default=None)
    if best is None:
        return NONE, []
    return (min(ALL, best.share / bar) if bar else ALL), [best]


def _education(item: Mapping[str, Any], sources: Sources) -> tuple[Fraction, list[Hit]]:
    """A degree of the level or above it, in the subject if one is named; half for the level alone."""
    hits = matching.education(_values(item), item.get("field"), sources)
    return max((hit.share for hit in hits), default=NONE), hits


def _custom(item: Mapping[str, Any], sources: Sources) -> tuple[Fraction, list[Hit]]:
    """With a field, its answer is one of the values (or says yes); without, the CV holds one of the phrases."""
    if item.get("field"):
        hits = matching.answered(item.get("values") or [], item["field"], sources)
    else:
        hits = matching.phrases(_values(item), sources)
    return max((hit.share for hit in hits), default=NONE), hits


_KINDS: dict[str, Callable[[Mapping[str, Any], Sources], tuple[Fraction, list[Hit]]]] = {
    "skill": _skill,
    "tool": _skill,
    "years": _years,
    "title": _title,
    "education": _education,
    "custom": _custom,
}


def _values(item: Mapping[str, Any]) -> list[str]:
    """Return what to look for: the values, or else the label."""
    return list(item.get("values") or []) or ([item["label"]] if item.get("label") else [])


def _importance(item: Mapping[str, Any]) -> str:
    return item.get("importance") or "must"


def _weight(item: Mapping[str, Any]) -> int:
    weight = item.get("weight")
    return 1 if weight is None else int(weight)


def _evidence(item: Mapping[str, Any], share: Fraction, hits: list[Hit]) -> Evidence:
    return Evidence(
        key=item["key"],
        label=item.get("label") or item["key"],
        kind=item["kind"],
        importance=_importance(item),
        weight=_weight(item),
        matched=cents(share),
        found=[{"source": hit.source, "text": hit.text, "for": hit.value} for hit in hits],
    )


def _percent(share: Fraction) -> float:
    return float(cents(100 * share))
