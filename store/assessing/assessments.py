"""Assessments and the cases attached to them."""

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ForeignKey,
    Index,
    Numeric,
    UniqueConstraint,
    bindparam,
    func,
    select,
)
from sqlalchemy.orm import Mapped, Session, joinedload, mapped_column, relationship

from rules.assessments import RESERVED_SLUGS
from rules.caller import Caller
from rules.errors import NotFound
from store.accounts import squads
from store.accounts.squads import Squad
from store.assessing.cases import SOURCE, Case
from store.database import listing
from store.database.base import ANYONE, Base, Identified, Updated, beside, free_slug, visible
from store.database.engine import Means
from store.database.named import Named, Reader, by_key, uuid

# What a search looks at, and whatever else is asked with it.
SIFTED = ["title", "status", "team_id", "updated_at"]


class Assessment(Base, Named, Updated):
    """A timed set of cases that candidates are invited to."""

    __tablename__ = "assessments"
    __table_args__ = (
        UniqueConstraint("organisation_id", "livemode", "slug"),
        Index("ix_assessments_owner", "organisation_id", "livemode", "id", postgresql_include=SIFTED),
        Index("ix_assessments_owner_updated_at", "organisation_id", "livemode", "updated_at"),
        Index("ix_assessments_team", "organisation_id", "livemode", "team_id", "id"),
        Index("ix_assessments_status", "organisation_id", "livemode", "status", "id"),
    )

    title: Mapped[str]
    description: Mapped[str] = mapped_column(default="")
    status: Mapped[str] = mapped_column(default="draft")
    team_id: Mapped[UUID | None] = mapped_column(ForeignKey("squads.id"))
    time_limit_minutes: Mapped[int | None]
    passing_score: Mapped[int] = mapped_column(default=70)
    enforce_fullscreen: Mapped[bool] = mapped_column(default=False)
    copy_paste_disabled: Mapped[bool] = mapped_column(default=False)
    session_recording_enabled: Mapped[bool] = mapped_column(default=False)
    screen_recording_enabled: Mapped[bool] = mapped_column(default=False)
    webcam_recording_enabled: Mapped[bool] = mapped_column(default=False)
    notify_on_completion: Mapped[bool] = mapped_column(default=False)
    violation_review_threshold: Mapped[int | None]
    pool_mode: Mapped[bool] = mapped_column(default=False)  # each gets `assignment_size` of the cases
    assignment_size: Mapped[int | None]
    shuffle_strategy: Mapped[str] = mapped_column(default="random")
    # Counters, kept with the rows they count, so that a list never counts.
    case_count: Mapped[int] = mapped_column(default=0)
    invitation_count: Mapped[int] = mapped_column(default=0)
    cases_locked: Mapped[bool] = mapped_column(default=False)  # a candidate has started
    language: Mapped[str | None]  # in which its candidates are spoken to; None: their own

    team: Mapped[Squad | None] = relationship(lazy="raise")


LAST_PLACE = 32767

# What a copy takes along.
SETTINGS = (
    "description",
    "team",
    "time_limit_minutes",
    "passing_score",
    "enforce_fullscreen",
    "copy_paste_disabled",
    "session_recording_enabled",
    "screen_recording_enabled",
    "webcam_recording_enabled",
    "notify_on_completion",
    "violation_review_threshold",
    "pool_mode",
    "assignment_size",
    "shuffle_strategy",
    "language",
)


class AssessmentCase(Base, Identified):
    """One case's place in one assessment."""

    __tablename__ = "assessment_cases"
    __table_args__ = (
        UniqueConstraint("assessment_id", "case_id"),
        Index("ix_assessment_cases_order", "assessment_id", "order", "id"),
    )

    assessment_id: Mapped[UUID] = mapped_column(ForeignKey("assessments.id", ondelete="CASCADE"))
    case_id: Mapped[UUID] = mapped_column(ForeignKey("cases.id"))
    order: Mapped[int]
    weight: Mapped[Decimal] = mapped_column(Numeric(8, 2), default=Decimal(1))
    time_limit_minutes: Mapped[int | None]

    case: Mapped[Case] = relationship(lazy="raise")


def get(session: Session, caller: Caller, key: str, *, for_update: bool = False) -> Assessment:
    """Load one by slug or id with its squad, or raise NotFound."""
    found = by_key(caller, Assessment, key).options(*beside(Assessment.team, locked=for_update))
    row = session.scalars(found.with_for_update(of=Assessment) if for_update else found).first()
    if row is None:
        raise NotFound("There is no such assessment.")
    return row


