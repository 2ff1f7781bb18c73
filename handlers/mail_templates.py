"""The mails that candidates get, in the organisation's own words."""

from typing import Any

from sqlalchemy.orm import Session

from rules import mail_templates as rules
from rules.caller import Caller
from rules.languages import CATALOGUES
from schemas import mails as schemas
from store.branding import settings
from store.database.engine import Means, Reading

Body = dict[str, Any]


def list_mail_templates(reading: Reading, caller: Caller) -> Body:
    """Show every template."""
    own, around = settings.templates(reading, caller), settings.read(reading, caller)
    return {
        "templates": [
            schemas.template(kind, language, own.get((kind, language)), around)
            for kind in rules.KINDS
            for language in CATALOGUES
        ]
    }


def get_mail_template(reading: Reading, caller: Caller, kind: str, language: str) -> Body:
    """Show one template."""
    rules.kind(kind, language)
    return _shown(reading, caller, kind, language)


def update_mail_template(session: Session, caller: Caller, kind: str, language: str, body: Body) -> Body:
    """Change the texts that are sent."""
    rules.check(rules.kind(kind, language), body)
    if body:
        settings.change_template(session, caller, kind, language, body)
    return _shown(session, caller, kind, language)


def _shown(means: Means, caller: Caller, kind: str, language: str) -> Body:
    own = settings.templates(means, caller).get((kind, language))
    return schemas.template(kind, language, own, settings.read(means, caller))
