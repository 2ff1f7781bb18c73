"""The pages that a person sees. One layout for all, nothing from another host, nothing kept by the browser."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import date
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

import rules.interviews
import rules.members
import schemas.offers
import schemas.sessions
import schemas.settings
import store.assessing.sessions
import store.branding.settings
import store.hiring.careers
import store.offering.offers
from handlers import offers, rooms, sessions
from rules import voice
from rules.applications import attempt
from rules.clock import now
from rules.errors import Invalid, LimitReached
from rules.offers import LONGEST_REASON
from rules.refusal import Refusal
from rules.words import say
from schemas import guides, reference
from schemas.views import View
from store.accounts import members
from store.auditing import trail
from store.interviewing import visits

Begin = Callable[[], AbstractContextManager[Session]]

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "Permissions-Policy": "camera=(), display-capture=(), microphone=(), geolocation=(), fullscreen=(self)",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}

SPOKEN = HEADERS | {
    "Permissions-Policy": HEADERS["Permissions-Policy"].replace("microphone=()", "microphone=(self)")
}

# What a kind of recording needs of the browser.
FEATURES = {"webcam": "camera", "screen": "display-capture"}

HOME_SHOWS = 50

ENGLISH = ("en",)  # what developers read is in one language

REFERENCE = HEADERS | {
    # Swagger UI draws its signs from within its stylesheet.
    "Content-Security-Policy": f"{HEADERS['Content-Security-Policy']}; img-src 'self' data:",
    "Cache-Control": "public, max-age=300",
}

PUBLIC = HEADERS | {"Cache-Control": "public, max-age=300"}

# What is shown for each state of an invitation.
TEMPLATES = {
    "pending": "take.html",
    "started": "take.html",
    "completed": "message.html",
    "expired": "message.html",
}


def show_home_page(session: Session) -> View:
    """Say what this is and where to go."""
    return page("home.html", hiring=store.hiring.careers.hiring(session, limit=HOME_SHOWS))


def show_take_page(session: Session, token: str) -> View:
    """Show what an invitation's link opens: the assessment, or a message of its own."""
    sitting = store.assessing.sessions.look(session, token, schemas.sessions.event)
    if sitting is None:
        return page("message.html", status=404, state="unknown")
    state = sessions.view(session, sitting)
    ended_by_time = state["completed_at"] is not None and state["completed_at"] == state["deadline_at"]
    return page(
        TEMPLATES[sitting.status],
        headers=_recorded(state.get("recording", {}).get("kinds", [])),
        wanted=(sitting.invitation.language, sitting.invitation.assessment.language),
        brand=brand(session, sitting.invitation.organisation_id),
        state=sitting.status,
        session=state,
        token=token,
        expires_at=sitting.invitation.expires_at,
        ended_by_time=ended_by_time,
    )


def _recorded(kinds: Sequence[str]) -> dict[str, str]:
    """Return the headers of a page that records: camera and screen where they are asked for, and nowhere else."""
    policy = HEADERS["Permissions-Policy"]
    for feature in (FEATURES[kind] for kind in kinds if kind in FEATURES):
        policy = policy.replace(f"{feature}=()", f"{feature}=(self)")
    return HEADERS | {"Permissions-Policy": policy}


def show_interview_page(session: Session, token: str) -> View:
    """Show what an interview's link opens: the way in, the room, or that it is closed."""
    visit = visits.find(session, token)
    one = visit.interview
    return page(
        "interview.html",
        headers=SPOKEN if voice.offered(one) else HEADERS,
        brand=brand(session, one.organisation_id),
        room=rooms.view(session, visit),
        scheduled_at=one.scheduled_at,
        closed=visit.status in rules.interviews.CLOSED,
        judged=visit.role == "interviewer" and not rules.interviews.was_cancelled(one.session_metadata),
        token=token,
    )


def show_shared_interview_page(session: Session, token: str) -> View:
    """Play a room again for who has the link to look at it."""
    replay = rooms.get_shared_replay(session, token)
    return page("replay.html", replay=replay, token=token)


def show_offer_page(session: Session, token: str, answer: str | None) -> View:
    """Show what an offer's link opens: the letter, the question whether it is meant, or how the offer stands."""
    return _offer_page(session, token, step=answer)


def answer_on_offer_page(begin: Begin, token: str, body: dict[str, Any]) -> View:
    """Take the page's answer; where it comes too late, show how the offer stands now."""
    name, reason = body["answer"], body["reason"].replace("\r\n", "\n")
    too_long = name == "decline" and len(reason) > LONGEST_REASON
    refusal = None if too_long else attempt(lambda: _answer(begin, token, name, reason))
    with begin() as session:
        if too_long:
            fault = say("Please write at most %(count)s characters.", count=LONGEST_REASON)
            return _offer_page(session, token, step=name, status=400, reason=reason, fault=fault)
        return _offer_page(session, token, status=400 if refusal else 200, refused=refusal is not None)


