"""Invitations and the results that come of them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from gateways.letters import fonts, printing
from rules import decimals, grading
from rules import invitations as rules
from rules import results as result_rules
from rules import sessions as session_rules
from rules.caller import Caller
from rules.candidates import SOURCES
from rules.clock import iso, now
from rules.errors import MissingEmail
from rules.pages import Page
from rules.tokens import new_token
from schemas import emails, reports, shared_reports
from schemas import enrollments as enrollment_schemas
from schemas import invitations as schemas
from schemas import recordings as recording_schemas
from schemas import results as result_schemas
from schemas import sessions as session_schemas
from schemas.files import File
from store import events, outbox
from store.accounts import organisations
from store.advancing import enrollments, waiting
from store.applying import applications
from store.assessing import (
    assessments,
    at_once,
    invitations,
    inviting,
    recordings,
    results,
    sessions,
    shares,
    standing,
)
from store.assessing.assessments import Assessment
from store.assessing.invitations import Invitation
from store.assessing.sessions import CandidateSession
from store.auditing import trail
from store.database.engine import Change, Reading
from store.people import candidates

Body = dict[str, Any]
Begin = Callable[[], AbstractContextManager[Session]]

PDF_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-store",
    "Content-Disposition": "attachment; filename=report.pdf",
}
ACTOR = "public_api"


def list_assessment_invitations(reading: Reading, caller: Caller, slug: str, **query: Any) -> Page:
    """List an assessment's invitations, newest first."""
    query["assessment_id"] = assessments.read(reading, caller, slug).id
    return invitations.OF_ASSESSMENT.page(reading, caller, **query).map(schemas.detail)


