"""events wait by organisation

Events that are not deliveries yet are found by whose they are, so that nobody's wait behind somebody else's. The index
holds only those, a few.
"""

from sqlalchemy import text

from store.migrations import gently

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

WAITING = text("fanned_out_at IS NULL")


def upgrade() -> None:
    _replace("ix_events_waiting", "ix_events_to_fan_out", ["organisation_id", "livemode", "sequence"])


def downgrade() -> None:
    _replace("ix_events_to_fan_out", "ix_events_waiting", ["id"])


def _replace(old: str, new: str, columns: list[str]) -> None:
    gently.create_index(new, "events", columns, postgresql_where=WAITING)
    gently.drop_index(old, "events")
