"""status links

Who applied gets a link to a page of their own, known by its hash; and a knockout that rejects is mailed as a rejection is.
"""

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

REJECTIONS = "ix_applications_rejection_mail"


def upgrade() -> None:
    op.create_table(
        "status_links",
        sa.Column("application_id", sa.Uuid(), nullable=False),
        sa.Column("mail", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["application_id"], ["applications.id"], name="fk_status_links_application_id_applications"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_status_links"),
        sa.UniqueConstraint("hash", name="uq_status_links_hash"),
        if_not_exists=True,
    )
    op.create_index(
        "ix_status_links_application", "status_links", ["application_id", "created_at"], if_not_exists=True
    )
    gently.add_column("applications", sa.Column("rejection_mailed_at", sa.DateTime(timezone=True)))
    gently.create_index(
        f"{REJECTIONS}s",
        "applications",
        ["rejection_mail_at"],
        postgresql_where=sa.text(
            "status IN ('rejected', 'knockout_failed') AND rejection_mail_at IS NOT NULL"
        ),
    )
    gently.drop_index(REJECTIONS, "applications")


def downgrade() -> None:
    gently.create_index(
        REJECTIONS,
        "applications",
        ["rejection_mail_at"],
        postgresql_where=sa.text("status = 'rejected' AND rejection_mail_at IS NOT NULL"),
    )
    gently.drop_index(f"{REJECTIONS}s", "applications")
    op.execute("ALTER TABLE applications DROP COLUMN IF EXISTS rejection_mailed_at")
    op.drop_table("status_links")
