"""indexes without what is not there

Most invitations have neither tags nor an id of the integration's own, and none is looked for without: their indexes hold
only those that have, so that an invite and each change of one write two entries less.
"""

from alembic import op
from sqlalchemy import text

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    _make(tags=text("tags <> '{}'"), external_id=text("external_id IS NOT NULL"))


def downgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    _make(tags=None, external_id=None)


def _make(*, tags: object, external_id: object) -> None:
    op.drop_index("ix_invitations_tags", "invitations")
    op.create_index(
        "ix_invitations_tags", "invitations", ["tags"], postgresql_using="gin", postgresql_where=tags
    )
    op.drop_index("ix_invitations_owner_external_id", "invitations")
    op.create_index(
        "ix_invitations_owner_external_id",
        "invitations",
        ["organisation_id", "livemode", "external_id", "id"],
        postgresql_where=external_id,
    )
