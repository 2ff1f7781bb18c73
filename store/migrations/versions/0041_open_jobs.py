"""open jobs of all organisations are found along an index: what a sitemap names"""

import sqlalchemy as sa

from store.migrations import gently

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    gently.create_index(
        "ix_jobs_open", "jobs", ["id"], postgresql_where=sa.text("status = 'open' AND livemode")
    )


def downgrade() -> None:
    gently.drop_index("ix_jobs_open", "jobs")
