"""${message}

A migration runs while the service does, in a transaction of its own: it must not hold a lock for long. Add columns as
nullable or with a constant default, make indexes and constraints with `gently`, and split data changes from schema
changes.
"""

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    ${downgrades if downgrades else "pass"}
