"""The engine: what becomes of an enrollment by an outcome or by hand, in the transaction that brought it about."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session, joinedload

from rules import enrollments as rules
from rules import interviews as interview_rules
from rules import invitations as invitation_rules
from rules import sessions as session_rules
from rules.caller import Caller
from rules.clock import now
from rules.errors import AssessmentNotActive, InviteQuotaExceeded, LimitReached, NotFound
from rules.refusal import Refusal
from store import events
from store.accounts import organisations
from store.advancing import enrollments
from store.advancing.enrollments import Enrollment
from store.advancing.pipelines import Stage
from store.assessing import inviting, results
from store.assessing.invitations import Invitation
from store.assessing.sessions import CandidateSession
from store.database.base import ANYONE, beside, visible
from store.database.prepared import Prepared
from store.interviewing import moves, preparing, quota, rooms, templates

SYSTEM = "system"  # whoever moves what nobody moved by hand


class Shows(inviting.Shows, preparing.Shows, Protocol):
    """How enrollments, their invitations and interviews look outside: the module `schemas.enrollments`."""

    def enrollment_event(self, enrollment: Any, /, **more: Any) -> dict[str, Any]:
        """Return the data of an enrollment's event."""


@dataclass
class Way:
    """An enrollment, whose row is locked, on its way through the stages of its pipeline."""

    session: Session
    caller: Caller
    enrollment: Enrollment
    stages: Sequence[Stage]
    shows: Shows
    actor: str = SYSTEM
    settling: UUID | None = None  # the room whose outcome moves it: that one goes on as it is

    @property
    def stage(self) -> Stage:
        """Where it stands."""
        return self.stages[self.enrollment.current_stage]


def outcome(way: Way, signal: str | None, reason: str = "") -> None:
    """Do what a signal asks, an outcome or a move by hand, and whatever comes of that at once; or refuse."""
    while signal is not None:
        effect = rules.effect(way.stage.stage_type, signal, way.enrollment.status)
        if signal == "failed":
            reason = reason or rules.REASONS[way.stage.stage_type]
        signal = EFFECTS[effect](way, signal, reason)
        way.actor, reason = SYSTEM, ""


def enter(way: Way) -> str | None:
    """Begin the stage where it stands, or wait for what it lacks; return its outcome where that is known already."""
    way.enrollment.waiting_reason = None
    begin = BEGIN.get(way.stage.stage_type)
    if begin is None:
        way.enrollment.retry_at = None
        return None
    try:
        return begin(way)
    except (InviteQuotaExceeded, AssessmentNotActive, LimitReached) as refusal:
        _park(way, refusal)
    return None


def _advance(way: Way, _signal: str, reason: str) -> str | None:
    one, was = way.enrollment, way.enrollment.current_stage
    _leave(one)
    if was + 1 == len(way.stages):
        _move(way, "complete", "completed", to_stage=None, reason=reason)
        return None
    one.current_stage, one.invitation_id = was + 1, None
    told = {"from_stage": was, "to_stage": was + 1, "next_stage_type": way.stage.stage_type}
    _move(way, "advance", "advanced", from_stage=was, reason=reason, told=told)
    return enter(way)


def _reject(way: Way, _signal: str, reason: str) -> None:
    one = way.enrollment
    _leave(one)
    one.rejected_at_stage, one.reject_reason = one.current_stage, reason
    _move(way, "reject", "rejected", to_stage=None, reason=reason)


def _hold(way: Way, _signal: str, reason: str) -> None:
    _move(way, "hold", "held", reason=reason)


def _unhold(way: Way, _signal: str, reason: str) -> None:
    """Take off hold and catch up; the event comes first, and tells what it has come to."""
    told: dict[str, Any] = {}
    missed, way.enrollment.missed = way.enrollment.missed, None
    events.apply(way.session, way.enrollment, rules.MOVES["unhold"], lambda _: told)
    _happened(way, "unheld", reason=reason)
    way.actor = SYSTEM
    outcome(way, missed)
    told |= way.shows.enrollment_event(way.enrollment)


