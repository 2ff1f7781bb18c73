"""tallies of applications

What a job's own row does not count yet. The version before counts on the job's row, which both go on adding to.
"""

import sqlalchemy as sa
from alembic import op

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "application_tallies",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("livemode", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_application_tallies_job_id_jobs")),
        sa.ForeignKeyConstraint(
            ["organisation_id"],
            ["organisations.id"],
            name=op.f("fk_application_tallies_organisation_id_organisations"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_application_tallies")),
    )
    op.create_index("ix_application_tallies_job", "application_tallies", ["job_id"])
    op.create_index(
        "ix_application_tallies_owner", "application_tallies", ["organisation_id", "livemode", "created_at"]
    )
    op.create_index("ix_application_tallies_due", "application_tallies", ["created_at"])


def downgrade() -> None:
    op.execute("""
        UPDATE jobs SET application_count = application_count + tally.count
        FROM (SELECT job_id, sum(count) AS count FROM application_tallies GROUP BY job_id) AS tally
        WHERE jobs.id = tally.job_id
    """)
    op.drop_table("application_tallies")
