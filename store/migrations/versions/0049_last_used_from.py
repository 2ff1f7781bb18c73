"""last used from

From which address a key was used last; and an index for the list of an organisation's keys.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None


def upgrade() -> None:
    gently.add_column("api_keys", sa.Column("last_used_from", sa.Text()))
    gently.create_index("ix_api_keys_owner", "api_keys", ["organisation_id", "id"])


def downgrade() -> None:
    gently.drop_index("ix_api_keys_owner", "api_keys")
    op.execute("ALTER TABLE api_keys DROP COLUMN IF EXISTS last_used_from")
