"""signing in otherwise

Passkeys of members, and what a browser has begun and comes back with.
"""

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "sign_in_starts",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("member_id", sa.Uuid(), nullable=True),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["member_id"], ["members.id"], name="fk_sign_in_starts_member_id_members", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_sign_in_starts"),
        sa.UniqueConstraint("hash", name="uq_sign_in_starts_hash"),
    )
    op.create_index("ix_sign_in_starts_member_id", "sign_in_starts", ["member_id"])
    op.create_index("ix_sign_in_starts_expires_at", "sign_in_starts", ["expires_at"])
    op.create_table(
        "passkeys",
        sa.Column("member_id", sa.Uuid(), nullable=False),
        sa.Column("credential_id", sa.Text(), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("sign_count", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("last_used_at", MOMENT, nullable=True),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["member_id"], ["members.id"], name="fk_passkeys_member_id_members", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_passkeys"),
        sa.UniqueConstraint("credential_id", name="uq_passkeys_credential_id"),
    )
    op.create_index("ix_passkeys_member", "passkeys", ["member_id", "id"])


def downgrade() -> None:
    op.drop_table("passkeys")
    op.drop_table("sign_in_starts")
