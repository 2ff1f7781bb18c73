"""Mails: from outbox work to a message. The subject is the template's own `subject`."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from gateways import mail
from gateways.mail import Mail

TEMPLATES = Path(__file__).resolve().parent.parent / "templates" / "mail"


def send(id: UUID, arguments: dict[str, Any]) -> None:
    """Send one mail: `{template, to, to_name, livemode}` and whatever else the template speaks of."""
    mail.send(compose(id, arguments))


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
    )


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
