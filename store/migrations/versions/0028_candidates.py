"""candidates

Profiles get what people write of them, and are found by any part of a name or an address: PostgreSQL as it comes has no
index for that, so `parts` cuts a text into what up to three letters may ask for.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from store.migrations import gently

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

HERE = sa.text("gone_at IS NULL")
OWNER = ["organisation_id", "livemode"]
MOMENT = sa.DateTime(timezone=True)
COLUMNS: dict[str, sa.Column[Any]] = {
    "source_summary": sa.Column("source_summary", sa.Text(), nullable=False, server_default=""),
    "tags": sa.Column("tags", postgresql.ARRAY(sa.Text()), nullable=False, server_default="{}"),
    "archived_at": sa.Column("archived_at", MOMENT, nullable=True),
    "gone_at": sa.Column("gone_at", MOMENT, nullable=True),
    "merged_into": sa.Column("merged_into", sa.Uuid(), nullable=True),
}
PARTS = """
    CREATE OR REPLACE FUNCTION parts(words text, shortest int) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT coalesce(array_agg(DISTINCT substr(words, place, size)), '{}')
        FROM generate_series(shortest, 3) AS size, generate_series(1, length(words) - size + 1) AS place
    $$
"""


SEARCHED = """
    CREATE OR REPLACE FUNCTION searched(full_name text, email text, tags text[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT lower(full_name || ' ' || email || ' ' || array_to_string(tags, ' '))
    $$
"""


def upgrade() -> None:
    for column in COLUMNS.values():
        gently.add_column("candidates", column)
    gently.add_constraint(
        "fk_candidates_merged_into_candidates",
        "candidates",
        "FOREIGN KEY (merged_into) REFERENCES candidates (id)",
    )
    op.execute(PARTS)
    op.execute(SEARCHED)
    gently.create_index(
        "ix_candidates_owner",
        "candidates",
        [*OWNER, "id", "updated_at", "archived_at"],
        postgresql_where=HERE,
    )
    gently.create_index(
        "ix_candidates_owner_updated_at", "candidates", [*OWNER, "updated_at"], postgresql_where=HERE
    )
    gently.create_index(
        "ix_candidates_tags",
        "candidates",
        ["tags"],
        postgresql_using="gin",
        postgresql_where=sa.text("tags <> '{}'"),
    )
    gently.create_index(
        "ix_candidates_parts",
        "candidates",
        [sa.text("parts(searched(full_name, email, tags), 1)")],
        postgresql_using="gin",
    )
    with gently.outside():  # how frequent each of many parts is decides how a search is planned
        op.execute("ALTER INDEX ix_candidates_parts ALTER COLUMN 1 SET STATISTICS 1000")
        op.execute("ANALYZE candidates")
    gently.create_index(
        "ix_candidates_merged",
        "candidates",
        ["merged_into"],
        postgresql_where=sa.text("merged_into IS NOT NULL"),
    )
    owned: list[sa.Column[Any]] = [
        sa.Column("candidate_id", sa.Uuid(), nullable=False),
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("livemode", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
    ]
    op.create_table(
        "candidate_notes",
        *(column.copy() for column in owned),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        *_keys("candidate_notes", "candidate_id", "organisation_id"),
        if_not_exists=True,
    )
    op.create_table(
        "scorecards",
        *(column.copy() for column in owned),
        sa.Column("author_id", sa.Uuid(), nullable=True),
        sa.Column("application_id", sa.Uuid(), nullable=True),
        sa.Column("assessment_id", sa.Uuid(), nullable=True),
        sa.Column("criteria", postgresql.JSONB(), nullable=False),
        sa.Column("total", sa.Numeric(8, 2), nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        *_keys("scorecards", "candidate_id", "organisation_id", "application_id", "assessment_id"),
        if_not_exists=True,
    )
    op.create_index("ix_candidate_notes_order", "candidate_notes", ["candidate_id", "id"], if_not_exists=True)
    op.create_index(
        "ix_scorecards_order", "scorecards", ["candidate_id", "id", "updated_at"], if_not_exists=True
    )
    op.create_index(
        "ix_scorecards_updated_at", "scorecards", ["candidate_id", "updated_at"], if_not_exists=True
    )


def _keys(table: str, *columns: str) -> list[sa.schema.SchemaItem]:
    named = {
        "candidate_id": "candidates",
        "organisation_id": "organisations",
        "application_id": "applications",
        "assessment_id": "assessments",
    }
    return [
        sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
        *(
            sa.ForeignKeyConstraint(
                [column], [f"{named[column]}.id"], name=f"fk_{table}_{column}_{named[column]}"
            )
            for column in columns
        ),
    ]


def downgrade() -> None:
    op.drop_table("scorecards")
    op.drop_table("candidate_notes")
    for name in ("merged", "parts", "tags", "owner_updated_at", "owner"):
        gently.drop_index(f"ix_candidates_{name}", "candidates")
    for name in COLUMNS:
        op.execute(f"ALTER TABLE candidates DROP COLUMN IF EXISTS {name}")
    op.execute("DROP FUNCTION IF EXISTS parts(text, int)")
    op.execute("DROP FUNCTION IF EXISTS searched(text, text, text[])")
