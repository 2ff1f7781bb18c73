"""an invitation may be a retake

A person is invited once for each attempt at an assessment. A version that knows no retakes makes first attempts alone, and
finds those that are there.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

OWNER = ["organisation_id", "livemode"]
NAMES: dict[str, dict[str, Any]] = {
    "email_key": {},
    "external_id": {"postgresql_where": sa.text("external_id IS NOT NULL")},
}


def upgrade() -> None:
    gently.add_column("invitations", sa.Column("attempt", sa.Integer(), nullable=False, server_default="1"))
    gently.add_column("invitations", sa.Column("retake_of", sa.Text(), nullable=True))
    for name, how in NAMES.items():
        columns = [*OWNER, name, "assessment_id", "attempt"]
        gently.create_index(f"uq_invitations_attempts_{name}", "invitations", columns, unique=True, **how)
        gently.drop_index(f"uq_invitations_owner_{name}", "invitations")


def downgrade() -> None:
    for name, how in NAMES.items():
        columns = [*OWNER, name, "assessment_id"]
        gently.create_index(f"uq_invitations_owner_{name}", "invitations", columns, unique=True, **how)
        gently.drop_index(f"uq_invitations_attempts_{name}", "invitations")
    for name in ("attempt", "retake_of"):
        op.drop_column("invitations", name)
