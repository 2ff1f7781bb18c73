"""turns of the outbox

Each piece of work says whose it is, so that organisations take turns. What is there already, and what an older version
asks for meanwhile, is nobody's: one party more. The new indexes hold what is not done alone.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

WAITING = sa.text("finished_at IS NULL")


def upgrade() -> None:
    nobody = sa.text("'00000000-0000-0000-0000-000000000000'")
    gently.add_column(
        "outbox", sa.Column("organisation_id", sa.Uuid(), nullable=False, server_default=nobody)
    )
    gently.add_column("outbox", sa.Column("livemode", sa.Boolean(), nullable=False, server_default=sa.true()))
    gently.create_index("ix_outbox_job", "outbox", ["job", "due_at"], postgresql_where=WAITING)
    turns = ["job", "organisation_id", "livemode", "due_at"]
    gently.create_index("ix_outbox_turns", "outbox", turns, postgresql_where=WAITING)
    gently.drop_index("ix_outbox_due", "outbox")


def downgrade() -> None:
    gently.create_index("ix_outbox_due", "outbox", ["due_at"], postgresql_where=WAITING)
    for name in ("ix_outbox_turns", "ix_outbox_job"):
        gently.drop_index(name, "outbox")
    for name in ("livemode", "organisation_id"):
        op.drop_column("outbox", name)
