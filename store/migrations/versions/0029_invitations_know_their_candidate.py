"""invitations and enrollments know their candidate

Those that are there are linked a thousand at a time, each time in a transaction of its own, with the profiles they need.
"""

from uuid import UUID

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

NAMES = {"invitations": "name", "enrollments": "candidate_name"}
BATCH = 1000
# The profile is as old as what it comes of, so its id, by which lists run, is too.
MEET = """
    INSERT INTO candidates (
        id, created_at, updated_at, last_activity_at, organisation_id, livemode, email, email_key, full_name, phone
    )
    SELECT DISTINCT ON (email_key COLLATE "C", organisation_id, livemode)
           CAST(lpad(to_hex(CAST(extract(epoch FROM created_at) * 1000 AS bigint)), 12, '0') || '7'
                || substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15) AS uuid),
           created_at, clock_timestamp(), created_at, organisation_id, livemode, email, email_key, {name}, ''
    FROM {table}
    WHERE id = ANY (:ids) AND candidate_id IS NULL
    ORDER BY email_key COLLATE "C", organisation_id, livemode, created_at
    ON CONFLICT (organisation_id, livemode, email_key) DO NOTHING
"""
LINK = """
    UPDATE {table} AS row SET candidate_id = coalesce(candidates.merged_into, candidates.id)
    FROM candidates, (SELECT id FROM {table} WHERE id = ANY (:ids) ORDER BY id FOR NO KEY UPDATE) AS mine
    WHERE row.id = mine.id AND row.candidate_id IS NULL AND candidates.organisation_id = row.organisation_id
      AND candidates.livemode = row.livemode AND candidates.email_key = row.email_key
"""


def upgrade() -> None:
    for table, name in NAMES.items():
        gently.add_column(table, sa.Column("candidate_id", sa.Uuid(), nullable=True))
        _fill(table, name)
        gently.add_constraint(
            f"fk_{table}_candidate_id_candidates",
            table,
            "FOREIGN KEY (candidate_id) REFERENCES candidates (id)",
        )
        gently.create_index(f"ix_{table}_candidate", table, ["candidate_id", "id"])


def _fill(table: str, name: str) -> None:
    """Link every row that is there."""
    after = UUID(int=0)
    some = sa.text(f"SELECT id FROM {table} WHERE id > :after ORDER BY id LIMIT {BATCH}")  # noqa: S608
    with gently.outside():
        here = op.get_bind()
        while ids := here.scalars(some, {"after": after}).all():
            for statement in (MEET, LINK):
                here.execute(sa.text(statement.format(table=table, name=name)), {"ids": ids})
            after = ids[-1]


def downgrade() -> None:
    for table in NAMES:
        gently.drop_index(f"ix_{table}_candidate", table)
        op.execute(f"ALTER TABLE {table} DROP COLUMN candidate_id")
