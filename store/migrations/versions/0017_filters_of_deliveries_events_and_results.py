"""filters of deliveries, events and results

Each filter that these lists offer has an index with the list's order. Spans of time need none: ids of deliveries and
numbers of events follow the time, so that the moment says where in the order to begin.
"""

from typing import Any

from sqlalchemy import text

from store.migrations import gently

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

Index = tuple[str, list[str], dict[str, Any]]
RUNNING, KEPT = text("completed_at IS NULL"), text("deleted_at IS NULL")
MADE: dict[str, Index] = {
    "ix_events_type": ("events", ["organisation_id", "livemode", "type", "sequence"], {}),
    "ix_events_owner_created_at": ("events", ["organisation_id", "livemode", "created_at"], {}),
    "ix_deliveries_status": ("deliveries", ["endpoint_id", "status", "id"], {}),
    "ix_deliveries_type": ("deliveries", ["endpoint_id", "event_type", "id"], {}),
    "ix_sessions_list": ("sessions", ["assessment_id", "id", "updated_at", "completed_at"], {}),
    "ix_sessions_running": ("sessions", ["assessment_id", "id", "updated_at"], {"postgresql_where": RUNNING}),
    "ix_sessions_passed": ("sessions", ["assessment_id", "passed", "id", "updated_at"], {}),
    "ix_sessions_updated_at": ("sessions", ["assessment_id", "updated_at"], {}),
    "ix_cases_owner_updated_at": (
        "cases",
        ["organisation_id", "livemode", "updated_at"],
        {"postgresql_where": KEPT},
    ),
}
GONE: dict[str, Index] = {
    "ix_events_created_at": ("events", ["created_at"], {}),
    "ix_deliveries_event": ("deliveries", ["event_id"], {}),
    "ix_sessions_assessment": ("sessions", ["assessment_id", "id"], {}),
}


def upgrade() -> None:
    _change(make=MADE, drop=GONE)


def downgrade() -> None:
    _change(make=GONE, drop=MADE)


def _change(*, make: dict[str, Index], drop: dict[str, Index]) -> None:
    for name, (table, columns, how) in make.items():
        gently.create_index(name, table, columns, **how)
    for name, (table, *_) in drop.items():
        gently.drop_index(name, table)
