"""set aside again

What is to be tried again is looked for each second, among all that is set aside for longer.
"""

import sqlalchemy as sa

from store.migrations import gently

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None


def upgrade() -> None:
    gently.create_index(
        "ix_set_aside_again", "set_aside", ["again_at"], postgresql_where=sa.text("again_at IS NOT NULL")
    )


def downgrade() -> None:
    gently.drop_index("ix_set_aside_again", "set_aside")