def _answer(begin: Begin, token: str, name: str, reason: str) -> None:
    with begin() as session:
        if name == "accept":
            offers.accept_offer(session, token)
        else:
            offers.decline_offer(session, token, {"reason": reason})


def _offer_page(
    session: Session, token: str, *, step: str | None = None, status: int = 200, **values: Any
) -> View:
    """Show an offer's page; only one that waits for its answer has steps."""
    found = store.offering.offers.find(session, token)
    if found is None:
        return page("offer.html", status=404, offer=None)
    offer = schemas.offers.for_candidate(found, now())
    start = offer["start_date"]
    return page(
        "offer.html",
        brand=brand(session, found.organisation_id),
        wanted=(found.job.language,),
        status=status,
        offer=offer,
        step=step if offer["status"] == "sent" else None,
        start=date.fromisoformat(start) if start else None,
        expires=found.expires_at,
        responded=found.responded_at,
        longest_reason=LONGEST_REASON,
        **values,
    )


def show_join_page(session: Session, token: str) -> View:
    """Show what the link of an invite to the team opens: who invites to what, or why it does not work any more."""
    return _join_page(session, token)


def join_on_page(begin: Begin, token: str, body: dict[str, Any]) -> View:
    """Make whom the link invites a member, under the name that they give."""
    name = " ".join(body["name"].split())
    fault = rules.members.name_fault(name)
    refusal = None if fault else attempt(lambda: _join(begin, token, name), (Invalid, LimitReached))
    with begin() as session:
        if fault or refusal:
            full = isinstance(refusal, LimitReached)
            return _join_page(session, token, status=400, name=name, fault=fault, full=full)
        return _join_page(session, token, joined=True, name=name)


def _join(begin: Begin, token: str, name: str) -> None:
    with begin() as session:
        member = members.accept(session, token, name)
        trail.about(session, "member", member)
        trail.acting(session, "member", member.user_id)


def _join_page(
    session: Session, token: str, *, joined: bool = False, status: int = 200, **values: Any
) -> View:
    """Show the page of an invite; only one that waits has a form."""
    found = members.invited(session, token)
    if found is None:
        return page("join.html", status=404, invite=None)
    invite, organisation_name, inviter = found
    return page(
        "join.html",
        brand=brand(session, invite.organisation_id),
        status=status,
        state="joined" if joined else rules.members.invite_status(invite, now()),
        invite=invite,
        organisation_name=organisation_name,
        inviter=inviter,
        is_notified=invite.role in rules.members.NOTIFIED,
        longest_name=rules.members.LONGEST_NAME,
        **values,
    )


def brand(session: Session, organisation_id: UUID) -> dict[str, Any]:
    """Load what makes pages an organisation's own."""
    return schemas.settings.page(store.branding.settings.of(session, organisation_id))


def faults(refusal: Refusal) -> dict[str, str]:
    """Return what is wrong with a form, by where."""
    return {one["pointer"]: one["message"] for one in refusal.details.get("fields", [])}


def show_reference() -> View:
    """Show the API reference, made by the browser from the document that the service runs on."""
    key = reference.key()
    headers = REFERENCE if not key else REFERENCE | {"Cache-Control": HEADERS["Cache-Control"]}
    return page("reference.html", wanted=ENGLISH, headers=headers, chapters=reference.chapters(), key=key)


def show_guides() -> View:
    """List the guides and the pages of the error codes."""
    return _show_document("guides")


def show_guide(name: str) -> View:
    """Show one guide."""
    return _show_document(f"guides/{name}")


def show_error_page(code: str) -> View:
    """Show what an error code means and how to mend it."""
    return _show_document(f"errors/{code}")


def show_api_changelog() -> View:
    """Show what changed in the API, by date."""
    return _show_document("api-changelog")


def _show_document(place: str) -> View:
    guide = guides.find(place)
    return page("document.html", wanted=ENGLISH, status=200 if guide else 404, headers=PUBLIC, guide=guide)


def page(
    template: str,
    *,
    status: int = 200,
    headers: dict[str, str] = HEADERS,
    wanted: Sequence[str | None] = (),
    otherwise: str | None = None,
    **values: Any,
) -> View:
    """Choose a template, its values, the headers of every page or its own, and the languages that are wanted first."""
    otherwise = otherwise or (values.get("brand") or {}).get("language")
    return View(template, values, headers, status, wanted, otherwise)
