"""Identifiers."""

from uuid import UUID

from uuid_utils.compat import uuid7


def new_id() -> UUID:
    """Return a UUIDv7: newer ids sort after older ones, so `id` is the keyset of every list."""
    return uuid7()
