"""AIs that interview: what they say next in their rooms."""

import logging
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import store
from gateways import interviewers, models
from rules import speaking as rules
from schemas import tongues
from schemas.tongues import Tongue
from store.branding import settings
from store.interviewing import speaking

log = logging.getLogger("hiring.interviews")


def speak(_id: UUID, arguments: Mapping[str, Any]) -> None:
    """Say what is to be said in the room `interview_id`; nothing where all is said, or somebody is at it.

    The model is asked between two transactions. In the test mode, and where no model answers, the questions are asked
    in their order.
    """
    with store.transaction() as session:
        taken = speaking.take(session, UUID(arguments["interview_id"]))
        usual = settings.of(session, taken.interview.organisation_id).language if taken else None
    if taken is None:
        return
    try:
        said, source, goes_on = _say(taken, tongues.of(usual))
    except BaseException:
        with store.transaction() as session:
            speaking.let_go(session, taken)
        raise
    store.in_transaction(lambda session: speaking.keep(session, taken, said, source=source, goes_on=goes_on))
    log.info("spoke", extra={"interview_id": arguments["interview_id"], "source": source})


def _say(taken: speaking.Taken, tongue: Tongue) -> tuple[str, str, bool]:
    """Return the words, whose they are, and whether the next question is asked with them."""
    turn, room = taken.turn, taken.interview
    listens = room.livemode and models.is_configured()
    if listens and turn.may_react:
        heard = interviewers.Heard(
            room.job_description, room.target_role, room.resume_text, taken.code, room.active_language
        )
        if reaction := interviewers.react(heard, turn):
            said, done = reaction
            return (f"{said}\n\n{rules.asking(turn.following, tongue.tell)}" if done else said), "model", done
    return rules.scripted(turn, tongue.tell, heard_by_model=listens), "script", True
