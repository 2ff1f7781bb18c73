"""consent, sources, retention

What an organisation asks of applicants and keeps of them, and for how long; invites that were taken back say so.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from store.migrations import gently

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
SETTINGS: list[sa.Column[Any]] = [
    sa.Column("consent_required", sa.Boolean(), nullable=False, server_default="false"),
    sa.Column("source_tracking", sa.Boolean(), nullable=False, server_default="false"),
    sa.Column("candidates_days", sa.Integer(), nullable=True),
    sa.Column("events_days", sa.Integer(), nullable=False, server_default="30"),
]
CONSENT: list[sa.Column[Any]] = [
    sa.Column("consent_at", MOMENT, nullable=True),
    sa.Column("consent_text_hash", sa.Text(), nullable=True),
]
COLUMNS: dict[str, list[sa.Column[Any]]] = {
    "organisation_settings": SETTINGS,
    "applications": [*CONSENT, sa.Column("source_detail", postgresql.JSONB(), nullable=True)],
    "sessions": CONSENT,
    "member_invites": [sa.Column("revoked_at", MOMENT, nullable=True)],
}
# What falls due by the days that an organisation has set is asked of those alone that have set any.
KEEPERS = {
    "candidates": sa.text("candidates_days IS NOT NULL"),
    "events": sa.text("events_days < 30"),
}
INVITED = ["organisation_id", sa.text("lower(email)")]


def upgrade() -> None:
    for table, columns in COLUMNS.items():
        for column in columns:
            gently.add_column(table, column.copy())
    for name, condition in KEEPERS.items():
        gently.create_index(
            f"ix_organisation_settings_{name}_days",
            "organisation_settings",
            [f"{name}_days", "organisation_id"],
            postgresql_where=condition,
        )
    gently.create_index(
        "uq_member_invites_open",
        "member_invites",
        INVITED,
        unique=True,
        postgresql_where=sa.text("accepted_at IS NULL AND revoked_at IS NULL"),
    )
    gently.drop_index("uq_member_invites_email", "member_invites")


def downgrade() -> None:
    op.execute("DELETE FROM member_invites WHERE revoked_at IS NOT NULL")
    gently.create_index(
        "uq_member_invites_email",
        "member_invites",
        INVITED,
        unique=True,
        postgresql_where=sa.text("accepted_at IS NULL"),
    )
    gently.drop_index("uq_member_invites_open", "member_invites")
    for name in KEEPERS:
        gently.drop_index(f"ix_organisation_settings_{name}_days", "organisation_settings")
    for table, columns in COLUMNS.items():
        for column in columns:
            op.execute(f"ALTER TABLE {table} DROP COLUMN IF EXISTS {column.name}")
