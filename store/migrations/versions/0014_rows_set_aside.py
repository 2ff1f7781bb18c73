"""rows set aside

A row that fails no longer stops its neighbours; it stands here with its reason.
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "set_aside",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("row_id", sa.Uuid(), nullable=False),
        sa.Column("organisation_id", sa.Uuid()),
        sa.Column("livemode", sa.Boolean()),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("again_at", sa.DateTime(timezone=True)),
    )
    op.create_index("uq_set_aside_row", "set_aside", ["kind", "row_id"], unique=True)


def downgrade() -> None:
    op.drop_table("set_aside")
