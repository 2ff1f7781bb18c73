"""requests of the last days are looked for by status, code, operation and key"""

import sqlalchemy as sa

from store.migrations import gently

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

MODES = {"live": "livemode IS NOT FALSE", "test": "livemode IS NOT TRUE"}


def upgrade() -> None:
    for mode, where in MODES.items():
        gently.create_index(
            f"ix_audit_rows_{mode}_requests",
            "audit_rows",
            ["organisation_id", "id"],
            postgresql_where=sa.text(f"{where} AND channel = 'public_api' AND request_id IS NOT NULL"),
            postgresql_include=["status_code", "error_code", "action", "actor_id"],
        )


def downgrade() -> None:
    for mode in MODES:
        gently.drop_index(f"ix_audit_rows_{mode}_requests", "audit_rows")
