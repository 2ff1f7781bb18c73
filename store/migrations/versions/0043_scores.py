"""a settled result is placed among those of its assessment"""

import sqlalchemy as sa

from store.migrations import gently

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    gently.create_index(
        "ix_sessions_scores",
        "sessions",
        ["assessment_id", "score_percentage"],
        postgresql_where=sa.text("settled_at IS NOT NULL"),
    )


def downgrade() -> None:
    gently.drop_index("ix_sessions_scores", "sessions")
