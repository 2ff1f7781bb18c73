"""What mails say, in the service's words or in an organisation's: subject, text and HTML, from one place."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from rules import brand
from rules.mail_templates import KINDS, fill

TEMPLATES = Path(__file__).resolve().parent.parent / "templates" / "mail"
COLOUR = "#1f5eff"


@dataclass(frozen=True)
class Own:
    """What an organisation has its candidates' mails written with; empty is the service's own."""

    subject: str = ""
    body_text: str = ""
    help_contact: str = ""
    colour: str = COLOUR
    reply_to: str = ""


@dataclass(frozen=True)
class Written:
    """A mail's words."""

    subject: str
    text: str
    html: str


def own(row: Any) -> Own:
    """Return what a row of settings and of a template says; what either lacks is the service's own."""
    return Own(
        row.subject or "",
        row.body_text or "",
        row.help_contact or "",
        row.colour or COLOUR,
        row.reply_to or "",
    )


def write(name: str, values: Mapping[str, Any], own: Own = Own()) -> Written:
    """Write a mail; a name that it needs and does not get is a fault."""
    around = {"colour": own.colour, "ink": brand.ink(own.colour), "help_contact": own.help_contact, **values}
    text = _environment().get_template(f"{name}.txt")
    subject = str(text.make_module(around).subject)  # type: ignore[attr-defined]  # the template sets it
    if own.subject.strip():
        subject = fill(own.subject, lambda named: _said(named, values))
    body_text = values.get("own_text") or own.body_text  # a mail may bring what it is to say
    if body_text.strip():
        plain = fill(body_text, lambda named: _said(named, values)).strip() + "\n"
        around |= {"subject": subject, "paragraphs": _paragraphs(body_text, values)}
        html = _environment().get_template("own.html").render(around)
    else:
        plain, html = text.render(around), _environment().get_template(f"{name}.html").render(around)
    if own.help_contact:
        plain = f"{plain.rstrip()}\n\nQuestions? {own.help_contact}\n"
    return Written(subject, plain, html)


def preview(name: str, own: Own) -> dict[str, str]:
    """Show how a mail looks with sample values."""
    made = write(name, KINDS[name].sample, own)
    return {"subject": made.subject, "text": made.text, "html": made.html}


def template(name: str, language: str, row: Any, settings: Any) -> dict[str, Any]:
    """Show one kind of mail; `row` is what the organisation has written itself, None where it has not."""
    subject, body_text = (row.subject, row.body_text) if row else ("", "")
    words = Own(subject, body_text, settings.help_contact, settings.colour or COLOUR)
    return {
        "kind": name,
        "language": language,
        "subject": subject,
        "body_text": body_text,
        "placeholders": KINDS[name].placeholders,
        "preview": preview(name, words),
    }


def moment(text: str) -> str:
    """Write an ISO 8601 moment for people: 1 March 2026, 12:00 UTC."""
    when = datetime.fromisoformat(text).astimezone(UTC)
    return f"{when.day} {when:%B %Y, %H:%M} UTC"


def _said(name: str, values: Mapping[str, Any]) -> str:
    """Write a placeholder's value for people; what there is none of is nothing."""
    value = values.get(name)
    if value is None:
        return ""
    return moment(value) if name.endswith("_at") else str(value)


def _marked(name: str, values: Mapping[str, Any]) -> str:
    said = escape(_said(name, values))
    return f'<a href="{said}">{said}</a>' if name.endswith("_url") and said else said


def _paragraphs(text: str, values: Mapping[str, Any]) -> list[Markup]:
    """Make HTML of plain text: what candidates and organisations wrote is text in it, and links are ours."""
    blocks = [block.strip("\n") for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n"))]
    return [
        Markup(fill(block, lambda name: _marked(name, values), escape).replace("\n", "<br>"))  # noqa: S704 - escaped
        for block in blocks
        if block.strip()
    ]


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
