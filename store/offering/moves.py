"""What is done with offers: each move with its event and what else it brings."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy.orm import Session

import rules.applications
import rules.offers
from rules.caller import Caller
from rules.clock import now
from rules.moves import take
from store import events, outbox
from store.accounts import organisations
from store.applying import moves as application_moves
from store.applying.applications import Application
from store.offering import offers
from store.offering.offers import Offer


class Shows(Protocol):
    """How offers look outside: the module `schemas.offers`."""

    def event(self, offer: Any, /) -> dict[str, Any]:
        """Return the data of an offer's event."""

    def letter(self, offer: Any, organisation_name: str, /) -> dict[str, Any]:
        """Return what an offer says, names included."""

    def texts(self, letter: Mapping[str, Any], /) -> dict[str, str | None]:
        """Return what a letter says, without its form."""

    def mail(self, offer: Any, /) -> dict[str, Any]:
        """Return the mail that a sent offer goes out with, as outbox work."""


# What of a letter's texts cannot be printed: faults, each with its place.
Unprintable = Callable[[Mapping[str, str | None]], Sequence[Mapping[str, str]]]


def reschedule(session: Session, offer: Offer) -> None:
    """Let an open offer be what its moment of sending says: scheduled, or a draft."""
    move = rules.offers.rescheduled(offer.status, offer.scheduled_send_at)
    if move is not None:
        events.apply(session, offer, move)


def send(session: Session, caller: Caller, offer: Offer, shows: Shows, unprintable: Unprintable) -> None:
    """Send a locked offer as it stands, or refuse; the letter is kept, and goes out with the mail after the commit."""
    letter = shows.letter(offer, organisations.get(session, caller).name)
    application, texts = offer.application, shows.texts(letter)
    move = rules.offers.send(
        offer.status,
        texts,
        unprintable=unprintable(texts),
        expires_at=offer.expires_at,
        application_status=rules.applications.beneath(application.status, application.held_from),
        others_sent=offers.is_out(session, application),
        now=now(),
    )
    offer.letter, offer.send_error = letter, None
    events.apply(session, offer, move, shows.event)
    outbox.add(session, offer, "mail", **shows.mail(offer))


def put_back(session: Session, offer: Offer, error: str) -> None:
    """Make a draft again of a locked offer that could not be sent at its moment, and keep why."""
    offer.scheduled_send_at, offer.send_error = None, error
    reschedule(session, offer)


def withdraw(session: Session, offer: Offer, shows: Shows) -> None:
    """Withdraw a locked offer."""
    move = take(rules.offers.MOVES, "withdraw", offer.status)
    events.apply(session, offer, move, shows.event)


def withdraw_all(session: Session, application: Application, shows: Shows) -> None:
    """Withdraw what the candidate of a locked application has not answered, or not yet seen."""
    for offer in offers.unanswered(session, application):
        withdraw(session, offer, shows)


def answer(
    session: Session,
    offer: Offer,
    name: str,
    shows: Shows,
    application_shows: application_moves.Shows,
    *,
    reason: str = "",
) -> None:
    """Take the candidate's answer (accept, decline) to a locked offer; the same one again changes nothing.

    Who accepts is hired with it.
    """
    move = rules.offers.answer(name, rules.offers.status(offer.status, offer.expires_at, now()))
    if move is None:
        return
    offer.decline_reason = reason
    events.apply(session, offer, move, shows.event)
    if name == "accept":
        application_moves.hire_accepted(
            session, offer.application, application_shows, actor="candidate", offer_id=str(offer.id)
        )
