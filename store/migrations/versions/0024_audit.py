"""audit

What changes something leaves a row; sealed rows are a chain in each organisation, with anchors.
"""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

MODES = {"live": "livemode IS NOT FALSE", "test": "livemode IS NOT TRUE"}
FILTERS = ("channel", "outcome", "action")


def upgrade() -> None:
    op.create_table("audit_waiting", *_told(), sa.PrimaryKeyConstraint("id", name="pk_audit_waiting"))
    op.create_table(
        "audit_rows",
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        *_told(),
        sa.PrimaryKeyConstraint("id", name="pk_audit_rows"),
    )
    op.create_index("uq_audit_rows_number", "audit_rows", ["organisation_id", "number"], unique=True)
    for mode, where in MODES.items():
        for first in (None, *FILTERS):
            name = f"ix_audit_rows_{mode}_{first}" if first else f"ix_audit_rows_{mode}"
            op.create_index(
                name,
                "audit_rows",
                ["organisation_id", *([first] if first else []), "id"],
                postgresql_where=sa.text(where),
                postgresql_include=[one for one in FILTERS if one != first],
            )
    op.create_table(
        "audit_chains",
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("anchor", sa.BigInteger(), nullable=False),
        sa.Column("anchored_number", sa.BigInteger(), nullable=False),
        sa.Column("anchored_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("seal", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("organisation_id", name="pk_audit_chains"),
    )
    op.create_table(
        "audit_anchors",
        sa.Column("anchor", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("anchored_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("seal", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("anchor", name="pk_audit_anchors"),
    )


def _told() -> list[sa.Column[object]]:
    return [
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("occurred_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("livemode", sa.Boolean(), nullable=True),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("actor_type", sa.Text(), nullable=False),
        sa.Column("actor_id", sa.Uuid(), nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=True),
        sa.Column("path", sa.Text(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("status_code", sa.Integer(), nullable=True),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("ip", sa.Text(), nullable=True),
        sa.Column("request_id", sa.Text(), nullable=True),
        sa.Column("resource_type", sa.Text(), nullable=True),
        sa.Column("resource_id", sa.Text(), nullable=True),
        sa.Column("duration_ms", sa.Integer(), nullable=True),
    ]


def downgrade() -> None:
    for table in ("audit_anchors", "audit_chains", "audit_rows", "audit_waiting"):
        op.drop_table(table)
