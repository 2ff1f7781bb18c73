"""languages: those that a coding case leaves to the candidate, and the one that was chosen"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    gently.add_column(
        "cases", sa.Column("languages", sa.ARRAY(sa.Text()), nullable=False, server_default="{}")
    )
    gently.add_column("session_cases", sa.Column("language", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("session_cases", "language")
    op.drop_column("cases", "languages")
