"""How an organisation looks and writes to candidates."""

from typing import Any

from sqlalchemy.orm import Session

from rules import brand, consent
from rules.caller import Caller
from schemas import emails, html
from schemas import settings as schemas
from store.branding import settings
from store.database.engine import Reading

Body = dict[str, Any]


def get_settings(reading: Reading, caller: Caller) -> Body:
    """Show the settings."""
    return schemas.detail(settings.read(reading, caller))


def update_settings(session: Session, caller: Caller, body: Body) -> Body:
    """Change what is sent; HTML is made safe, a colour has to be seen."""
    brand.check_colour(body.get("colour"))
    texts = {name: html.clean(body[name]) for name in schemas.HTML if name in body}
    brand.check_html(texts)
    days = body.get("retention_days", {})
    values = body | texts | {f"{name}_days": days[name] for name in days}
    values.pop("retention_days", None)
    if values.get("reply_to"):
        values["reply_to"] = emails.normal(values["reply_to"])
    if values:
        settings.change(session, caller, values)
    row = settings.read(session, caller)
    consent.check_notice(row)
    return schemas.detail(row)


def upload_logo(session: Session, caller: Caller, body: Body) -> Body:
    """Keep a logo instead of the one before."""
    content = body["logo"].content
    settings.put_logo(session, caller, content, brand.check_logo(content))
    return schemas.detail(settings.read(session, caller))


def delete_logo(session: Session, caller: Caller) -> Body:
    """Let the logo go."""
    settings.delete_logo(session, caller)
    return schemas.detail(settings.read(session, caller))
