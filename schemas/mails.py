"""What mails say, in the service's words or in an organisation's: subject, text and HTML, from one place."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from rules import brand
from rules.mail_templates import KINDS, fill
from rules.words import say
from schemas import tongues
from schemas.tongues import Tongue

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


def own(rows: Sequence[Any], tongue: Tongue) -> Own:
    """Return what settings, and the template in a language, say; what either lacks is the service's own.

    There is a row for each language that the kind of mail has a template in.
    """
    found = [row for row in rows if row.written_in == tongue.catalogue]
    row = (found or [row._replace(subject="", body_text="") for row in rows])[0]
    return Own(
        row.subject or "",
        row.body_text or "",
        row.help_contact or "",
        row.colour or COLOUR,
        row.reply_to or "",
    )


def write(name: str, values: Mapping[str, Any], own: Own, tongue: Tongue) -> Written:
    """Write a mail in a language; a name that it needs and does not get is a fault."""
    around = {
        "tongue": tongue,
        "colour": own.colour,
        "ink": brand.ink(own.colour),
        "help_contact": own.help_contact,
        **values,
    }
    templates = _environment(tongue.catalogue)
    text = templates.get_template(f"{name}.txt").make_module(around)
    subject = str(text.subject)  # type: ignore[attr-defined]  # the template sets it
    if own.subject.strip():
        subject = fill(own.subject, lambda named: _said(named, values, tongue))
    around["subject"] = subject
    body_text = values.get("own_text") or own.body_text  # a mail may bring what it is to say
    if body_text.strip():
        plain = fill(body_text, lambda named: _said(named, values, tongue)).strip() + "\n"
        around["paragraphs"] = _paragraphs(body_text, values, tongue)
        html = templates.get_template("own.html").render(around)
    else:
        plain, html = str(text), templates.get_template(f"{name}.html").render(around)
    if own.help_contact:
        asked = tongue.tell(say("Questions? %(contact)s", contact=own.help_contact))
        plain = f"{plain.rstrip()}\n\n{asked}\n"
    return Written(subject, plain, html)


def preview(name: str, language: str, own: Own) -> dict[str, str]:
    """Show how a mail looks with sample values."""
    made = write(name, KINDS[name].sample, own, tongues.of(language))
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
        "preview": preview(name, language, words),
    }


def _said(name: str, values: Mapping[str, Any], tongue: Tongue) -> str:
    """Write a placeholder's value for people; what there is none of is nothing."""
    value = values.get(name)
    if value is None:
        return ""
    return tongue.moment(value) if name.endswith("_at") else str(value)


def _marked(name: str, values: Mapping[str, Any], tongue: Tongue) -> str:
    said = escape(_said(name, values, tongue))
    return f'<a href="{said}">{said}</a>' if name.endswith("_url") and said else said


def _paragraphs(text: str, values: Mapping[str, Any], tongue: Tongue) -> list[Markup]:
    """Make HTML of plain text: what candidates and organisations wrote is text in it, and links are ours."""
    blocks = [block.strip("\n") for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n"))]
    return [
        Markup(fill(block, lambda name: _marked(name, values, tongue), escape).replace("\n", "<br>"))  # noqa: S704 - escaped
        for block in blocks
        if block.strip()
    ]


def _strong(text: str) -> Markup:
    return Markup("<strong>{}</strong>").format(text)


@cache
def _environment(catalogue: str) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    environment.install_gettext_translations(  # type: ignore[attr-defined]  # the extension brings it
        tongues.translations(catalogue), newstyle=True
    )
    environment.filters["strong"] = _strong
    return environment
