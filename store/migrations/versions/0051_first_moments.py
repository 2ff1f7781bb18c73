"""applications know when they were first screened, advanced and hired, and which link led to them

The database keeps these itself, so that they are right whichever version writes beside the other. Those that are there are
filled a thousand at a time, each time in a transaction of its own.
"""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from alembic import op

from store.migrations import gently

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None

BATCH = 1000
MOMENTS = {"screened": "first_screened_at", "advanced": "first_advanced_at", "hired": "first_hired_at"}
COLUMNS: list[sa.Column[Any]] = [
    *(sa.Column(name, sa.DateTime(timezone=True), nullable=True) for name in MOMENTS.values()),
    sa.Column("origin", sa.Text(), nullable=True),
]
OWNER = ["organisation_id", "livemode", "submitted_at"]
SHOWN = ["id", "job_id", "source", "invitation_id", "enrollment_id"]
OLD, NEW, STAGES = "ix_applications_submitted", "ix_applications_funnel", "ix_application_events_stages"
ORIGIN = "lower(coalesce({row}.source_detail->>'utm_source', {row}.source_detail->>'ref', {row}.source_detail->>'referrer'))"
SETS = ", ".join(
    f"{name} = CASE WHEN NEW.type = '{type}' THEN least({name}, NEW.created_at) ELSE {name} END"
    for type, name in MOMENTS.items()
)
LATER = " OR ".join(
    f"(NEW.type = '{type}' AND ({name} IS NULL OR {name} > NEW.created_at))" for type, name in MOMENTS.items()
)
TRIGGERS = f"""
CREATE OR REPLACE FUNCTION stamp_application() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE applications SET {SETS} WHERE id = NEW.application_id AND ({LATER});
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER stamp_application AFTER INSERT ON application_events FOR EACH ROW
WHEN (NEW.type IN ('screened', 'advanced', 'hired')) EXECUTE FUNCTION stamp_application();
CREATE OR REPLACE FUNCTION tell_origin() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.origin := {ORIGIN.format(row="NEW")};
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER tell_origin BEFORE INSERT OR UPDATE OF source_detail ON applications FOR EACH ROW
EXECUTE FUNCTION tell_origin();
"""  # noqa: S608 - names of our own
FIRST = ", ".join(
    f"min(created_at) FILTER (WHERE type = '{type}') AS {name}" for type, name in MOMENTS.items()
)
FILL = f"""
    UPDATE applications AS row
    SET {", ".join(f"{name} = least(row.{name}, found.{name})" for name in MOMENTS.values())}, origin = {ORIGIN.format(row="row")}
    FROM (SELECT id FROM applications WHERE id = ANY (:ids) ORDER BY id FOR NO KEY UPDATE) AS mine
    CROSS JOIN LATERAL (
        SELECT {FIRST} FROM application_events
        WHERE application_id = mine.id AND type IN ('screened', 'advanced', 'hired')
    ) AS found
    WHERE row.id = mine.id
      AND (coalesce(found.first_screened_at, found.first_advanced_at, found.first_hired_at) IS NOT NULL
           OR source_detail IS NOT NULL)
"""  # noqa: S608 - names of our own


def upgrade() -> None:
    for column in COLUMNS:
        gently.add_column("applications", column.copy())
    op.execute(TRIGGERS)
    after = UUID(int=0)
    some = sa.text(f"SELECT id FROM applications WHERE id > :after ORDER BY id LIMIT {BATCH}")  # noqa: S608
    with gently.outside():
        here = op.get_bind()
        while ids := here.scalars(some, {"after": after}).all():
            here.execute(sa.text(FILL), {"ids": ids})
            after = ids[-1]
    gently.create_index(NEW, "applications", OWNER, postgresql_include=[*SHOWN, *MOMENTS.values(), "origin"])
    gently.drop_index(OLD, "applications")
    gently.drop_index(STAGES, "application_events")


def downgrade() -> None:
    gently.create_index(
        STAGES,
        "application_events",
        ["application_id", "type", "created_at"],
        postgresql_where=sa.text("type IN ('screened', 'advanced', 'hired')"),
    )
    gently.create_index(OLD, "applications", OWNER, postgresql_include=SHOWN)
    gently.drop_index(NEW, "applications")
    op.execute("DROP TRIGGER stamp_application ON application_events")
    op.execute("DROP TRIGGER tell_origin ON applications")
    op.execute("DROP FUNCTION stamp_application, tell_origin")
    for column in COLUMNS:
        op.execute(f"ALTER TABLE applications DROP COLUMN {column.name}")
