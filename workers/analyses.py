"""Analyses of interviews that have ended."""

import logging
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

import store
from gateways import models
from rules import analysis
from schemas import interviews as schemas
from store import outbox
from store.interviewing import analyses, contents

log = logging.getLogger("hiring.interviews")


def analyse(_id: UUID, arguments: Mapping[str, Any]) -> None:
    """Analyse the interview `interview_id` once; one that is not pending has been.

    Where a model sums it up, it is for that queue, unless it is to be `plain`: nobody else's waits for a model.
    """
    id = UUID(arguments["interview_id"])

    def work(session: Session) -> None:
        room = analyses.hold(session, id)
        if room is None:
            return
        if room.livemode and models.is_configured() and not arguments.get("plain"):
            outbox.add(session, room, "summarise", interview_id=str(id))
        else:
            asked = contents.questions(session, room)
            found = analysis.analyse(analyses.stream(session, room), asked, room.started_at, room.ended_at)
            analyses.keep(session, room, found, None, schemas)
            log.info("analysed", extra={"interview_id": str(id)})

    store.in_transaction(work)


def given_up(session: Session, arguments: Mapping[str, Any], _why: BaseException) -> None:
    """Say that there will be no analysis."""
    if "interview_id" in arguments:
        analyses.fail(session, UUID(arguments["interview_id"]), schemas)
