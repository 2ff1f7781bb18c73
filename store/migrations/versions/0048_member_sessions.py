"""member sessions

Members who are signed in, and the codes that they sign in with.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "member_sessions",
        sa.Column("member_id", sa.Uuid(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("seen_at", MOMENT, nullable=False),
        sa.Column("proven_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["member_id"], ["members.id"], name="fk_member_sessions_member_id_members", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_member_sessions"),
        sa.UniqueConstraint("hash", name="uq_member_sessions_hash"),
        if_not_exists=True,
    )
    op.create_index("ix_member_sessions_member", "member_sessions", ["member_id", "id"], if_not_exists=True)
    op.create_index("ix_member_sessions_expires_at", "member_sessions", ["expires_at"], if_not_exists=True)
    op.create_table(
        "sign_in_codes",
        sa.Column("member_id", sa.Uuid(), nullable=False),
        sa.Column("link_hash", sa.Text(), nullable=False),
        sa.Column("code_hash", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("used_at", MOMENT, nullable=True),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["member_id"], ["members.id"], name="fk_sign_in_codes_member_id_members", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_sign_in_codes"),
        sa.UniqueConstraint("link_hash", name="uq_sign_in_codes_link_hash"),
        if_not_exists=True,
    )
    op.create_index("ix_sign_in_codes_member", "sign_in_codes", ["member_id", "id"], if_not_exists=True)
    op.create_index("ix_sign_in_codes_expires_at", "sign_in_codes", ["expires_at"], if_not_exists=True)
    gently.create_index("ix_members_email", "members", [sa.text("lower(email)")])


def downgrade() -> None:
    gently.drop_index("ix_members_email", "members")
    op.drop_table("sign_in_codes")
    op.drop_table("member_sessions")
