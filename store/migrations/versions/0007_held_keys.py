"""held keys

Who is at work on a request that names itself and takes several transactions.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.add_column("idempotent_answers", sa.Column("holder", sa.Uuid(), nullable=True))


def downgrade() -> None:
    op.drop_column("idempotent_answers", "holder")
