"""links to look at a candidate's report"""

import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "report_shares",
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["sessions.id"], name="fk_report_shares_session_id_sessions", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_report_shares"),
        sa.UniqueConstraint("hash", name="uq_report_shares_hash"),
    )
    op.create_index("ix_report_shares_session", "report_shares", ["session_id", "id"])


def downgrade() -> None:
    op.drop_table("report_shares")
