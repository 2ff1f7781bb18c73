"""member invites

Who is invited to join an organisation; and an index for the list of its members.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "member_invites",
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("invited_by", sa.Uuid(), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name="fk_member_invites_organisation_id_organisations"
        ),
        sa.ForeignKeyConstraint(
            ["invited_by"],
            ["members.user_id"],
            name="fk_member_invites_invited_by_members",
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_member_invites"),
        sa.UniqueConstraint("hash", name="uq_member_invites_hash"),
        if_not_exists=True,
    )
    op.create_index(
        "ix_member_invites_owner", "member_invites", ["organisation_id", "id"], if_not_exists=True
    )
    op.create_index(
        "uq_member_invites_email",
        "member_invites",
        ["organisation_id", sa.text("lower(email)")],
        unique=True,
        postgresql_where=sa.text("accepted_at IS NULL"),
        if_not_exists=True,
    )
    gently.create_index("ix_members_owner", "members", ["organisation_id", "id"])


def downgrade() -> None:
    op.drop_index("ix_members_owner", "members")
    op.drop_table("member_invites")
