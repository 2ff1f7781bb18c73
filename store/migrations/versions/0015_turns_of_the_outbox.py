"""turns of the outbox

Each piece of work says whose it is, so that organisations take turns. What is there already, and what an older version
asks for meanwhile, is nobody's: one party more. The new indexes hold what is not done alone; they are made while writes
to the table wait, about a second for each million rows that it keeps.
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

WAITING = sa.text("finished_at IS NULL")


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    nobody = sa.text("'00000000-0000-0000-0000-000000000000'")
    op.add_column("outbox", sa.Column("organisation_id", sa.Uuid(), nullable=False, server_default=nobody))
    op.add_column("outbox", sa.Column("livemode", sa.Boolean(), nullable=False, server_default=sa.true()))
    op.create_index("ix_outbox_job", "outbox", ["job", "due_at"], postgresql_where=WAITING)
    turns = ["job", "organisation_id", "livemode", "due_at"]
    op.create_index("ix_outbox_turns", "outbox", turns, postgresql_where=WAITING)
    op.drop_index("ix_outbox_due", table_name="outbox")


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.create_index("ix_outbox_due", "outbox", ["due_at"], postgresql_where=WAITING)
    for name in ("ix_outbox_turns", "ix_outbox_job"):
        op.drop_index(name, table_name="outbox")
    for name in ("livemode", "organisation_id"):
        op.drop_column("outbox", name)
