"""events wait by organisation

Events that are not deliveries yet are found by whose they are, so that nobody's wait behind somebody else's. The index
holds only those, a few; while it is made, new events wait for about a second where there are a million old ones.
"""

from alembic import op
from sqlalchemy import text

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

WAITING = text("fanned_out_at IS NULL")


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    _replace("ix_events_waiting", "ix_events_to_fan_out", ["organisation_id", "livemode", "sequence"])


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    _replace("ix_events_to_fan_out", "ix_events_waiting", ["id"])


def _replace(old: str, new: str, columns: list[str]) -> None:
    op.create_index(new, "events", columns, postgresql_where=WAITING)
    op.drop_index(old, table_name="events")
