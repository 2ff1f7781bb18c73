"""lists of the hiring half

Jobs and applications that changed since a moment, what belongs to a squad, and how frequent words of titles are, so
that a search for a frequent one reads in order and one for a rare one looks for it. Migrations run in one
transaction, so the indexes are not made concurrently: writes to the tables wait meanwhile, about a second for each
million rows.
"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

INDEXES = (
    ("applications", "owner_updated_at", "updated_at"),
    ("jobs", "owner_updated_at", "updated_at"),
    ("jobs", "team", "team_id", "id"),
    ("assessments", "team", "team_id", "id"),
)
SEARCHED = ("jobs", "assessments")


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    for table, name, *columns in INDEXES:
        op.create_index(f"ix_{table}_{name}", table, ["organisation_id", "livemode", *columns], unique=False)
    for table in SEARCHED:
        op.execute(f"CREATE STATISTICS st_{table}_title ON lower(title) FROM {table}")


def downgrade() -> None:
    for table in SEARCHED:
        op.execute(f"DROP STATISTICS st_{table}_title")
    for table, name, *_ in INDEXES:
        op.drop_index(f"ix_{table}_{name}", table_name=table)
