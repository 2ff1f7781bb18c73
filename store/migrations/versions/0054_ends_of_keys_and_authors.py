"""ends of keys and authors

When people are mailed next that one of their keys ends; and which member wrote a note.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None

NOTES = ("candidate_notes", "enrollment_notes")
# A week before, else a day before; there are few keys, and fewer that end.
FILL = """
    UPDATE api_keys SET expiry_mail_at = CASE
        WHEN expires_at - interval '7 days' > now() THEN expires_at - interval '7 days'
        ELSE expires_at - interval '1 day'
    END
    WHERE expires_at - interval '1 day' > now() AND revoked_at IS NULL AND expiry_mail_at IS NULL
"""


def upgrade() -> None:
    for table in NOTES:
        gently.add_column(table, sa.Column("author_id", sa.Uuid()))
    gently.add_column("api_keys", sa.Column("expiry_mail_at", sa.DateTime(timezone=True)))
    with gently.outside():
        op.execute(FILL)
    gently.create_index(
        "ix_api_keys_expiry_mail_at",
        "api_keys",
        ["expiry_mail_at"],
        postgresql_where=sa.text("expiry_mail_at IS NOT NULL"),
    )


def downgrade() -> None:
    gently.drop_index("ix_api_keys_expiry_mail_at", "api_keys")
    op.execute("ALTER TABLE api_keys DROP COLUMN IF EXISTS expiry_mail_at")
    for table in NOTES:
        op.execute(f"ALTER TABLE {table} DROP COLUMN IF EXISTS author_id")
