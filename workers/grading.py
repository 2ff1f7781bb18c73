"""Grading: from a submitted session to a score."""

import logging
import time
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

import schemas.enrollments
import schemas.results
import store
from gateways import judging, sandbox
from gateways.places import Holder
from rules import results as rules
from store.advancing import waiting
from store.assessing import results
from store.assessing.sessions import SessionCase

SECONDS = 600.0  # for all programs of a session; those that are left wait for a person

log = logging.getLogger("hiring.grading")


def grade(_id: UUID, arguments: Mapping[str, Any]) -> None:
    """Grade the session `session_id` once; a second run finds nothing to do.

    Programs run between two transactions, so that a slow one holds no lock.
    """
    session_id = UUID(arguments["session_id"])
    with store.transaction() as session:
        found = results.ungraded(session, session_id)
    if found is None:
        return
    until = time.monotonic() + SECONDS
    holder = Holder(found[0].invitation.organisation_id, session_id)
    tests = {case.case_order: _tests(case, until, holder) for case in found[1]}

    def keep(session: Session) -> None:
        held = waiting.hold(session, found[0].invitation.token)
        again = results.ungraded(session, session_id, for_update=True)
        if again is not None:
            results.grade(session, again[0], again[1], tests, schemas.results)
            waiting.settled(session, held, again[0], schemas.enrollments)
            log.info("graded", extra={"session_id": str(session_id)})

    store.in_transaction(keep)


def _tests(case: SessionCase, until: float, holder: Holder) -> list[Any] | None:
    """Run a program on every test, hidden or not; None where there is none, or nothing here or no time to run it."""
    if case.content["case_type"] != "coding" or not case.answer or not str(case.answer[0]).strip():
        return None
    code, language = str(case.answer[0]), str(case.code_language)
    together = min(sandbox.TOGETHER_SECONDS, until - time.monotonic())
    if together <= 0 or not sandbox.available(language):
        return None
    tests = case.content["test_cases"]
    inputs = [test["input"] for test in tests]
    runs = sandbox.run(language, code, inputs, together=together, holder=holder, ahead=False)
    together = min(sandbox.TOGETHER_SECONDS, until - time.monotonic())
    verdicts = judging.judge(tests, runs, together=together, holder=holder)
    return [rules.tested(run, verdict) for run, verdict in zip(runs, verdicts, strict=True)]
