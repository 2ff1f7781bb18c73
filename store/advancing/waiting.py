"""Enrollments that wait: for the outcome of an invitation, or for what their stage lacks.

Whoever settles a session calls `hold` before the invitation's row, and `settled` after (store.database.locks).
"""

from collections.abc import Sequence
from itertools import groupby

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from rules import enrollments as rules
from rules.caller import Caller
from rules.clock import now
from store.accounts import organisations
from store.advancing import engine, enrollments
from store.advancing.enrollments import Enrollment
from store.assessing.invitations import Invitation
from store.assessing.sessions import CandidateSession
from store.database.aside import Row
from store.database.due import Due
from store.database.prepared import Prepared
from store.interviewing import quota

Waiting = list[tuple[Caller, Enrollment]]
_GOING = ("active", "on_hold")
_WAITING = Prepared(
    text("""
    SELECT enrollment.organisation_id, enrollment.livemode, organisation.plan
    FROM invitations AS invitation
    JOIN enrollments AS enrollment ON enrollment.invitation_id = invitation.id
    JOIN organisations AS organisation ON organisation.id = enrollment.organisation_id
    WHERE invitation.token = :token AND enrollment.status IN ('active', 'on_hold')
    LIMIT 1
    """)
)


def hold(session: Session, token: str) -> Waiting:
    """Lock those who wait for an invitation's outcome, before the invitation itself; mostly there is nobody."""
    found = _WAITING.first(session, token=token)
    if found is None:
        return []
    caller = Caller(found.organisation_id, found.livemode, found.plan)
    organisations.hold_month(session, caller)
    quota.hold_month(session, caller)
    invited = select(Invitation.id).where(Invitation.token == token).scalar_subquery()
    held = enrollments.lock(session, Enrollment.invitation_id == invited, Enrollment.status.in_(_GOING))
    return [(caller, one) for one in held]


def settled(session: Session, waiting: Waiting, sitting: CandidateSession, shows: engine.Shows) -> None:
    """Tell those who wait for a session of its outcome, once it has one."""
    if sitting.settled_at is None:
        return
    for caller, one in waiting:
        way = engine.Way(session, caller, one, engine.stages(session, one.pipeline_id), shows)
        engine.outcome(way, engine.outcome_of(way, sitting))
    session.flush()


RETRIES = Due("enrollments", Enrollment, Enrollment.retry_at, Enrollment.status == "active", locked=False)
_PUT_OFF = Prepared(
    text("""
    UPDATE enrollments SET retry_at = :retry_at
    WHERE id = ANY (:ids)
      AND CASE status WHEN 'active' THEN waiting_reason = ANY (:reasons) AND retry_at <= :moment END  -- by id alone
    """)
)


def resume(session: Session, rows: Sequence[Row], shows: engine.Shows) -> int:
    """Enter the stages that could not be entered before; who finds nothing left of the month is put off with others."""
    by_owner = sorted(rows, key=lambda row: (str(row.organisation_id), bool(row.livemode), row.id))
    for _, mine in groupby(by_owner, key=lambda row: (row.organisation_id, row.livemode)):
        _resume(session, list(mine), shows)
    session.flush()
    return len(rows)


def _resume(session: Session, rows: Sequence[Row], shows: engine.Shows) -> None:
    caller = organisations.caller_of(session, rows[0])
    organisations.hold_month(session, caller)
    quota.hold_month(session, caller)
    left = {
        "invite_quota": organisations.invites_left(session, caller),
        "interview_quota": quota.left(session, caller),
    }
    reasons = [reason for reason, count in left.items() if count == 0]
    if reasons:
        later, ids = rules.retry_at(now()), [row.id for row in rows]
        _PUT_OFF.run(session, ids=ids, reasons=reasons, retry_at=later, moment=now())
    for one in enrollments.lock(session, *RETRIES.among(rows)):
        way = engine.Way(session, caller, one, engine.stages(session, one.pipeline_id), shows)
        engine.outcome(way, engine.enter(way))
