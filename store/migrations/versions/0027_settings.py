"""settings

How an organisation looks and writes to candidates: settings, a logo, its own words in mails.
"""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "organisation_settings",
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False, server_default="en"),
        sa.Column("reply_to", sa.Text(), nullable=True),
        sa.Column("help_contact", sa.Text(), nullable=False, server_default=""),
        sa.Column("colour", sa.Text(), nullable=True),
        sa.Column("welcome_html", sa.Text(), nullable=False, server_default=""),
        sa.Column("closing_html", sa.Text(), nullable=False, server_default=""),
        sa.Column("privacy_html", sa.Text(), nullable=False, server_default=""),
        sa.Column("privacy_url", sa.Text(), nullable=True),
        sa.Column("receipt_mail", sa.Boolean(), nullable=False, server_default="false"),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"],
            ["organisations.id"],
            name="fk_organisation_settings_organisation_id_organisations",
        ),
        sa.PrimaryKeyConstraint("organisation_id", name="pk_organisation_settings"),
    )
    op.create_table(
        "organisation_logos",
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("etag", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"],
            ["organisations.id"],
            name="fk_organisation_logos_organisation_id_organisations",
        ),
        sa.PrimaryKeyConstraint("organisation_id", name="pk_organisation_logos"),
    )
    op.create_table(
        "mail_templates",
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False, server_default=""),
        sa.Column("body_text", sa.Text(), nullable=False, server_default=""),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name="fk_mail_templates_organisation_id_organisations"
        ),
        sa.PrimaryKeyConstraint("organisation_id", "kind", "language", name="pk_mail_templates"),
    )


def downgrade() -> None:
    for table in ("mail_templates", "organisation_logos", "organisation_settings"):
        op.drop_table(table)
