"""Mails: from outbox work to a message."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

import store
from gateways import mail
from gateways.letters import printing
from gateways.mail import Mail, RefusedError
from rules import languages
from rules.mail_templates import KINDS
from schemas import mails, tongues
from schemas import offers as offer_schemas
from schemas.tongues import Tongue
from store.assessing import invitations
from store.branding import settings
from store.interviewing import rooms
from store.offering import offers

LONGEST_WORDS = 500  # of a mail server that are kept
TO_CANDIDATES = {*KINDS, "interview"}  # the words of the last are always the service's
# Where it is shown that a mail did not reach its address, by what names the row in the mail's arguments.
NOTED: dict[str, Callable[[Session, UUID, str], None]] = {
    "invitation_id": invitations.note_refusal,
    "offer_id": offers.note_refusal,
    "interview_id": rooms.note_refusal,
}


def send(id: UUID, arguments: dict[str, Any]) -> None:
    """Send one mail: `{template, to, to_name, livemode}` and whatever else the template speaks of.

    A `letter` among them goes with it as PDF.
    """
    mail.send(compose(id, arguments, *_own(id, arguments)))


def given_up(session: Session, arguments: dict[str, Any], fault: BaseException) -> None:
    """Note on what a mail was about that it did not reach its address: in the mail server's words, if it refused."""
    words = str(fault)[:LONGEST_WORDS] if isinstance(fault, RefusedError) else "The mail could not be sent."
    for name, note in NOTED.items():
        if name in arguments:
            note(session, UUID(arguments[name]), words)


def compose(
    id: UUID,
    arguments: dict[str, Any],
    own: mails.Own = mails.Own(),  # noqa: B008 - it is frozen
    tongue: Tongue | None = None,
) -> Mail:
    """Return the mail; a name that the template needs and does not get is a fault."""
    tongue = tongue or tongues.of(languages.choose(arguments.get("languages", ())))
    written = mails.write(arguments["template"], arguments, own, tongue)
    return Mail(
        id=str(id),
        to=arguments["to"],
        to_name=arguments.get("to_name", ""),
        reply_to=own.reply_to,
        subject=written.subject,
        text=written.text,
        html=written.html,
        livemode=arguments["livemode"],
        attachments=_attachments(arguments, tongue),
        calendar=arguments.get("calendar"),
    )


def written(id: UUID, arguments: dict[str, Any]) -> mails.Written:
    """Return what a mail says, as it would be written now."""
    return mails.write(arguments["template"], arguments, *_own(id, arguments))


def _own(id: UUID, arguments: dict[str, Any]) -> tuple[mails.Own, Tongue]:
    """Read how the organisation writes to its candidates by now, and in which language; to its own the service does."""
    kind = arguments["template"]
    with store.reading() as reading:
        rows = settings.of_mail(reading, id, kind)
    usual = rows[0].language if rows else None
    tongue = tongues.of(languages.choose([*arguments.get("languages", ()), usual]))
    if not rows or kind not in TO_CANDIDATES or arguments.get("is_interviewer"):
        return mails.Own(), tongue
    return mails.own(rows, tongue), tongue


def _attachments(arguments: dict[str, Any], tongue: Tongue) -> list[tuple[str, str, bytes]]:
    """Print the letter that goes with a mail; most have none."""
    letter = arguments.get("letter")
    if not letter:
        return []
    pdf = printing.render({**letter, "facts": offer_schemas.facts(letter, tongue)})
    return [("offer.pdf", "application/pdf", pdf)]