def _remember(way: Way, signal: str, _reason: str) -> None:
    way.enrollment.missed = signal


def _nothing(_way: Way, _signal: str, _reason: str) -> None:
    pass


# Each may return the outcome of the stage that it has led to.
EFFECTS: dict[str, Callable[[Way, str, str], str | None]] = {
    "advance": _advance,
    "reject": _reject,
    "hold": _hold,
    "unhold": _unhold,
    "remember": _remember,
    "nothing": _nothing,
}


def _leave(one: Enrollment) -> None:
    one.missed = one.waiting_reason = one.retry_at = None


def _move(way: Way, move: str, kind: str, *, told: dict[str, Any] | None = None, **line: Any) -> None:
    def shape(one: Enrollment) -> dict[str, Any]:
        return way.shows.enrollment_event(one, **(told or {}))

    events.apply(way.session, way.enrollment, rules.MOVES[move], shape)
    _happened(way, kind, **line)
    if way.enrollment.completed_at is not None:
        moves.leave_all(way.session, way.caller, way.enrollment.id, way.shows, but=way.settling)


def _happened(way: Way, kind: str, **line: Any) -> None:
    at = way.enrollment.current_stage
    line = {"from_stage": at, "to_stage": at, **line}
    enrollments.happened(way.session, way.enrollment, kind, actor=way.actor, **line)


def _invite(way: Way) -> str | None:
    """Invite to the stage's assessment, or take what is there: what is settled counts, what has expired is reopened."""
    one, assessment = way.enrollment, way.stage.assessment
    assert assessment is not None  # which is what such a stage is of
    person = {
        "email": one.email,
        "name": one.candidate_name,
        "enrollment_id": one.id,
        "candidate_id": one.candidate_id,
        "language": None if assessment.language else one.language,
    }
    invitation, new = inviting.meet(
        way.session, way.caller, assessment, person, way.shows, send_email=one.send_email
    )
    known = None if new else outcome_of(way, results.settled(way.session, invitation.id))
    if not new and known is None:
        _reopen(way, invitation)
    looked = new or known or one.invitation_id == invitation.id
    one.invitation_id, one.waiting_reason = invitation.id, None
    # Somebody may be settling it this moment, who saw nobody waiting for it.
    one.retry_at = None if looked else now() + rules.LOOK_AGAIN_AFTER
    return known


def outcome_of(way: Way, sitting: CandidateSession | None) -> str | None:
    """Name what a settled session is to the stage where it stands; None where a person decides."""
    if sitting is None:
        return None
    return rules.outcome(results.passed(way.session, sitting, way.stage.pass_score_override))


def _prepare(way: Way) -> str | None:
    """Prepare the stage's room, or take the one that is there; its outcome counts where it has one."""
    one = way.enrollment
    one.waiting_reason = one.retry_at = None
    found = rooms.of_stage(way.session, one.id, one.current_stage)
    if found is None:
        granted, used = quota.take(way.session, way.caller, 1)
        interview_rules.check_quota(way.caller.plan.interviews, used, granted)
        prepare_all(way.session, way.caller, way.stage, [one], way.shows, send_email=one.send_email)
        return None
    return interview_rules.SIGNALS[found.recommendation] if found.recommendation else None


def prepare_all(
    session: Session,
    caller: Caller,
    stage: Stage,
    enrolled: Sequence[Any],
    shows: Shows,
    *,
    send_email: bool,
) -> None:
    """Prepare a room for each of these enrollments as a stage's template says; their units are taken already."""
    template = templates.of_stage(session, stage.interview_template_id)
    title = template.title if template else stage.label or "Interview"
    settings = interview_rules.settings({}, template.settings if template else None)
    more = {"template_id": template and template.id, "send_invite": send_email}
    plan = preparing.plan(session, caller, title, settings, {}, shows, **more)
    people = [
        preparing.Person(
            email=one.email,
            name=one.candidate_name,
            candidate_id=one.candidate_id,
            enrollment_id=one.id,
            enrolled_as=one.email,
            stage=stage.position,
        )
        for one in enrolled
    ]
    preparing.prepare(session, caller, plan, people, shows)


