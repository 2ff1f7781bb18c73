"""what was set aside of tests

A test mode's notes of what failed are moved and deleted with its other rows; an index leads to them.
"""

import sqlalchemy as sa

from store.migrations import gently

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None


def upgrade() -> None:
    gently.create_index(
        "ix_set_aside_test", "set_aside", ["organisation_id"], postgresql_where=sa.text("NOT livemode")
    )


def downgrade() -> None:
    gently.drop_index("ix_set_aside_test", "set_aside")
