"""Results: sessions as their organisation sees them."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session, contains_eager
from sqlalchemy.orm.attributes import set_committed_value

import rules.results
from rules import grading
from rules.caller import Caller
from rules.clock import now
from rules.errors import NotFound
from store import events, outbox
from store.accounts import members
from store.accounts.organisations import Organisation
from store.assessing import violations
from store.assessing.answering import cases
from store.assessing.invitations import Invitation
from store.assessing.sessions import CandidateSession, SessionCase
from store.assessing.violations import Violation
from store.database import listing
from store.database.base import ANYONE, visible


class Telling(Protocol):
    """How grades are told, in events and in mails to an organisation's people: the module `schemas.results`."""

    def outcome_event(self, sitting: Any, /) -> dict[str, Any]: ...  # noqa: D102
    def notice(self, sitting: Any, member: Any, organisation_name: str, /) -> dict[str, Any]: ...  # noqa: D102


Whole = tuple[CandidateSession, list[SessionCase], list[Violation]]


_OVER = CandidateSession.completed_at.is_not(None)
LIST = listing.Listing(
    visible(ANYONE, CandidateSession).where(CandidateSession.assessment_id == bindparam("assessment_id")),
    {"-id": (CandidateSession.id,)},
    {
        "status": listing.Filter(instead={"completed": _OVER, "started": ~_OVER}),
        "passed": listing.equals(CandidateSession.passed),
        "updated_after": listing.updated_after(CandidateSession),
    },
    beside={
        "invitation": (
            lambda page: Invitation.id == page.c.invitation_id,
            (Invitation.email, Invitation.name, Invitation.role, Invitation.status, Invitation.token),
        )
    },
)


EXPORTED = 100_000  # rows of a file


def get(session: Session, invitation: Invitation, *, for_update: bool = False) -> Whole:
    """Load an invitation's session with its cases and violations, or raise NotFound."""
    found = select(CandidateSession).where(CandidateSession.invitation_id == invitation.id)
    sitting = session.scalars(found.with_for_update() if for_update else found).first()
    if sitting is None:
        raise NotFound("There is no session of this invitation.")
    set_committed_value(sitting, "invitation", invitation)
    return sitting, cases(session, sitting), list(violations.of(session, sitting))


def of_tokens(
    session: Session, caller: Caller, assessment_id: UUID, tokens: Sequence[str]
) -> list[tuple[CandidateSession, list[SessionCase]]]:
    """Load completed sessions of an assessment with their cases, by their invitations' tokens and in that order.

    Raises NotFound for a token that no invitation to it has, Invalid for one that is not completed.
    """
    named = visible(caller, Invitation).where(
        Invitation.assessment_id == assessment_id, Invitation.token.in_(tokens)
    )
    invited = {one.token: one for one in session.scalars(named)}
    for token in tokens:
        if token not in invited:
            raise NotFound("There is no such invitation to this assessment.", invite_token=token)
        rules.results.check_comparable(token, invited[token].status)
    ids = [one.id for one in invited.values()]
    sat = {
        one.invitation_id: one
        for one in session.scalars(select(CandidateSession).where(CandidateSession.invitation_id.in_(ids)))
    }
    asked = select(SessionCase).where(SessionCase.session_id.in_([one.id for one in sat.values()]))
    of: dict[UUID, list[SessionCase]] = {}
    for case in session.scalars(asked.order_by(SessionCase.case_order)):
        of.setdefault(case.session_id, []).append(case)
    for one in invited.values():
        set_committed_value(sat[one.id], "invitation", one)
    return [(sat[invited[token].id], of.get(sat[invited[token].id].id, [])) for token in tokens]


def ungraded(session: Session, session_id: UUID, *, for_update: bool = False) -> Whole | None:
    """Load a completed session that has no grades yet; None where there is nothing to grade."""
    found = (
        select(CandidateSession)
        .join(CandidateSession.invitation)
        .where(
            CandidateSession.id == session_id,
            CandidateSession.completed_at.is_not(None),
            CandidateSession.graded_at.is_(None),
        )
        .options(contains_eager(CandidateSession.invitation).selectinload(Invitation.assessment))
    )
    if for_update:  # in the order of store.database.locks: its outcome may make an invitation
        found = found.with_for_update(of=[Invitation, CandidateSession])
    sitting = session.scalars(found).first()
    return None if sitting is None else (sitting, cases(session, sitting), [])


def grade_or_ask(session: Session, sitting: CandidateSession, tell: Telling) -> None:
    """Grade a session that was just completed, or ask for it where a program has to run first."""
    asked = cases(session, sitting)
    if any(case.content["case_type"] == "coding" and case.answer for case in asked):
        outbox.add(session, sitting, "grade", session_id=str(sitting.id))
    else:
        grade(session, sitting, asked, {}, tell)


def grade(
    session: Session,
    sitting: CandidateSession,
    asked: Sequence[SessionCase],
    tests: Mapping[int, list[Any] | None],
    tell: Telling,
) -> None:
    """Grade every case, add up, and tell; `tests` are how those of coding cases went, by the cases' order."""
    for case in asked:
        answer = case.answer[0] if case.answer else None
        case.tests = tests.get(case.case_order)
        passed = None if case.tests is None else [one["passed"] for one in case.tests]
        found = grading.grade(case.content, answer, passed)
        case.grade(found.status, found.score(case.max_score))
    settle(session, sitting, asked, tell.outcome_event)
    organisation = session.get_one(Organisation, sitting.organisation_id)
    if organisation.notify_on_candidate_completion or sitting.invitation.assessment.notify_on_completion:
        notices = [
            tell.notice(sitting, member, organisation.name)
            for member in members.to_notify(session, organisation)
        ]
        outbox.add_all(session, sitting, "mail", notices)


def settle(
    session: Session,
    sitting: CandidateSession,
    asked: Sequence[SessionCase],
    show: events.Shape,
) -> None:
    """Add up a session; the first time that nothing waits for review, its outcome is final and, if any, told."""
    result = grading.total(asked, sitting.passing_score)
    sitting.score, sitting.max_score = result.score, result.max_score
    sitting.score_percentage, sitting.passed = result.score_percentage, result.passed
    sitting.graded_at = sitting.graded_at or now()
    if sitting.settled_at is None and all(case.score is not None for case in asked):
        sitting.settled_at = now()
        if result.passed is not None:
            events.record(
                session, "candidate.passed" if result.passed else "candidate.failed", sitting, show(sitting)
            )
    session.flush()


def passed(session: Session, sitting: CandidateSession, passing_score: Decimal | None) -> bool | None:
    """Say whether a settled session is enough, by a score of somebody else's where given; None without a verdict."""
    if passing_score is None:
        return sitting.passed
    return grading.total(cases(session, sitting), passing_score).passed


def settled(session: Session, invitation_id: UUID) -> CandidateSession | None:
    """Load the session of an invitation, once nothing of it waits for review."""
    found = select(CandidateSession).where(CandidateSession.invitation_id == invitation_id)
    return session.scalars(found.where(CandidateSession.settled_at.is_not(None))).first()
