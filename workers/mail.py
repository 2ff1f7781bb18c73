"""Mails: from outbox work to a message. The subject is the template's own `subject`."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from sqlalchemy.orm import Session

from gateways import mail
from gateways.letters import printing
from gateways.mail import Mail, RefusedError
from store.assessing import invitations
from store.offering import offers

TEMPLATES = Path(__file__).resolve().parent.parent / "templates" / "mail"
LONGEST_WORDS = 500  # of a mail server that are kept
# Where it is shown that a mail did not reach its address, by what names the row in the mail's arguments.
NOTED: dict[str, Callable[[Session, UUID, str], None]] = {
    "invitation_id": invitations.note_refusal,
    "offer_id": offers.note_refusal,
}


def send(id: UUID, arguments: dict[str, Any]) -> None:
    """Send one mail: `{template, to, to_name, livemode}` and whatever else the template speaks of.

    A `letter` among them goes with it as PDF.
    """
    mail.send(compose(id, arguments))


def given_up(session: Session, arguments: dict[str, Any], fault: BaseException) -> None:
    """Note on what a mail was about that it did not reach its address: in the mail server's words, if it refused."""
    words = str(fault)[:LONGEST_WORDS] if isinstance(fault, RefusedError) else "The mail could not be sent."
    for name, note in NOTED.items():
        if name in arguments:
            note(session, UUID(arguments[name]), words)


def compose(id: UUID, arguments: dict[str, Any]) -> Mail:
    """Return the mail; a name that the template needs and does not get is a fault."""
    name = arguments["template"]
    text = _environment().get_template(f"{name}.txt")
    html = _environment().get_template(f"{name}.html")
    subject = str(text.make_module(arguments).subject)  # type: ignore[attr-defined]  # the template sets it
    return Mail(
        id=str(id),
        to=arguments["to"],
        to_name=arguments.get("to_name", ""),
        subject=subject,
        text=text.render(arguments),
        html=html.render(arguments),
        livemode=arguments["livemode"],
        attachments=_attachments(arguments),
    )


def _attachments(arguments: dict[str, Any]) -> list[tuple[str, str, bytes]]:
    """Print the letter that goes with a mail; most have none."""
    letter = arguments.get("letter")
    return [("offer.pdf", "application/pdf", printing.render(letter))] if letter else []


def moment(text: str) -> str:
    """Write an ISO 8601 moment for people: 1 March 2026, 12:00 UTC."""
    when = datetime.fromisoformat(text).astimezone(UTC)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
    )
    environment.filters["moment"] = moment
    return environment
