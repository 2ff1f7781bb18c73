"""languages of enrollments

In which language somebody is invited to the stages of a pipeline, who applied for a job in it.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None


def upgrade() -> None:
    gently.add_column("enrollments", sa.Column("language", sa.Text(), nullable=True))


def downgrade() -> None:
    op.execute("ALTER TABLE enrollments DROP COLUMN IF EXISTS language")
