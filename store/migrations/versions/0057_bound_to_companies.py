"""bound to companies

Who a member is to their company's provider, since they signed in by it first.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None

COLUMNS = ("company_issuer", "company_subject")


def upgrade() -> None:
    for name in COLUMNS:
        gently.add_column("members", sa.Column(name, sa.Text()))
    gently.create_index("uq_members_company", "members", ["organisation_id", *COLUMNS], unique=True)


def downgrade() -> None:
    gently.drop_index("uq_members_company", "members")
    for name in COLUMNS:
        op.execute(f"ALTER TABLE members DROP COLUMN IF EXISTS {name}")
