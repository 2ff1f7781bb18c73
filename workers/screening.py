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
    outcome = gateways.screening.run(task, seconds=SECONDS)

    def keep(session: Session) -> None:
        screened.hold_month(session, found)
        again = screened.find(session, id, for_update=True)
        if again is not None and again.screening.status == "pending":
            screened.keep(session, again, task, outcome, schemas)
            log.info("screened", extra={"application_id": str(id)})

    store.in_transaction(keep)


def brief(_id: UUID, arguments: Mapping[str, Any]) -> None:
    """Have a brief written on the application `application_id`, unless there is one on the same; told of where awaited.

    It changes the brief and nothing else. What is screened anew meanwhile asks for a brief of its own.
    """
    id, awaited = UUID(arguments["application_id"]), arguments["action"] == "rerun_brief"
    with store.transaction() as session:
        found = screened.find(session, id)
        if found is None or (found.screening.status == "pending") != awaited:
            return
        task = screened.task(session, found, "rerun_brief", html.plain)
    outcome = gateways.screening.run(task, seconds=SECONDS, brief=lambda: screened.may_brief(found))

    def keep(session: Session) -> None:
        again = screened.find(session, id, for_update=True)
        if again is not None and (again.screening.status == "pending") == awaited:
            screened.keep(session, again, task, outcome, schemas, tell=awaited)
            log.info(
                "briefed",
                extra={"application_id": str(id), "failed": bool(outcome.changes.get("brief_error"))},
            )

    store.in_transaction(keep)
