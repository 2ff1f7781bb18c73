"""what models write

What an AI brief was written on is known by its SHA-256, so that the same is not asked for twice; and a room by when its
AI began to speak, so that it says one thing at a time.
"""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("screenings", sa.Column("brief_input", sa.Text()))
    op.add_column("interviews", sa.Column("speaking_since", sa.DateTime(timezone=True)))


def downgrade() -> None:
    op.drop_column("interviews", "speaking_since")
    op.drop_column("screenings", "brief_input")
