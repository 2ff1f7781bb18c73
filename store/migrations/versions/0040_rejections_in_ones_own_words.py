"""rejections in one's own words

What a job's rejected candidates are written, instead of the organisation's words for all jobs.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    gently.add_column("jobs", sa.Column("rejection_text", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    op.execute("ALTER TABLE jobs DROP COLUMN IF EXISTS rejection_text")
