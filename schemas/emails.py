"""One definition of a well-formed email address."""

from functools import lru_cache

import email_validator

# Addresses inside an organisation's own network are fine for a service that it hosts itself.
email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()


@lru_cache(maxsize=64)  # validation asks first, and then the handler
def normal(text: str) -> str:
    """Return an address in its usual form, or raise ValueError."""
    return email_validator.validate_email(text.strip(), check_deliverability=False).normalized


def normal_or_none(text: str) -> str | None:
    """Return an address in its usual form, or None where it is none."""
    try:
        return normal(text)
    except ValueError:
        return None
