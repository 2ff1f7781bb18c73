"""the newest settled results of an assessment are found in their order, without those that are not settled"""

import sqlalchemy as sa

from store.migrations import gently

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None

SETTLED = sa.text("settled_at IS NOT NULL")


def upgrade() -> None:
    gently.create_index(
        "ix_sessions_settled",
        "sessions",
        ["assessment_id", "id", "score_percentage"],
        postgresql_where=SETTLED,
    )
    gently.drop_index("ix_sessions_scores", "sessions")


def downgrade() -> None:
    gently.create_index(
        "ix_sessions_scores", "sessions", ["assessment_id", "score_percentage"], postgresql_where=SETTLED
    )
    gently.drop_index("ix_sessions_settled", "sessions")
