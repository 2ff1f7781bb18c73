"""Screening: from an application that arrived to a score, and on to the next step where that is enough."""

import logging
from collections.abc import Mapping
from typing import Any
from uuid import UUID

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
    with store.transaction() as session:
        found = screened.find(session, id, for_update=True)
        if found is None or found.screening.status != "pending":
            return
        screened.keep(session, found, task, outcome, schemas)
    log.info("screened", extra={"application_id": str(id)})
