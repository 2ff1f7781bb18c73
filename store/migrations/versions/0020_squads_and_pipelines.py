"""squads and pipelines

Squads are the organisation's, in both modes; jobs, assessments and pipelines may belong to one. No row named one yet.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

OWNED = ("jobs", "assessments")


def upgrade() -> None:
    _squads()
    _pipelines()
    gently.add_column("jobs", sa.Column("pipeline_id", sa.Uuid(), nullable=True))
    gently.add_constraint(
        "fk_jobs_pipeline_id_pipelines", "jobs", "FOREIGN KEY (pipeline_id) REFERENCES pipelines (id)"
    )
    for table in OWNED:
        gently.add_constraint(
            f"fk_{table}_team_id_squads", table, "FOREIGN KEY (team_id) REFERENCES squads (id)"
        )


def _squads() -> None:
    op.create_table(
        "squads",
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name="fk_squads_organisation_id_organisations"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_squads"),
        sa.UniqueConstraint("organisation_id", "slug", name="uq_squads_organisation_id_slug"),
        if_not_exists=True,
    )
    op.create_index("ix_squads_owner", "squads", ["organisation_id", "id"], if_not_exists=True)
    op.create_table(
        "squad_members",
        sa.Column("squad_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["squad_id"], ["squads.id"], name="fk_squad_members_squad_id_squads", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["members.user_id"], name="fk_squad_members_user_id_members", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("squad_id", "user_id", name="pk_squad_members"),
        if_not_exists=True,
    )
    op.create_index("ix_squad_members_user", "squad_members", ["user_id"], if_not_exists=True)


def _pipelines() -> None:
    op.create_table(
        "pipelines",
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=True),
        sa.Column("stage_count", sa.Integer(), nullable=False),
        sa.Column("stages_locked", sa.Boolean(), nullable=False),
        sa.Column("archived_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("livemode", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["squads.id"], name="fk_pipelines_team_id_squads"),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name="fk_pipelines_organisation_id_organisations"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_pipelines"),
        sa.UniqueConstraint(
            "organisation_id", "livemode", "slug", name="uq_pipelines_organisation_id_livemode_slug"
        ),
        if_not_exists=True,
    )
    owner = ["organisation_id", "livemode"]
    for name, columns in {
        "owner": [*owner, "id", "updated_at"],
        "team": [*owner, "team_id", "id", "updated_at"],
        "owner_updated_at": [*owner, "updated_at"],
    }.items():
        op.create_index(
            f"ix_pipelines_{name}",
            "pipelines",
            columns,
            postgresql_where=sa.text("archived_at IS NULL"),
            if_not_exists=True,
        )
    op.create_table(
        "pipeline_stages",
        sa.Column("pipeline_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("stage_type", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("assessment_id", sa.Uuid(), nullable=True),
        sa.Column("interview_template_id", sa.Uuid(), nullable=True),
        sa.Column("pass_score_override", sa.Numeric(5, 2), nullable=True),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["pipeline_id"],
            ["pipelines.id"],
            name="fk_pipeline_stages_pipeline_id_pipelines",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["assessment_id"], ["assessments.id"], name="fk_pipeline_stages_assessment_id_assessments"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_pipeline_stages"),
        sa.UniqueConstraint("pipeline_id", "position", name="uq_pipeline_stages_pipeline_id_position"),
        if_not_exists=True,
    )


def downgrade() -> None:
    for table in OWNED:
        op.drop_constraint(f"fk_{table}_team_id_squads", table)
    op.drop_constraint("fk_jobs_pipeline_id_pipelines", "jobs")
    op.drop_column("jobs", "pipeline_id")
    for table in ("pipeline_stages", "pipelines", "squad_members", "squads"):
        op.drop_table(table)
