"""Offers: drafted, sent, withdrawn; and read and answered by their candidates."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from gateways.letters import fonts, printing
from rules import languages
from rules import offers as rules
from rules.caller import Caller
from rules.clock import now
from rules.errors import Invalid
from rules.pages import Page
from schemas import applications as application_schemas
from schemas import html, tongues
from schemas import offers as schemas
from schemas.files import File
from store.accounts import organisations
from store.applying import applications
from store.branding import settings
from store.database.engine import Reading
from store.offering import moves, offers

Body = dict[str, Any]
Begin = Callable[[], AbstractContextManager[Session]]

PRINTED_FIELDS = ("title", "compensation_text", "body_html")
PDF_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-store",
    "Content-Disposition": "attachment; filename=offer.pdf",
}


def list_offers(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List offers, newest first."""
    return offers.LIST.page(reading, caller, **query).map(schemas.offer)


def get_offer(session: Session, caller: Caller, offer_id: UUID) -> Body:
    """Show one offer."""
    return schemas.offer(offers.get(session, caller, offer_id))


def create_offer(session: Session, caller: Caller, body: Body) -> Body:
    """Draft an offer, to be sent at a moment if one is given."""
    application = applications.get(session, caller, body["application_id"])
    offer = offers.create(session, caller, application, _settings(body))
    moves.reschedule(session, offer)
    return schemas.offer(offer)


def update_offer(session: Session, caller: Caller, offer_id: UUID, body: Body) -> Body:
    """Change an offer that has not been sent."""
    offer = offers.hold(session, caller, offer_id)
    rules.check_open(offer.status)
    offer.change(_settings(body))
    if session.is_modified(offer):
        offer.send_error = None  # what stood in the way may be out of it
    moves.reschedule(session, offer)
    session.flush()
    return schemas.offer(offer)


def send_offer(session: Session, caller: Caller, offer_id: UUID) -> Body:
    """Send an offer to its candidate."""
    offer = offers.hold(session, caller, offer_id)
    moves.send(session, caller, offer, schemas, fonts.unprintable)
    return schemas.offer(offer)


def withdraw_offer(session: Session, caller: Caller, offer_id: UUID) -> Body:
    """Withdraw an offer that was not answered."""
    offer = offers.hold(session, caller, offer_id)
    moves.withdraw(session, offer, schemas)
    return schemas.offer(offer)


def download_offer_pdf(begin: Begin, caller: Caller, offer_id: UUID) -> File:
    """Print the letter: as it was sent, or as it would be."""
    with begin() as session:
        offer = offers.get(session, caller, offer_id)
        letter = offer.letter or schemas.letter(offer, organisations.get(session, caller).name)
        tags = [offer.job.language, settings.read(session, caller).language]
    if offer.letter is None and (faults := fonts.unprintable(schemas.texts(letter))):
        raise Invalid("The letter cannot be printed.", fields=faults)
    facts = schemas.facts(letter, tongues.of(languages.choose(tags)))
    return File(printing.render({**letter, "facts": facts}), "application/pdf", PDF_HEADERS)


def get_offer_letter(session: Session, token: str) -> Body:
    """Show an offer to its candidate."""
    return schemas.for_candidate(offers.seen(session, token), now())


def accept_offer(session: Session, token: str) -> Body:
    """Accept, which hires the candidate."""
    return _answer(session, token, "accept")


def decline_offer(session: Session, token: str, body: Body) -> Body:
    """Decline."""
    return _answer(session, token, "decline", body["reason"])


def _answer(session: Session, token: str, name: str, reason: str = "") -> Body:
    """Take the candidate's answer; the same one again changes nothing."""
    offer = offers.hold_seen(session, token)
    moves.answer(session, offer, name, schemas, application_schemas, reason=reason)
    return schemas.for_candidate(offer, now())


def _settings(body: Body) -> Body:
    """Return what a body says as the columns have it, or refuse what could not be printed."""
    settings = {name: one for name, one in body.items() if name != "application_id"}
    if "body_html" in body:
        settings["body_html"] = html.clean(body["body_html"])
        if len(settings["body_html"]) > rules.LONGEST_BODY:
            raise Invalid.at(
                "/body_html", f"Must have at most {rules.LONGEST_BODY} characters, made safe to show."
            )
    said: Body = {name: settings[name] for name in PRINTED_FIELDS if name in settings}
    if faults := fonts.unprintable(schemas.texts(said)):
        raise Invalid(fields=faults)
    return settings
