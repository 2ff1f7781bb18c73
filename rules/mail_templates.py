"""The mails that candidates get: what each may name, and what it must."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rules.errors import Invalid, NotFound
from rules.languages import CATALOGUES

_PLACEHOLDER = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")


@dataclass(frozen=True)
class Kind:
    """One kind of mail: a value to show in a preview for each placeholder, and those that a text must have."""

    sample: Mapping[str, Any]
    needed: frozenset[str] = frozenset()

    @property
    def placeholders(self) -> list[str]:
        """What its text may name."""
        return sorted(self.sample)


_PERSON = {"candidate_name": "Ada Lovelace", "organisation_name": "Northwind Labs"}
_JOB = _PERSON | {"job_title": "Senior backend engineer"}
_ASSESSMENT = _PERSON | {
    "assessment_title": "Backend engineer",
    "time_limit_minutes": 60,
    "invite_url": "https://hiring.example.com/take/7Qd0n2",
    "expires_at": "2026-12-01T12:00:00.000Z",
}
_APPLIED = _JOB | {"status_url": "https://hiring.example.com/application/7Qd0n2"}
_OFFER = _JOB | {
    "respond_url": "https://hiring.example.com/offer/7Qd0n2",
    "expires_at": "2026-12-01T12:00:00.000Z",
}

KINDS = {
    "invitation": Kind(_ASSESSMENT, frozenset({"invite_url"})),
    "reminder": Kind(_ASSESSMENT, frozenset({"invite_url"})),
    "receipt": Kind(_APPLIED),
    "applied_before": Kind(_APPLIED, frozenset({"status_url"})),
    "rejection": Kind(_JOB),
    "offer": Kind(_OFFER, frozenset({"respond_url"})),
}


def kind(name: str, language: str) -> Kind:
    """Return a kind of mail in a language that there is, or raise NotFound."""
    if name not in KINDS or language not in CATALOGUES:
        raise NotFound("There is no such mail template.")
    return KINDS[name]


def check(kind: Kind, texts: Mapping[str, str]) -> None:
    """Refuse placeholders that the kind does not have, each by its name, and a body that lacks what it needs."""
    known = ", ".join(kind.placeholders)
    faults = [
        {"pointer": f"/{field}", "message": f"There is no placeholder {name!r}. There are: {known}."}
        for field, text in texts.items()
        for name in dict.fromkeys(_PLACEHOLDER.findall(text))
        if name not in kind.sample
    ]
    body = texts.get("body_text", "")
    faults += [
        {"pointer": "/body_text", "message": f"Must have {{{{{name}}}}}: the mail is of no use without it."}
        for name in sorted(kind.needed - set(_PLACEHOLDER.findall(body)))
        if body.strip()
    ]
    if faults:
        raise Invalid(fields=faults)


def fill(text: str, write: Callable[[str], str], plain: Callable[[str], str] = str) -> str:
    """Put into a text what `write` makes of each placeholder's name, and what `plain` makes of all between them."""
    parts = _PLACEHOLDER.split(text)
    return "".join(write(part) if number % 2 else plain(part) for number, part in enumerate(parts))
