"""Whether an organisation's audit log is as it was sealed."""

from typing import Any

from sqlalchemy.orm import Session

from rules.caller import Caller
from rules.clock import iso, now
from store.auditing import verifying

Body = dict[str, Any]


def verify_audit_log(session: Session, caller: Caller) -> Body:
    """Follow the newest rows of the organisation's chain to its head."""
    found, first = verifying.newest(session, caller.organisation_id)
    return {
        "verified_at": iso(now()),
        "rows": found.rows,
        "from_number": first,
        "is_intact": not found.faults,
        "faults": [{"number": one.number, "row_id": one.row_id, "what": one.what} for one in found.faults],
    }
