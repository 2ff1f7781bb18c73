"""What an organisation's settings look like outside, and its pages by them."""

from typing import Any

from marshmallow import Schema, fields

from rules import brand, links
from rules.clock import iso
from rules.retention import RECORDINGS_DAYS
from schemas.fields import Show
from schemas.files import File
from schemas.showing import show

KEPT = {"Cache-Control": "public, max-age=300", "X-Content-Type-Options": "nosniff"}
HARMLESS = KEPT | {"Content-Security-Policy": "default-src 'none'; sandbox"}
ON_PAGES = ("language", "privacy_url", "help_contact", "consent_required", "source_tracking", "receipt_mail")
HTML = ("welcome_html", "closing_html", "privacy_html")


class Settings(Schema):
    """The settings, with the logo's address."""

    language = fields.String()
    reply_to = fields.String(allow_none=True)
    help_contact = fields.String()
    logo_url = fields.Function(lambda row: links.logo(row.slug) if row.logo else None)
    colour = fields.String(allow_none=True)
    welcome_html = fields.String()
    closing_html = fields.String()
    privacy_html = fields.String()
    privacy_url = fields.String(allow_none=True)
    receipt_mail = fields.Boolean()
    consent_required = fields.Boolean()
    source_tracking = fields.Boolean()
    retention_days = fields.Function(
        lambda row: {
            "candidates": row.candidates_days,
            "recordings": row.recordings_days or RECORDINGS_DAYS,
            "events": row.events_days,
        }
    )


detail: Show = show(Settings())


def page(row: Any) -> dict[str, Any]:
    """Show what pages need of the settings; the addresses are those of one's own service."""
    return {
        "name": row.name,
        "logo": f"/brand/{row.slug}/logo/" if row.logo else None,
        "style": f"/brand/{row.slug}/style.css" if row.colour else None,
        **{name: getattr(row, name) for name in (*HTML, *ON_PAGES)},
    }


def privacy(row: Any) -> dict[str, Any]:
    """Show what people agree to, and whether they have to."""
    return {name: getattr(row, name) for name in ("consent_required", "privacy_html", "privacy_url")}


def consent(row: Any) -> dict[str, Any] | None:
    """Show when somebody agreed to a privacy notice, and to which one; None where nobody did."""
    if row.consent_at is None:
        return None
    return {"accepted_at": iso(row.consent_at), "text_sha256": row.consent_text_hash}


def style(row: Any) -> File:
    """Write the stylesheet of an organisation's colour."""
    rule = ""
    if row.colour:
        ink = brand.ink(row.colour)
        rule = (
            f".top {{ border-bottom: 3px solid {row.colour}; }}\n"
            f".button.primary {{ background: {row.colour}; border-color: {row.colour}; color: {ink}; }}\n"
        )
    return File(rule.encode(), "text/css; charset=utf-8", KEPT, (row.colour or "none").lstrip("#"))


def logo(row: Any) -> File:
    """Hand out a logo, which may do nothing but be looked at."""
    return File(bytes(row.content), row.media_type, HARMLESS, row.etag)
