"""Pipelines and their stages."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, Numeric, UniqueConstraint, delete, text
from sqlalchemy.orm import Mapped, Session, mapped_column, relationship, selectinload

from rules.caller import Caller
from rules.clock import now
from rules.errors import NotFound
from rules.pipelines import RESERVED_SLUGS
from store.accounts import squads
from store.accounts.squads import Squad
from store.assessing.assessments import Assessment
from store.database import listing
from store.database.base import ANYONE, Base, Identified, Updated, beside, free_slug, visible
from store.database.engine import Means
from store.database.named import NIL, Named, Reader, by_key

ACTIVE = text("archived_at IS NULL")


class Pipeline(Base, Named, Updated):
    """An order of stages that candidates go through."""

    __tablename__ = "pipelines"
    __table_args__ = (
        UniqueConstraint("organisation_id", "livemode", "slug"),
        Index(
            "ix_pipelines_owner", "organisation_id", "livemode", "id", "updated_at", postgresql_where=ACTIVE
        ),
        Index(
            "ix_pipelines_team",
            "organisation_id",
            "livemode",
            "team_id",
            "id",
            "updated_at",
            postgresql_where=ACTIVE,
        ),
        Index(
            "ix_pipelines_owner_updated_at",
            "organisation_id",
            "livemode",
            "updated_at",
            postgresql_where=ACTIVE,
        ),
    )

    title: Mapped[str]
    description: Mapped[str] = mapped_column(default="")
    team_id: Mapped[UUID | None] = mapped_column(ForeignKey("squads.id"))
    stage_count: Mapped[int] = mapped_column(default=0)  # kept with the rows it counts
    stages_locked: Mapped[bool] = mapped_column(default=False)  # somebody is, or was, enrolled
    archived_at: Mapped[datetime | None]

    team: Mapped[Squad | None] = relationship(lazy="raise")
    stages: Mapped[list["Stage"]] = relationship(lazy="raise", order_by="Stage.position")


class Stage(Base, Identified):
    """One stage of one pipeline."""

    __tablename__ = "pipeline_stages"
    __table_args__ = (UniqueConstraint("pipeline_id", "position"),)

    pipeline_id: Mapped[UUID] = mapped_column(ForeignKey("pipelines.id", ondelete="CASCADE"))
    position: Mapped[int]  # from 0, without gaps: what an enrollment's current_stage counts
    stage_type: Mapped[str]  # assessment, interview, manual_review
    label: Mapped[str] = mapped_column(default="")
    assessment_id: Mapped[UUID | None] = mapped_column(ForeignKey("assessments.id"))
    interview_template_id: Mapped[UUID | None]
    pass_score_override: Mapped[Decimal | None] = mapped_column(Numeric(5, 2))

    assessment: Mapped[Assessment | None] = relationship(lazy="raise")


def get(session: Session, caller: Caller, key: str, *, for_update: bool = False) -> Pipeline:
    """Load one by slug or id with its squad and stages, or raise NotFound."""
    stages = selectinload(Pipeline.stages).joinedload(Stage.assessment)
    found = by_key(caller, Pipeline, key).options(*beside(Pipeline.team, locked=for_update), stages)
    row = session.scalars(found.with_for_update(of=Pipeline) if for_update else found).first()
    if row is None:
        raise NotFound("There is no such pipeline.")
    return row


find_id = Reader(Pipeline, Pipeline.id).id


def read_id(means: Means, caller: Caller, key: str) -> UUID:
    """Return the id of one by slug or id, or raise NotFound."""
    id = find_id(means, caller, key)
    if id == NIL:
        raise NotFound("There is no such pipeline.")
    return id


LIST = listing.Listing(
    visible(ANYONE, Pipeline).where(Pipeline.archived_at.is_(None)),
    {"-id": (Pipeline.id,)},
    {
        "team_id": squads.owning(Pipeline.team_id),
        "team_slug": squads.called(Pipeline.team_id),
        "updated_after": listing.updated_after(Pipeline),
    },
    {"team": squads.BESIDE},
)


def create(session: Session, caller: Caller, settings: Mapping[str, Any]) -> Pipeline:
    """Make a pipeline without stages; its slug comes from its title. The organisation row must be locked."""
    pipeline = Pipeline(
        organisation_id=caller.organisation_id,
        livemode=caller.livemode,
        slug=free_slug(
            session, caller, Pipeline, settings["title"], otherwise="pipeline", reserved=RESERVED_SLUGS
        ),
        **settings,
    )
    session.add(pipeline)
    session.flush()
    return pipeline


def restage(session: Session, pipeline: Pipeline, stand: int, stages: Sequence[Mapping[str, Any]]) -> None:
    """Let so many stages stand and put these after them, instead of those that followed. The row must be locked."""
    if stand == pipeline.stage_count and not stages:
        return
    session.execute(delete(Stage).where(Stage.pipeline_id == pipeline.id, Stage.position >= stand))
    session.add_all(
        Stage(pipeline_id=pipeline.id, position=position, **one) for position, one in enumerate(stages, stand)
    )
    pipeline.stage_count, pipeline.updated_at = stand + len(stages), now()
    session.flush()
