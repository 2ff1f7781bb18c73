"""what waits for a person is found along an index, and says who has it in hand"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from store.migrations import gently

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None

WAITING = "graded_at IS NOT NULL AND settled_at IS NULL"
INDEXES = {
    "ix_sessions_waiting": ["organisation_id", "livemode", "id"],
    "ix_sessions_waiting_of_assessment": ["assessment_id", "id"],
}


def upgrade() -> None:
    gently.add_column("session_cases", sa.Column("claimed_by", postgresql.JSONB()))
    gently.add_column("session_cases", sa.Column("claimed_until", sa.DateTime(timezone=True)))
    gently.create_index(
        "ix_session_cases_claimed",
        "session_cases",
        ["claimed_until"],
        postgresql_where=sa.text("claimed_until IS NOT NULL"),
    )
    for name, columns in INDEXES.items():
        gently.create_index(name, "sessions", columns, postgresql_where=sa.text(WAITING))


def downgrade() -> None:
    for name in INDEXES:
        gently.drop_index(name, "sessions")
    gently.drop_index("ix_session_cases_claimed", "session_cases")
    op.execute(
        "ALTER TABLE session_cases DROP COLUMN IF EXISTS claimed_by, DROP COLUMN IF EXISTS claimed_until"
    )
