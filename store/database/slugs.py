"""Names in paths, made of titles."""

import re
import unicodedata
from collections.abc import Collection
from itertools import chain, count
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from rules.caller import Caller

LONGEST = 80  # a number may follow


def free(
    session: Session, caller: Caller, model: Any, title: str, *, otherwise: str, reserved: Collection[str]
) -> str:
    """Return a slug that no row of the caller's has; `otherwise` is for titles that leave nothing.

    The organisation row must be locked.
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    plain = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:LONGEST].rstrip("-")
    # A path takes an id where it takes a slug: no slug may look like one.
    base = f"{otherwise}-{plain}" if _is_id(plain) else plain or otherwise
    taken = set(
        session.scalars(
            select(model.slug).where(
                model.organisation_id == caller.organisation_id,
                model.livemode == caller.livemode,
                (model.slug == base) | model.slug.like(f"{base}-%"),
            )
        )
    ) | set(reserved)
    return next(slug for slug in chain([base], (f"{base}-{n}" for n in count(2))) if slug not in taken)


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
