"""Screening: from an application that arrived to a score, and on to the next step where that is enough."""

import logging
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

import gateways.screening
import store
from schemas import applications as schemas
from schemas import html
from store.applying import screened

log = logging.getLogger("hiring.screening")

SECONDS = 120.0


def screen(_id: UUID, arguments: Mapping[str, Any]) -> None:
    """Screen the application `application_id` once; one that is not pending has been.

    The CV is read and the model asked between two transactions, so that a slow one holds no lock.
    """
    id = UUID(arguments["application_id"])
    with store.transaction() as session:
        found = screened.find(session, id)
        if found is None or found.screening.status != "pending":
            return
        task = screened.task(session, found, arguments["action"], html.plain)
    outcome = gateways.screening.run(task, seconds=SECONDS, patient=True)

    def keep(session: Session) -> None:
        screened.hold_month(session, found)
        again = screened.find(session, id, for_update=True)
        if again is not None and again.screening.status == "pending":
            screened.keep(session, again, task, outcome, schemas)
            log.info("screened", extra={"application_id": str(id)})

    store.in_transaction(keep)
