"""requests

Requests counted by hour, and the indexes that usage is counted from.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

COUNTS: dict[str, tuple[str, list[str], list[sa.Column[Any]]]] = {
    "request_counts": (
        "hour",
        [],
        [sa.Column(name, sa.Integer(), nullable=False) for name in ("reads", "writes", "faults")],
    ),
    "request_sketches": (
        "bucket",
        ["bucket"],
        [sa.Column(name, sa.Integer(), nullable=False) for name in ("bucket", "count")],
    ),
    "request_refusals": (
        "code",
        ["code"],
        [
            sa.Column("code", sa.Text(), nullable=False),
            sa.Column("count", sa.Integer(), nullable=False),
            sa.Column("last_seen", sa.DateTime(timezone=True), nullable=False),
        ],
    ),
}
OWNER = ["organisation_id", "livemode"]
USAGE = {
    "ix_invitations_made": ("invitations", "created_at", None),
    "ix_sessions_begun": ("sessions", "started_at", None),
    "ix_sessions_ended": ("sessions", "completed_at", "completed_at IS NOT NULL"),
}


def upgrade() -> None:
    for table, (name, key, columns) in COUNTS.items():
        op.create_table(
            table,
            sa.Column("hour", sa.DateTime(timezone=True), nullable=False),
            *columns,
            sa.Column("organisation_id", sa.Uuid(), nullable=False),
            sa.Column("livemode", sa.Boolean(), nullable=False),
            sa.Column("id", sa.Uuid(), nullable=False),
            sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
            sa.ForeignKeyConstraint(
                ["organisation_id"], ["organisations.id"], name=f"fk_{table}_organisation_id_organisations"
            ),
            sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
            if_not_exists=True,
        )
        op.create_index(f"uq_{table}_{name}", table, [*OWNER, "hour", *key], unique=True, if_not_exists=True)
        op.create_index(f"ix_{table}_hour", table, ["hour"], if_not_exists=True)
    for name, (table, moment, where) in USAGE.items():
        how = {"postgresql_where": sa.text(where)} if where else {}
        gently.create_index(name, table, [*OWNER, moment, "assessment_id"], **how)


def downgrade() -> None:
    for name, (table, _, _) in USAGE.items():
        op.drop_index(name, table)
    for table in COUNTS:
        op.drop_table(table)
