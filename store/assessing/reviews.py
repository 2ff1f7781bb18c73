"""Answers that no program could grade: what waits for a person, and who has it in hand."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, and_, bindparam, case, func, or_, select, tuple_
from sqlalchemy.orm import Session, aliased

from rules import reviews as rules
from rules.caller import Caller
from rules.errors import NotFound
from rules.words import say
from store.accounts import keys
from store.accounts.members import Member
from store.assessing import assessments, sessions
from store.assessing.assessments import Assessment
from store.assessing.invitations import Invitation
from store.assessing.sessions import CandidateSession, SessionCase
from store.database import listing
from store.database.base import ANYONE, Anyone, visible
from store.database.engine import Means
from store.database.prepared import Prepared

GONE = say("There is no such answer that waits for a review.")
_CLAIMED = SessionCase.claimed_until > func.now()


def _waiting(caller: Caller | Anyone, *columns: Any) -> Select[Any]:
    """Select of what waits for a person; what was answered by somebody who is erased waits for nobody."""
    return (
        visible(caller, CandidateSession)
        .with_only_columns(*columns)
        .select_from(CandidateSession)
        .join(SessionCase, SessionCase.session_id == CandidateSession.id)
        .where(
            CandidateSession.graded_at.is_not(None),
            CandidateSession.settled_at.is_(None),
            SessionCase.status == "pending_review",
            SessionCase.answer.is_not(None),
        )
    )


_ROWS = _waiting(
    ANYONE,
    CandidateSession.id,
    CandidateSession.invitation_id,
    CandidateSession.assessment_id,
    SessionCase.case_order,
    SessionCase.id.label("review_id"),
    SessionCase.content["title"].astext.label("case_title"),
    SessionCase.saved_at,
    case((_CLAIMED, SessionCase.claimed_by)).label("claimed_by"),
    case((_CLAIMED, SessionCase.claimed_until)).label("claimed_until"),
)
_BESIDE: dict[str, listing.Beside] = {
    "invitation": (lambda page: Invitation.id == page.c.invitation_id, (Invitation.token,)),
    "assessment": (
        lambda page: Assessment.id == page.c.assessment_id,
        (Assessment.slug, Assessment.title),
    ),
}
_PLACE = aliased(SessionCase)
_after = [
    select(column).where(_PLACE.id == bindparam("after")).scalar_subquery()
    for column in (_PLACE.session_id, _PLACE.case_order)
]


def _find(means: Means, caller: Caller, id: UUID) -> UUID | None:
    """Say whether an answer is there for who asks; one that waits no more has its place too."""
    return id if _THERE.first(means, caller, review_id=id) else None


_THERE = Prepared(
    visible(ANYONE, CandidateSession)
    .with_only_columns(SessionCase.id)
    .select_from(CandidateSession)
    .join(SessionCase, SessionCase.session_id == CandidateSession.id)
    .where(SessionCase.id == bindparam("review_id"))
)
LIST = listing.Listing(
    _ROWS,
    {"-id": (CandidateSession.id, SessionCase.case_order)},
    {
        "assessment": listing.Filter(
            CandidateSession.assessment_id == bindparam("assessment"), find=assessments.find_id
        ),
        "after": listing.Filter(
            # As of a cursor: the first key tells the index where to begin.
            and_(
                tuple_(CandidateSession.id, SessionCase.case_order) < tuple_(*_after),
                CandidateSession.id <= _after[0],
            ),
            find=_find,
        ),
        "claimed": listing.Filter(
            instead={
                True: _CLAIMED,
                False: or_(SessionCase.claimed_until.is_(None), SessionCase.claimed_until <= func.now()),
            }
        ),
    },
    _BESIDE,
)
_READ = Prepared(listing.add(_ROWS.where(SessionCase.id == bindparam("review_id")).subquery("page"), _BESIDE))


def get(session: Session, caller: Caller, id: UUID) -> tuple[Any, SessionCase]:
    """Load an answer that waits: its row and itself. Raises NotFound."""
    case = session.scalars(_waiting(caller, SessionCase).where(SessionCase.id == id)).first()
    if case is None:
        raise NotFound(GONE)
    return _READ.first(session, caller, review_id=id), case


def claim(session: Session, caller: Caller, id: UUID) -> Any:
    """Take a review in hand, or go on with it; return its row. Raises NotFound, AlreadyClaimed."""
    row, by, moment = _hold(session, caller, id)
    row.claimed_by, row.claimed_until = by, moment + rules.CLAIMED_FOR
    return _READ.first(session, caller, review_id=id)


def release(session: Session, caller: Caller, id: UUID) -> Any:
    """Let a review go that is one's own, or nobody's; return its row. Raises NotFound, AlreadyClaimed."""
    row, *_ = _hold(session, caller, id)
    row.claimed_by = row.claimed_until = None
    return _READ.first(session, caller, review_id=id)


def _hold(session: Session, caller: Caller, id: UUID) -> tuple[SessionCase, dict[str, Any], datetime]:
    """Lock an answer that waits and that nobody else has in hand; return it, who asks, and the moment."""
    found = _waiting(caller, SessionCase).where(SessionCase.id == id).with_for_update(of=SessionCase)
    row = session.scalars(found).first()
    if row is None:
        raise NotFound(GONE)
    by, moment = _asker(session, caller), sessions.moment(session)
    rules.check_claim(row.claimed_by, row.claimed_until, by=by, now=moment)
    return row, by, moment


def _asker(session: Session, caller: Caller) -> dict[str, Any]:
    """Name who asks: the member by whose session, or the key."""
    if caller.person:
        member = session.get_one(Member, caller.person.id)
        return {"type": "member", "id": str(member.user_id), "name": member.name}
    key = keys.read(session, caller)
    return {"type": "key", "id": str(key.id), "name": key.name}
