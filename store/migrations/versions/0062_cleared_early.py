"""cleared early

Dead rows of large tables are a few thousand and not a fifth of the table, so that lists of hot rows stay as fast as at first.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0062"
down_revision = "0061"
branch_labels = None
depends_on = None

TABLES = sa.text("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")


def upgrade() -> None:
    for table in op.get_bind().scalars(TABLES).all():
        gently.clear_early(table)


def downgrade() -> None:
    for table in op.get_bind().scalars(TABLES).all():
        op.execute(f"ALTER TABLE {table} RESET (autovacuum_vacuum_scale_factor)")