# How a stage begins; each may return its outcome, where that is known already.
BEGIN: dict[str, Callable[[Way], str | None]] = {"assessment": _invite, "interview": _prepare}
# What a stage waits for that could not begin.
LACKS: dict[type[Refusal], str] = {InviteQuotaExceeded: "invite_quota", LimitReached: "interview_quota"}


def _reopen(way: Way, invitation: Any) -> None:
    """Give who did not begin in time another week."""
    over = {"expires_at": invitation.expires_at, "deadline_at": None, "moment": now()}
    if session_rules.status(invitation.status, **over) != "expired":
        return
    assert way.stage.assessment is not None
    invitation_rules.check_active(way.stage.assessment.status)
    assessment = beside(Invitation.assessment, locked=True)
    mine = select(Invitation).where(Invitation.id == invitation.id).options(*assessment)
    row = way.session.scalars(
        mine.with_for_update(of=Invitation).execution_options(populate_existing=True)
    ).one()
    over["expires_at"] = row.expires_at
    if session_rules.status(row.status, **over) == "expired":
        row.expires_at = now() + invitation_rules.INVITED_FOR
        if row.status == "expired":
            events.apply(way.session, row, invitation_rules.MOVES["reopen"])
        if way.enrollment.send_email:
            inviting.mail(way.session, way.caller, [row], way.shows)


def _park(way: Way, refusal: Refusal) -> None:
    """Wait for what a stage lacks, and try again; the history says once why."""
    one, waited = way.enrollment, way.enrollment.retry_at is not None
    one.waiting_reason = LACKS.get(type(refusal))
    one.retry_at = rules.retry_at(now())
    if not waited:
        _happened(way, "waiting", reason=str(refusal))


# --- What is taken before


def stages(session: Session, pipeline_id: UUID) -> Sequence[Stage]:
    """Load a pipeline's stages with their assessments, in order."""
    mine = select(Stage).where(Stage.pipeline_id == pipeline_id).order_by(Stage.position)
    found = mine.options(joinedload(Stage.assessment)).execution_options(populate_existing=True)
    return session.scalars(found).all()


_TYPES = Prepared(select(Stage.stage_type).where(Stage.pipeline_id == bindparam("pipeline_id")).distinct())


def hold_month(session: Session, caller: Caller, pipeline_id: UUID) -> None:
    """Take the month, where going through a pipeline may use it, before all that comes after it in order."""
    types = {row.stage_type for row in _TYPES.all(session, pipeline_id=pipeline_id)}
    if "assessment" in types:
        organisations.hold_month(session, caller)
    if "interview" in types:
        quota.hold_month(session, caller)


_WHERE = Prepared(
    visible(ANYONE, Enrollment)
    .with_only_columns(Enrollment.pipeline_id, Enrollment.current_stage)
    .where(Enrollment.id == bindparam("id"))
)


def by_hand(
    session: Session, caller: Caller, id: UUID, signal: str, shows: Shows, *, actor: str, reason: str = ""
) -> None:
    """Move an enrollment as somebody asks, or refuse. Two who advance it from one stage at once move it once."""
    seen = _WHERE.first(session, caller, id=id)
    if seen is None:
        raise NotFound("There is no such enrollment.")
    if signal in ("advance", "unhold"):
        hold_month(session, caller, seen.pipeline_id)
    [one] = enrollments.lock(session, Enrollment.id == id)
    if signal == "advance" and one.current_stage != seen.current_stage:
        return
    outcome(Way(session, caller, one, stages(session, one.pipeline_id), shows, actor), signal, reason)
    session.flush()
