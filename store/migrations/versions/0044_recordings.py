"""recordings

What is recorded of a sitting, in chunks; what its candidate agreed to; for how long an organisation keeps it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from store.migrations import gently

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
DAYS = "ix_organisation_settings_recordings_days"


def upgrade() -> None:
    op.create_table(
        "recordings",
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("track", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("started_ms", sa.Integer(), nullable=False),
        sa.Column("duration_ms", sa.Integer(), nullable=False),
        sa.Column("chunks", sa.Integer(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("kept_until", MOMENT, nullable=False),
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("livemode", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name="fk_recordings_session_id_sessions", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name="fk_recordings_organisation_id_organisations"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_recordings"),
        sa.UniqueConstraint("session_id", "track", name="uq_recordings_session_id_track"),
        if_not_exists=True,
    )
    op.create_index(
        "ix_recordings_owner",
        "recordings",
        ["organisation_id", "livemode", "created_at"],
        if_not_exists=True,
    )
    op.create_index("ix_recordings_kept_until", "recordings", ["kept_until"], if_not_exists=True)
    op.create_table(
        "recording_chunks",
        sa.Column("recording_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["recording_id"],
            ["recordings.id"],
            name="fk_recording_chunks_recording_id_recordings",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("recording_id", "number", name="pk_recording_chunks"),
        sa.UniqueConstraint("key", name="uq_recording_chunks_key"),
        if_not_exists=True,
    )
    gently.add_column("sessions", sa.Column("recording", postgresql.JSONB()))
    gently.add_column("organisation_settings", sa.Column("recordings_days", sa.Integer()))
    gently.create_index(
        DAYS,
        "organisation_settings",
        ["recordings_days", "organisation_id"],
        postgresql_where=sa.text("recordings_days IS NOT NULL"),
    )


def downgrade() -> None:
    gently.drop_index(DAYS, "organisation_settings")
    op.execute("ALTER TABLE organisation_settings DROP COLUMN IF EXISTS recordings_days")
    op.execute("ALTER TABLE sessions DROP COLUMN IF EXISTS recording")
    op.drop_table("recording_chunks")
    op.drop_table("recordings")
