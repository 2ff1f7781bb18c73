"""what tells of a person

Events and mails are found by the address of whom they tell, so that erasing somebody does not read all of them.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

OWNER = ["organisation_id", "livemode"]


def upgrade() -> None:
    gently.create_index(
        "ix_events_person",
        "events",
        [*OWNER, sa.text("lower(coalesce(data ->> 'email', data ->> 'candidate_email'))")],
    )
    gently.create_index(
        "ix_outbox_person",
        "outbox",
        [*OWNER, sa.text("lower(coalesce(arguments ->> 'candidate_email', arguments ->> 'to'))")],
        postgresql_where=sa.text("job = 'mail'"),
    )
    with gently.outside():  # how frequent an address is decides that its index is taken
        for table in ("events", "outbox"):
            op.execute(f"ANALYZE {table}")


def downgrade() -> None:
    gently.drop_index("ix_outbox_person", "outbox")
    gently.drop_index("ix_events_person", "events")
