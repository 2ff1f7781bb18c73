"""Pipelines and their stages."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from sqlalchemy import ForeignKey, Index, Numeric, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from store.accounts.squads import Squad
from store.assessing.assessments import Assessment
from store.database.base import Base, Identified, Updated
from store.database.named import Named

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
