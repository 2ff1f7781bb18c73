"""Grading: from a submitted session to a score."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import store
from gateways import sandbox
from rules import grading
from schemas.results import notice
from schemas.sessions import outcome_event
from store import members, outbox, results

log = logging.getLogger("hiring.grading")


def grade(_id: UUID, arguments: Mapping[str, Any]) -> None:
    """Grade the session `session_id` once; a second run finds nothing to do.

    Programs run between two transactions, so that a slow one holds no lock.
    """
    session_id = UUID(arguments["session_id"])
    with store.transaction() as session:
        found = results.ungraded(session, session_id)
        work = [(case.case_order, case.content, _answer(case)) for case in found[1]] if found else []
    if found is None:
        return
    grades = {
        order: grading.grade(content, answer, _tests(content, answer)) for order, content, answer in work
    }
    with store.transaction() as session:
        again = results.ungraded(session, session_id, for_update=True)
        if again is None:
            return
        sitting, asked, _ = again
        for case in asked:
            case.status = grades[case.case_order].status
            case.score = grades[case.case_order].score(case.max_score)
        results.settle(session, sitting, asked, outcome_event)
        name, to_notify = members.to_notify(session, sitting)
        outbox.add_all(session, "mail", [notice(sitting, member, name) for member in to_notify])
    log.info("graded", extra={"session_id": str(session_id)})


def _answer(case: Any) -> Any:
    return case.answer[0] if case.answer else None


def _tests(content: Mapping[str, Any], answer: Any) -> Sequence[bool] | None:
    """Run a program on every test; None where there is no program or nothing here can run it."""
    if content["case_type"] != "coding" or not answer or not str(answer).strip():
        return None
    language = content["language"]
    if not sandbox.available(language):
        return None
    tests = content["test_cases"]
    runs = sandbox.run(language, str(answer), [test["input"] for test in tests])
    return [sandbox.passes(run, test["expected_output"]) for run, test in zip(runs, tests, strict=True)]
