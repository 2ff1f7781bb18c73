"""what the funnel asks of applications, their history, knockouts and offers is in indexes"""

from sqlalchemy import text

from store.migrations import gently

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

OWNER = ["organisation_id", "livemode"]


def upgrade() -> None:
    gently.create_index(
        "ix_applications_submitted",
        "applications",
        [*OWNER, "submitted_at"],
        postgresql_include=["id", "job_id", "source", "invitation_id", "enrollment_id"],
    )
    gently.create_index(
        "ix_application_events_stages",
        "application_events",
        ["application_id", "type", "created_at"],
        postgresql_where=text("type IN ('screened', 'advanced', 'hired')"),
    )
    gently.create_index(
        "ix_screenings_knocked_out",
        "screenings",
        ["application_id"],
        postgresql_where=text("l1_passed IS NOT TRUE"),
    )
    gently.create_index(
        "ix_offers_sent",
        "offers",
        [*OWNER, "sent_at"],
        postgresql_include=["application_id", "status", "responded_at"],
        postgresql_where=text("sent_at IS NOT NULL"),
    )


def downgrade() -> None:
    gently.drop_index("ix_offers_sent", "offers")
    gently.drop_index("ix_screenings_knocked_out", "screenings")
    gently.drop_index("ix_application_events_stages", "application_events")
    gently.drop_index("ix_applications_submitted", "applications")
