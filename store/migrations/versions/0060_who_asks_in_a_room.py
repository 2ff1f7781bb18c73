"""who asks in a room

Who takes part by requests alone has a row too, whose moment requests move. Rows of the version before are of channels.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0060"
down_revision = "0059"
branch_labels = None
depends_on = None


def upgrade() -> None:
    gently.add_column(
        "interview_presences",
        sa.Column("has_channel", sa.Boolean(), nullable=False, server_default=sa.true()),
    )


def downgrade() -> None:
    op.drop_column("interview_presences", "has_channel")