def list_invitations(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List invitations to all assessments, newest first."""
    return invitations.LIST.page(reading, caller, **query).map(schemas.detail)


def get_invitation(reading: Reading, caller: Caller, token: str) -> Body:
    """Show one invitation."""
    return schemas.detail(invitations.read(reading, caller, token))


def create_invitation(alone: Change, caller: Caller, slug: str, body: Body) -> tuple[Body, int]:
    """Invite a candidate once; a second time answers the invitation that exists."""
    if not body["email"].strip():
        raise MissingEmail
    email, external_id = emails.normal(body["email"]), body.get("external_id")
    candidate = {"email": email, "name": body["name"], "role": body["role"], "external_id": external_id}
    terms = candidate | _terms(body)
    found, new, sender = at_once.invite(alone, caller, slug, terms, schemas.event)
    if not new:
        return schemas.created(found, "An invitation already exists for this candidate."), 200
    if body["send_email"]:
        _mail(alone, caller, [found], "invitation", sender)
    return schemas.created(found, "Invitation created."), 201


def bulk_invite(session: Session, caller: Caller, slug: str, body: Body) -> Body:
    """Invite many candidates in one transaction; rows that cannot be invited are skipped with their reason."""
    assessment, wanted, skipped = _sifted(session, caller, slug, body["candidates"])
    granted, used = organisations.take_invites(session, caller, len(wanted))
    if caller.livemode and caller.plan.invites is not None:
        rules.check_quota(caller.plan.invites, used, max(0, caller.plan.invites - used))
    skipped += rules.beyond(wanted[granted:])
    terms = _terms(body)
    made = inviting.create_all(session, caller, assessment, [row | terms for row in wanted[:granted]])
    invited = {invitation.email_key: invitation for invitation in made}
    late = [row for row in wanted[:granted] if row["email"].casefold() not in invited]
    organisations.give_back_invites(session, caller, len(late))
    skipped += [{"email": row["email"], "reason": "already_invited"} for row in late]
    _announce(session, caller, made, send_email=body["send_email"])
    order = [
        invited[row["email"].casefold()] for row in wanted[:granted] if row["email"].casefold() in invited
    ]
    return {"invited": [schemas.bulk_row(invitation) for invitation in order], "skipped": skipped}


def preview_bulk_invite(session: Session, caller: Caller, slug: str, body: Body) -> Body:
    """Say what inviting many would come to now; nothing changes."""
    _, wanted, skipped = _sifted(session, caller, slug, body["candidates"])
    left = organisations.quota(session, caller)["invites_remaining"] if caller.livemode else None
    skipped += [] if left is None else rules.beyond(wanted[left:])
    return {"accepted": wanted[:left], "skipped": skipped}


def update_invitation(session: Session, caller: Caller, token: str, body: Body) -> Body:
    """Change what is sent; another extra time moves the deadline of a running session."""
    invitation = invitations.get(session, caller, token, for_update=True)
    sitting, moment = sessions.of(session, invitation), sessions.moment(session)
    rules.check_update(_status(invitation, sitting, moment), body, moment)
    if sitting is not None and sitting.deadline_at is not None and "extra_time_percent" in body:
        percents = (invitation.extra_time_percent, body["extra_time_percent"])
        sitting.deadline_at = session_rules.moved_deadline(
            sitting.started_at, sitting.deadline_at, percents, moment=moment
        )
    invitation.change(body)
    session.flush()
    return schemas.detail(invitation)


def cancel_invitation(session: Session, caller: Caller, token: str) -> None:
    """Remove an invitation that nobody started."""
    invitations.hold_profile(session, caller, token)
    applications.hold_invited(session, caller, token)
    enrollments.hold_invited(session, caller, token)
    invitation = invitations.get(session, caller, token, for_update=True)
    rules.check_cancel(invitation.status)
    former = invitations.former(session, invitation)
    applications.name_instead(session, invitation, former)
    enrollments.forget_invitation(session, invitation, former, ACTOR)
    invitations.remove(session, invitation)


def remind_invitation(session: Session, caller: Caller, token: str) -> Body:
    """Mail the candidate the link again."""
    invitation = invitations.get(session, caller, token, for_update=True)
    rules.check_known(invitation.status, invitation.email)
    rules.check_remind(
        invitation.status, expires_at=invitation.expires_at, reminded_at=invitation.reminded_at, now=now()
    )
    invitation.reminded_at, invitation.mail_error = now(), None
    _mail(session, caller, [invitation], "reminder", organisations.name(session, caller))
    return {"message": "The reminder is on its way.", "reminded_at": iso(invitation.reminded_at)}


def reopen_invitation(session: Session, caller: Caller, token: str, body: Body) -> Body:
    """Give who did not begin in time another while."""
    invitation = invitations.get(session, caller, token, for_update=True)
    status = _status(invitation, None, sessions.moment(session))
    move = rules.reopen(status, invitation.email, invitation.assessment.status)
    invitation.expires_at = _expiry(body)
    if invitation.status != move.target:  # the schedule has come by since it expired
        events.apply(session, invitation, move)
    session.flush()
    return schemas.detail(invitation)


def retake_invitation(session: Session, caller: Caller, token: str, body: Body) -> tuple[Body, int]:
    """Invite who has completed the assessment to take it once more."""
    organisations.hold_month(session, caller)
    seen = invitations.read(session, caller, token)
    rules.check_known(seen.status, seen.email)
    person = {"email": seen.email, "name": seen.name, "source": SOURCES["invitation"]}
    [candidate_id] = candidates.meet_all(session, caller, [person]).values()
    applications.hold_invited(session, caller, token)
    enrollments.hold_invited(session, caller, token)
    invitation = invitations.get(session, caller, token, for_update=True)
    terms = {"expires_at": _expiry(body), "candidate_id": candidate_id}
    made = inviting.retake(session, caller, invitation, terms, schemas.event)
    applications.name_instead(session, invitation, made.id)
    enrollments.retake(session, invitation, made.id, ACTOR)
    if body["send_email"]:
        _mail(session, caller, [made], "invitation", organisations.name(session, caller))
    return schemas.detail(made), 201


def get_result(session: Session, caller: Caller, token: str) -> Body:
    """Show the scored result, or how far the candidate is."""
    invitation = invitations.get(session, caller, token)
    if invitation.status != "completed":
        return {"status": invitation.status, "message": result_rules.WAITING[invitation.status]}
    return _result(session, *results.get(session, invitation))


def get_report(begin: Begin, caller: Caller, token: str) -> File:
    """Print the scored result."""
    with begin() as session:
        invitation = invitations.get(session, caller, token)
        result_rules.check_reportable(invitation.status)
        result = _result(session, *results.get(session, invitation))
        name = organisations.get(session, caller).name
        letter = reports.letter(shared_reports.page(result, invitation.role), name, fonts.printable)
    return File(printing.render(letter), "application/pdf", PDF_HEADERS)


def list_shared_reports(reading: Reading, caller: Caller, token: str, **query: Any) -> Page:
    """List the links to a report that still work, the newest first."""
    query["invitation_id"] = invitations.read(reading, caller, token).id
    return shares.LIST.page(reading, caller, **query).map(shared_reports.item)


def share_report(session: Session, caller: Caller, token: str, body: Body) -> tuple[Body, int]:
    """Make a link to look at the report, for some days."""
    invitation = invitations.get(session, caller, token)
    result_rules.check_reportable(invitation.status)
    made = new_token()
    return shared_reports.share(shares.make(session, invitation, made, _expiry(body)), made), 201


def revoke_shared_report(session: Session, caller: Caller, token: str, share_id: UUID) -> None:
    """Take a link to a report back; it shows nothing any more."""
    shares.remove(session, invitations.get(session, caller, token), share_id)


def review_result(session: Session, caller: Caller, token: str, body: Body) -> Body:
    """Settle cases that wait for review; the last one settles the result."""
    held = waiting.hold(session, token)
    invitation = invitations.get(session, caller, token, for_update=True)
    result_rules.check_reviewable(invitation.status)
    sitting, asked, violations = results.get(session, invitation, for_update=True)
    for case, review in result_rules.match(asked, body["cases"]):
        score, case.comment = decimals.cents(review["score"]), review["comment"]
        case.grade(grading.status_of(score, case.max_score), score)
    results.settle(session, sitting, asked, session_schemas.outcome_event)
    waiting.settled(session, held, sitting, enrollment_schemas)
    return _result(session, sitting, asked, violations)


def _result(session: Session, sitting: CandidateSession, *rest: Any) -> Body:
    recorded: list[Body] = []
    if sitting.recording:
        link = recordings.seal(sitting.id)
        recorded = recording_schemas.items(sitting, recordings.of(session, sitting), link)
    percentile = standing.percentile(session, sitting)
    return result_schemas.detail(sitting, *rest, percentile=percentile, recorded=recorded)


def _sifted(
    session: Session, caller: Caller, slug: str, rows: list[Body]
) -> tuple[Assessment, list[Body], list[Body]]:
    """Divide candidates into those to invite to an assessment that is active and those to skip."""
    assessment = assessments.read(session, caller, slug)
    trail.about(session, "assessment", assessment)
    rules.check_active(assessment.status)
    known = inviting.existing_among(
        session,
        assessment,
        emails={row["email"].strip().casefold() for row in rows if isinstance(row.get("email"), str)},
        external_ids={row["external_id"] for row in rows if row.get("external_id") is not None},
    )
    return assessment, *rules.sift(rows, known, emails.normal_or_none)


def _terms(body: Mapping[str, Any]) -> Body:
    return {
        "expires_at": _expiry(body),
        "extra_time_percent": body["extra_time_percent"],
        "tags": body["tags"],
        "language": body.get("language"),
    }


def _expiry(body: Mapping[str, Any]) -> datetime:
    return now() + timedelta(days=body["expires_days"])


def _status(invitation: Invitation, sitting: CandidateSession | None, moment: datetime) -> str:
    """Say what a locked invitation is, also where the schedule has not come by yet."""
    return session_rules.status(
        invitation.status,
        expires_at=invitation.expires_at,
        deadline_at=sitting.deadline_at if sitting else None,
        moment=moment,
    )


def _announce(session: Session, caller: Caller, made: Sequence[Invitation], *, send_email: bool) -> None:
    for invitation in made:
        events.record(session, "invitation.created", invitation, schemas.event(invitation))
    if send_email:
        _mail(session, caller, made, "invitation", organisations.name(session, caller))


def _mail(session: Change, caller: Caller, invited: Sequence[Invitation], template: str, sender: str) -> None:
    outbox.add_all(session, caller, "mail", [schemas.mail(one, sender, template) for one in invited])
