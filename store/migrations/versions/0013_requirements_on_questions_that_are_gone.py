"""requirements on questions that are gone

Deleting a question left what read it; nobody can meet that, and nobody can send it back.
"""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("""
        DELETE FROM job_requirements AS requirement
        WHERE field IS NOT NULL AND NOT EXISTS (
            SELECT FROM application_fields AS question
            WHERE question.job_id = requirement.job_id AND question.key = requirement.field
        )
    """)


def downgrade() -> None:
    """What was deleted meant nothing."""
