"""briefs

What an AI brief was written on is known by its SHA-256, so that the same is not asked for twice.
"""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("screenings", sa.Column("brief_input", sa.Text()))


def downgrade() -> None:
    op.drop_column("screenings", "brief_input")
