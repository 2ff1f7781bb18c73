"""room for files

What the files of each organisation come to is counted as they are kept. Those of processes that have not been replaced
yet are not: a few of the upgrade's.
"""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "files_kept",
        sa.Column("organisation_id", sa.Uuid(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organisation_id"], ["organisations.id"], name="fk_files_kept_organisation_id_organisations"
        ),
        sa.PrimaryKeyConstraint("organisation_id", name="pk_files_kept"),
    )
    op.execute("""
        INSERT INTO files_kept (organisation_id, bytes)
        SELECT organisation_id, sum(size_bytes) FROM attachments GROUP BY organisation_id
    """)


def downgrade() -> None:
    op.drop_table("files_kept")
