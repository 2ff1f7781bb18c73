"""one index for each name of an invitation

An address, and an id of the integration's own, is found in an organisation and is there once in an assessment. One index
says both: each invite writes two entries less.
"""

from typing import Any

from alembic import op
from sqlalchemy import text

from store.migrations import gently

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

OWNER = ["organisation_id", "livemode"]
GIVEN: dict[str, Any] = {"postgresql_where": text("external_id IS NOT NULL")}


def upgrade() -> None:
    for name, how in {"email_key": {}, "external_id": GIVEN}.items():
        columns = [*OWNER, name, "assessment_id"]
        gently.create_index(f"uq_invitations_owner_{name}", "invitations", columns, unique=True, **how)
    op.execute("ALTER TABLE invitations DROP CONSTRAINT IF EXISTS uq_invitations_assessment_id_email_key")
    for name in (
        "uq_invitations_external_id",
        "ix_invitations_owner_email",
        "ix_invitations_owner_external_id",
    ):
        gently.drop_index(name, "invitations")


def downgrade() -> None:
    same = "uq_invitations_assessment_id_email_key"
    gently.create_index(same, "invitations", ["assessment_id", "email_key"], unique=True)
    op.execute(f"ALTER TABLE invitations ADD CONSTRAINT {same} UNIQUE USING INDEX {same}")
    gently.create_index(
        "uq_invitations_external_id", "invitations", ["assessment_id", "external_id"], unique=True, **GIVEN
    )
    gently.create_index("ix_invitations_owner_email", "invitations", [*OWNER, "email_key", "id"])
    gently.create_index(
        "ix_invitations_owner_external_id", "invitations", [*OWNER, "external_id", "id"], **GIVEN
    )
    for name in ("email_key", "external_id"):
        gently.drop_index(f"uq_invitations_owner_{name}", "invitations")
