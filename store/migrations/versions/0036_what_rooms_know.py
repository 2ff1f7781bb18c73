"""what rooms know: whose a scorecard is, who typed, and who is there

Scorecards say which interview they come from, updates of a document who made them, and a side that is in a room by a
live channel has a row with the moment until which it is there.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    gently.add_column("scorecards", sa.Column("interview_id", sa.Uuid(), nullable=True))
    gently.add_column("scorecards", sa.Column("author_name", sa.Text(), nullable=False, server_default=""))
    gently.add_constraint(
        "fk_scorecards_interview_id_interviews",
        "scorecards",
        "FOREIGN KEY (interview_id) REFERENCES interviews (id)",
    )
    gently.create_index(
        "uq_scorecards_interview",
        "scorecards",
        ["interview_id", "author_name"],
        unique=True,
        postgresql_where=sa.text("interview_id IS NOT NULL"),
    )
    op.create_table(
        "interview_presences",
        sa.Column("interview_id", sa.Uuid(), nullable=False),
        sa.Column("side", sa.Text(), nullable=False),
        sa.Column("here_until", MOMENT, nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_interview_presences"),
        sa.UniqueConstraint("interview_id", "side", name="uq_interview_presences_interview_id_side"),
        if_not_exists=True,
    )
    op.create_index("ix_interview_presences_due", "interview_presences", ["here_until"], if_not_exists=True)
    gently.add_column(
        "interview_updates", sa.Column("actor", sa.Text(), nullable=False, server_default="system")
    )


def downgrade() -> None:
    op.drop_column("interview_updates", "actor")
    op.drop_table("interview_presences")
    gently.drop_index("uq_scorecards_interview", "scorecards")
    op.drop_column("scorecards", "author_name")
    op.drop_column("scorecards", "interview_id")
