"""tallies of deliveries

What an endpoint's own row does not count yet. The version before counts on the endpoint's row, which both go on adding to.
"""

import sqlalchemy as sa
from alembic import op

revision = "0063"
down_revision = "0062"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "delivery_tallies",
        sa.Column("endpoint_id", sa.Uuid(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("livemode", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["endpoint_id"],
            ["webhook_endpoints.id"],
            name=op.f("fk_delivery_tallies_endpoint_id_webhook_endpoints"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organisation_id"],
            ["organisations.id"],
            name=op.f("fk_delivery_tallies_organisation_id_organisations"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery_tallies")),
        postgresql_with={"autovacuum_vacuum_scale_factor": "0.02"},
    )
    op.create_index("ix_delivery_tallies_endpoint", "delivery_tallies", ["endpoint_id"])
    op.create_index(
        "ix_delivery_tallies_owner", "delivery_tallies", ["organisation_id", "livemode", "created_at"]
    )
    op.create_index("ix_delivery_tallies_due", "delivery_tallies", ["created_at"])


def downgrade() -> None:
    op.execute("""
        UPDATE webhook_endpoints SET pending_delivery_count = pending_delivery_count + tally.count
        FROM (SELECT endpoint_id, sum(count) AS count FROM delivery_tallies GROUP BY endpoint_id) AS tally
        WHERE webhook_endpoints.id = tally.endpoint_id
    """)
    op.drop_table("delivery_tallies")
