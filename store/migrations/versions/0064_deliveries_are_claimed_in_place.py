"""deliveries are claimed in place

A claim finds room on a delivery's own page, and changes no index. Whose a delivery is, its endpoint says: to look for the
organisation too, once for each row, took as long as to write the row.
"""

from alembic import op

from store.migrations import gently

revision = "0064"
down_revision = "0063"
branch_labels = None
depends_on = None

NAME = "fk_deliveries_organisation_id_organisations"


def upgrade() -> None:
    op.execute("ALTER TABLE deliveries SET (fillfactor = 70)")
    op.execute(f"ALTER TABLE deliveries DROP CONSTRAINT IF EXISTS {NAME}")


def downgrade() -> None:
    op.execute("ALTER TABLE deliveries RESET (fillfactor)")
    gently.add_constraint(NAME, "deliveries", "FOREIGN KEY (organisation_id) REFERENCES organisations (id)")
