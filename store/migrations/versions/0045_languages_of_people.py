"""languages of people

In which language those are spoken to who are invited, take an assessment or look at a job.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

TABLES = ("assessments", "invitations", "jobs")


def upgrade() -> None:
    for table in TABLES:
        gently.add_column(table, sa.Column("language", sa.Text(), nullable=True))


def downgrade() -> None:
    for table in reversed(TABLES):
        op.execute(f"ALTER TABLE {table} DROP COLUMN IF EXISTS language")
