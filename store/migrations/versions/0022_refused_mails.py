"""refused mails

An invitation says why its last mail did not reach the candidate.
"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("invitations", sa.Column("mail_error", sa.Text(), nullable=True))


def downgrade() -> None:
    op.drop_column("invitations", "mail_error")
