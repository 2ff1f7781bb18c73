"""filters in indexes

What a search and the filters beside it look at stands in the index that lists of jobs and assessments read in order,
so that one for a rare word reads no rows; and lists of applications and invitations sift out what changed since a
moment in the indexes they read in order. Migrations run in one transaction, so the indexes are not made concurrently:
writes to the tables wait meanwhile, about ten seconds for each million rows.
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

SEARCHED = ("jobs", "assessments")
SIFTED = ["title", "status", "team_id", "updated_at"]

OWNER = ["organisation_id", "livemode"]
APPLICATIONS = {
    f"ix_applications_{name}_{order}": [*owner, *keys, "id"]
    for name, owner in {
        "owner": OWNER,
        "owner_status": [*OWNER, "status"],
        "job": ["job_id"],
        "job_status": ["job_id", "status"],
    }.items()
    for order, keys in {"score": ["l3_rank", "submitted_at"], "time": ["submitted_at"]}.items()
}
INVITATIONS = {
    "ix_invitations_owner": [*OWNER, "id"],
    "ix_invitations_owner_status": [*OWNER, "status", "id"],
    "ix_invitations_assessment": ["assessment_id", "id"],
    "ix_invitations_assessment_status": ["assessment_id", "status", "id"],
}


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    _make(last=["updated_at"], included=SIFTED)


def downgrade() -> None:
    _make(last=[], included=[])


def _make(*, last: list[str], included: list[str]) -> None:
    for table, indexes in {"applications": APPLICATIONS, "invitations": INVITATIONS}.items():
        for name, columns in indexes.items():
            op.drop_index(name, table_name=table)
            op.create_index(name, table, [*columns, *last])
    for table in SEARCHED:
        name = f"ix_{table}_owner"
        op.drop_index(name, table_name=table)
        op.create_index(name, table, [*OWNER, "id"], postgresql_include=included)
