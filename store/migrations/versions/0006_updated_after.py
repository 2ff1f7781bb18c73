"""updated after

Lists of what changed since a moment. Migrations run in one transaction, so the indexes are not made concurrently:
writes to the two tables wait meanwhile, about a second for each million rows.
"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TABLES = ("assessments", "invitations")


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for table in TABLES:
        op.create_index(
            f"ix_{table}_owner_updated_at", table, ["organisation_id", "livemode", "updated_at"], unique=False
        )


def downgrade() -> None:
    for table in TABLES:
        op.drop_index(f"ix_{table}_owner_updated_at", table_name=table)
