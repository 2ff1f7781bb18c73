"""offers"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

KEYS = {
    "owner": ["organisation_id", "livemode"],
    "owner_status": ["organisation_id", "livemode", "status"],
    "job": ["job_id"],
    "job_status": ["job_id", "status"],
    "application": ["application_id"],
}


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "offers",
        sa.Column("application_id", sa.Uuid(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body_html", sa.Text(), nullable=False),
        sa.Column("compensation_text", sa.Text(), nullable=False),
        sa.Column("start_date", sa.Date(), nullable=True),
        sa.Column("expires_at", moment, nullable=True),
        sa.Column("scheduled_send_at", moment, nullable=True),
        sa.Column("send_error", sa.Text(), nullable=True),
        sa.Column("sent_at", moment, nullable=True),
        sa.Column("responded_at", moment, nullable=True),
        sa.Column("decline_reason", sa.Text(), nullable=False),
        sa.Column("letter", postgresql.JSONB(), nullable=True),
        sa.Column("mail_error", sa.Text(), nullable=True),
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("livemode", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", moment, nullable=False),
        sa.Column("updated_at", moment, nullable=False),
        sa.ForeignKeyConstraint(
            ["application_id"], ["applications.id"], name="fk_offers_application_id_applications"
        ),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_offers_job_id_jobs"),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name="fk_offers_organisation_id_organisations"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_offers"),
        sa.UniqueConstraint("token", name="uq_offers_token"),
    )
    sent = sa.text("status = 'sent'")
    op.create_index("uq_offers_sent", "offers", ["application_id"], unique=True, postgresql_where=sent)
    for name, keys in KEYS.items():
        op.create_index(f"ix_offers_{name}", "offers", [*keys, "id", "updated_at"])
    op.create_index("ix_offers_owner_updated_at", "offers", ["organisation_id", "livemode", "updated_at"])
    op.create_index(
        "ix_offers_sendings",
        "offers",
        ["scheduled_send_at"],
        postgresql_where=sa.text("status = 'scheduled'"),
    )
    op.create_index("ix_offers_expiry", "offers", ["expires_at"], postgresql_where=sent)


def downgrade() -> None:
    op.drop_table("offers")