_TEAM = {"team": squads.BESIDE}
_READER = Reader(Assessment, *Assessment.__table__.columns, beside=_TEAM)
find_id = Reader(Assessment, Assessment.id).id
LIST = listing.Listing(
    visible(ANYONE, Assessment),
    {"-id": (Assessment.id,)},
    {
        "search": listing.search(Assessment.title),
        "status": listing.equals(Assessment.status, instead={"all": None}),
        "team_id": squads.owning(Assessment.team_id),
        "team_slug": squads.called(Assessment.team_id),
        "updated_after": listing.updated_after(Assessment),
    },
    _TEAM,
)
CASES = listing.Listing(
    select(AssessmentCase).where(AssessmentCase.assessment_id == bindparam("assessment_id")),
    {"order": (AssessmentCase.order, AssessmentCase.id)},
    beside={
        "case": (
            lambda page: Case.id == page.c.case_id,
            (Case.id, Case.title, Case.description, SOURCE, Case.case_type, Case.difficulty, Case.points),
        )
    },
)


def read(means: Means, caller: Caller, key: str) -> Any:
    """Read the columns of one by slug or id, or raise NotFound."""
    row = _READER.first(means, caller, key)
    if row is None:
        raise NotFound("There is no such assessment.")
    return row


def find_all(session: Session, caller: Caller, keys: Collection[str]) -> dict[str, Any]:
    """Read id, slug and status of those that are named by slug or id, by that name."""
    ids = {key: uuid(key) for key in keys}
    named = Assessment.slug.in_(keys) | Assessment.id.in_([id for id in ids.values() if id])
    columns = (Assessment.id, Assessment.slug, Assessment.status)
    rows = session.execute(visible(caller, Assessment).where(named).with_only_columns(*columns)).all()
    by_slug, by_id = {row.slug: row for row in rows}, {row.id: row for row in rows}
    found = {key: by_slug.get(key) or by_id.get(ids[key]) for key in keys}
    return {key: row for key, row in found.items() if row}


def count_kept(session: Session, caller: Caller) -> int:
    """Count what the plan counts: live assessments that are not archived."""
    counted = select(func.count()).where(
        Assessment.organisation_id == caller.organisation_id,
        Assessment.livemode,
        Assessment.status != "archived",
    )
    return session.scalar(counted) or 0


def create(session: Session, caller: Caller, settings: Mapping[str, Any]) -> Assessment:
    """Make a draft; its slug comes from its title. The organisation row must be locked."""
    assessment = Assessment(
        organisation_id=caller.organisation_id,
        livemode=caller.livemode,
        slug=free_slug(
            session,
            caller,
            Assessment,
            settings["title"],
            otherwise="assessment",
            reserved=RESERVED_SLUGS,
        ),
        **{"team": None, **settings},
    )
    session.add(assessment)
    session.flush()
    return assessment


def attached(session: Session, assessment: Assessment) -> list[AssessmentCase]:
    """Load an assessment's cases in their order."""
    rows = select(AssessmentCase).where(AssessmentCase.assessment_id == assessment.id)
    return list(
        session.scalars(
            rows.options(joinedload(AssessmentCase.case)).order_by(AssessmentCase.order, AssessmentCase.id)
        )
    )


def attach(
    session: Session, assessment: Assessment, places: Sequence[tuple[Case, Mapping[str, Any]]]
) -> list[AssessmentCase]:
    """Attach cases at their places, by default after the last one. The assessment row must be locked."""
    last = session.scalar(
        select(func.max(AssessmentCase.order)).where(AssessmentCase.assessment_id == assessment.id)
    )
    last, rows = -1 if last is None else last, []
    for case, place in places:
        order = place.get("order", min(last + 1, LAST_PLACE))
        last = max(last, order)
        rows.append(
            AssessmentCase(
                assessment_id=assessment.id,
                case_id=case.id,
                case=case,
                order=order,
                weight=round(place.get("weight", Decimal(1)), 2),  # as it is kept
                time_limit_minutes=place.get("time_limit_minutes"),
            )
        )
    session.add_all(rows)
    assessment.case_count += len(rows)
    session.flush()
    return rows


def case_types(session: Session, assessment: Assessment) -> list[str]:
    """List of what types an assessment's cases are."""
    types = select(Case.case_type).join(AssessmentCase, AssessmentCase.case_id == Case.id)
    mine = types.where(AssessmentCase.assessment_id == assessment.id)
    return list(session.scalars(mine.distinct().order_by(Case.case_type)))


def detach(session: Session, assessment: Assessment, rows: Sequence[AssessmentCase]) -> None:
    """Take cases out of an assessment. The assessment row must be locked."""
    for row in rows:
        session.delete(row)
    assessment.case_count -= len(rows)
    session.flush()


def get_attached(session: Session, assessment: Assessment, id: UUID) -> AssessmentCase:
    """Load one case's place, or raise NotFound."""
    row = session.scalars(
        select(AssessmentCase).where(AssessmentCase.assessment_id == assessment.id, AssessmentCase.id == id)
    ).first()
    if row is None:
        raise NotFound("The assessment has no such case.")
    return row
