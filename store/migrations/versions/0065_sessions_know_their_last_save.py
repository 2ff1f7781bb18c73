"""sessions know when their candidate last saved an answer

Whoever saves holds the session's row and finds there what the last one left, without a look at all cases after the lock.
Those that run are not filled: what their cases say counts too.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0065"
down_revision = "0064"
branch_labels = None
depends_on = None


def upgrade() -> None:
    gently.add_column("sessions", sa.Column("saved_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.execute("ALTER TABLE sessions DROP COLUMN saved_at")
