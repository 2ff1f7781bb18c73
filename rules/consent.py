"""What people agree to before they hand over what is theirs: the organisation's privacy notice."""

import hashlib
from datetime import datetime
from typing import Any, Protocol

from rules.errors import Invalid
from rules.words import say

FIELD = "consent_accepted"


class Notice(Protocol):
    """An organisation's settings, as far as they speak of privacy."""

    @property
    def consent_required(self) -> bool: ...  # noqa: D102
    @property
    def privacy_html(self) -> str: ...  # noqa: D102
    @property
    def privacy_url(self) -> str | None: ...  # noqa: D102


def check_notice(notice: Notice) -> None:
    """Refuse to ask for consent to nothing."""
    if notice.consent_required and not notice.privacy_html and not notice.privacy_url:
        raise Invalid.at(
            "/consent_required", "Needs `privacy_html` or `privacy_url`: the notice that is agreed to."
        )


def faults(notice: Notice, *, accepted: bool) -> list[dict[str, str]]:
    """Find what is missing where an organisation asks for consent."""
    if accepted or not notice.consent_required:
        return []
    return [{"pointer": f"/{FIELD}", "message": say("You need to agree to the privacy notice.")}]


def given(notice: Notice, *, accepted: bool, moment: datetime) -> dict[str, Any]:
    """Return what is kept of a consent: when, and to which text by its hash; nothing where none was given."""
    if not accepted:
        return {}
    return {"consent_at": moment, "consent_text_hash": text_hash(notice)}


def text_hash(notice: Notice) -> str:
    """Return the SHA-256 of a notice: its HTML, a line feed and its address."""
    return hashlib.sha256(f"{notice.privacy_html}\n{notice.privacy_url or ''}".encode()).hexdigest()
