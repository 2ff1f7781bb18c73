"""What screening found, and screening again."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

import gateways.screening
from rules.caller import Caller
from schemas import applications as schemas
from schemas import html
from store.applying import applications, screened

Body = dict[str, Any]
Begin = Callable[[], AbstractContextManager[Session]]

SECONDS = 28.0  # of the 30 that a request has


def get_screening(session: Session, caller: Caller, application_id: UUID) -> Body:
    """Show what screening found, with the evidence."""
    return schemas.result(applications.get(session, caller, application_id))


def rerun_screening(begin: Begin, finish: Begin, caller: Caller, application_id: UUID, body: Body) -> Body:
    """Screen again in the request's own time; no transaction is open meanwhile."""
    with begin() as session:
        found = applications.get(session, caller, application_id)
        task = screened.task(session, found, body["action"], html.plain)
    outcome = gateways.screening.run(
        task, seconds=SECONDS, brief=lambda: screened.may_brief(found), patient=False
    )
    with finish() as session:
        screened.hold_month(session, found)
        found = applications.get(session, caller, application_id, for_update=True)
        screened.keep(session, found, task, outcome, schemas)
        session.flush()
        return schemas.result(found)
