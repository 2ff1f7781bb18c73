"""Analyses of interviews with a model's summary on top."""

import logging
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

import store
from gateways import interviewers
from rules import analysis
from schemas import interviews as schemas
from store import outbox
from store.interviewing import analyses, contents

log = logging.getLogger("hiring.interviews")


def summarise(_id: UUID, arguments: Mapping[str, Any]) -> None:
    """Analyse the interview `interview_id` once, and have it summed up; no summary is none, and fails nothing."""
    id = UUID(arguments["interview_id"])
    with store.transaction() as session:
        room = analyses.hold(session, id)
        if room is None:
            return
        asked = contents.questions(session, room)
        found = analysis.analyse(analyses.stream(session, room), asked, room.started_at, room.ended_at)
        said = [one for one in contents.messages(session, room) if not one.data.get("cancelled")]
    summary = None
    if said:
        summary = interviewers.summarise(room.target_role, room.job_description, asked, said)

    def keep(session: Session) -> None:
        if again := analyses.hold(session, id):
            analyses.keep(session, again, found, summary, schemas)
            log.info("analysed", extra={"interview_id": str(id), "summed_up": summary is not None})

    store.in_transaction(keep)


def given_up(session: Session, arguments: Mapping[str, Any], _why: BaseException) -> None:
    """Have it analysed without a summary."""
    if "interview_id" in arguments and (room := analyses.hold(session, UUID(arguments["interview_id"]))):
        outbox.add(session, room, "analyse", interview_id=str(room.id), plain=True)
