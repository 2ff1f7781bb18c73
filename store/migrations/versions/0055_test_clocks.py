"""test clocks

How far each organisation's test mode has been moved; and indexes for the test rows of those tables that are read by
what their rows belong to, or by those that are not deleted.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None

TABLES = ("cases", "interview_templates", "outbox")


def upgrade() -> None:
    op.create_table(
        "test_clocks",
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("advanced_seconds", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"],
            ["organisations.id"],
            name=op.f("fk_test_clocks_organisation_id_organisations"),
        ),
        sa.PrimaryKeyConstraint("organisation_id", name=op.f("pk_test_clocks")),
        if_not_exists=True,
    )
    for table in TABLES:
        gently.create_index(
            f"ix_{table}_test", table, ["organisation_id"], postgresql_where=sa.text("NOT livemode")
        )


def downgrade() -> None:
    for table in TABLES:
        gently.drop_index(f"ix_{table}_test", table)
    op.execute("DROP TABLE IF EXISTS test_clocks")
