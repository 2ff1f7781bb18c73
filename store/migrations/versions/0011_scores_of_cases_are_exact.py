"""scores of cases are exact

A third of a point was kept as 0.33, so that three of them came to 0.99.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.alter_column("session_cases", "score", type_=sa.Numeric(16, 6))


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.alter_column("session_cases", "score", type_=sa.Numeric(12, 2))
