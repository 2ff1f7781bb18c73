"""test inboxes

Addresses for test endpoints that lead to no machine, and what was delivered there.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "test_inboxes",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("answers", postgresql.JSONB(), nullable=False),
        sa.Column("received", sa.Integer(), nullable=False),
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("livemode", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"],
            ["organisations.id"],
            name=op.f("fk_test_inboxes_organisation_id_organisations"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_test_inboxes")),
    )
    op.create_index("ix_test_inboxes_owner", "test_inboxes", ["organisation_id", "id"])
    op.create_table(
        "test_inbox_requests",
        sa.Column("inbox_id", sa.Uuid(), nullable=False),
        sa.Column("event_id", sa.Uuid(), nullable=True),
        sa.Column("headers", postgresql.JSONB(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("verified", sa.Boolean(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["inbox_id"],
            ["test_inboxes.id"],
            name=op.f("fk_test_inbox_requests_inbox_id_test_inboxes"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_test_inbox_requests")),
    )
    op.create_index("ix_test_inbox_requests_inbox", "test_inbox_requests", ["inbox_id", "id"])


def downgrade() -> None:
    op.drop_table("test_inbox_requests")
    op.drop_table("test_inboxes")
