"""enrollments"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "enrollments",
        sa.Column("pipeline_id", sa.Uuid(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("email_key", sa.Text(), nullable=False),
        sa.Column("candidate_name", sa.Text(), nullable=False),
        sa.Column("send_email", sa.Boolean(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("current_stage", sa.Integer(), nullable=False),
        sa.Column("rejected_at_stage", sa.Integer(), nullable=True),
        sa.Column("reject_reason", sa.Text(), nullable=False),
        sa.Column("waiting_reason", sa.Text(), nullable=True),
        sa.Column("retry_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("missed", sa.Text(), nullable=True),
        sa.Column("invitation_id", sa.Uuid(), nullable=True),
        sa.Column("enrolled_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("livemode", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["pipeline_id"], ["pipelines.id"], name="fk_enrollments_pipeline_id_pipelines"
        ),
        sa.ForeignKeyConstraint(
            ["invitation_id"],
            ["invitations.id"],
            name="fk_enrollments_invitation_id_invitations",
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name="fk_enrollments_organisation_id_organisations"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_enrollments"),
        sa.UniqueConstraint("pipeline_id", "email_key", name="uq_enrollments_pipeline_id_email_key"),
    )
    op.create_index("ix_enrollments_pipeline", "enrollments", ["pipeline_id", "id", "updated_at"])
    op.create_index(
        "ix_enrollments_pipeline_status", "enrollments", ["pipeline_id", "status", "id", "updated_at"]
    )
    op.create_index("ix_enrollments_pipeline_updated_at", "enrollments", ["pipeline_id", "updated_at"])
    op.create_index(
        "ix_enrollments_invitation",
        "enrollments",
        ["invitation_id"],
        postgresql_where=sa.text("invitation_id IS NOT NULL"),
    )
    op.create_index(
        "ix_enrollments_retry",
        "enrollments",
        ["retry_at"],
        postgresql_where=sa.text("retry_at IS NOT NULL"),
    )
    op.create_table(
        "enrollment_events",
        sa.Column("enrollment_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("from_stage", sa.Integer(), nullable=True),
        sa.Column("to_stage", sa.Integer(), nullable=True),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["enrollment_id"],
            ["enrollments.id"],
            name="fk_enrollment_events_enrollment_id_enrollments",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_enrollment_events"),
    )
    op.create_index("ix_enrollment_events_order", "enrollment_events", ["enrollment_id", "id"])
    op.create_table(
        "enrollment_notes",
        sa.Column("enrollment_id", sa.Uuid(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("livemode", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["enrollment_id"],
            ["enrollments.id"],
            name="fk_enrollment_notes_enrollment_id_enrollments",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id"],
            ["organisations.id"],
            name="fk_enrollment_notes_organisation_id_organisations",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_enrollment_notes"),
    )
    op.create_index("ix_enrollment_notes_order", "enrollment_notes", ["enrollment_id", "id"])


def downgrade() -> None:
    for table in ("enrollment_notes", "enrollment_events", "enrollments"):
        op.drop_table(table)
