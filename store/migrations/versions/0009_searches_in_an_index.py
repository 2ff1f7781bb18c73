"""searches in an index

What a search and the filters beside it look at stands in the index that lists read in order, so that one for a rare
word reads no rows. Migrations run in one transaction, so the indexes are not made concurrently: writes to the two
tables wait meanwhile, about a second for each million rows.
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

TABLES = ("jobs", "assessments")
SIFTED = ["title", "status", "team_id", "updated_at"]


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    _make(SIFTED)


def downgrade() -> None:
    _make([])


def _make(included: list[str]) -> None:
    for table in TABLES:
        name = f"ix_{table}_owner"
        op.drop_index(name, table_name=table)
        op.create_index(name, table, ["organisation_id", "livemode", "id"], postgresql_include=included)
