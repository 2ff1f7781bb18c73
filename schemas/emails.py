"""One definition of a well-formed email address."""

import re
from functools import lru_cache

import email_validator

# Addresses inside an organisation's own network are fine for a service that it hosts itself.
email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()

# What nearly every address is: well-formed, and in its usual form already. To find that out takes the library 80 µs.
_USUAL = re.compile(r"[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]{2,}")
_SHORT = 64  # no part of it can be too long


@lru_cache(maxsize=64)  # validation asks first, and then the handler
def normal(text: str) -> str:
    """Return an address in its usual form, or raise ValueError."""
    text = text.strip()
    if len(text) <= _SHORT and _USUAL.fullmatch(text):
        return text
    return email_validator.validate_email(text, check_deliverability=False).normalized


def normal_or_none(text: str) -> str | None:
    """Return an address in its usual form, or None where it is none."""
    try:
        return normal(text)
    except ValueError:
        return None
