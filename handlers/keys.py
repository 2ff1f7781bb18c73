"""The key that a request carries."""

from typing import Any

from rules.caller import Caller
from rules.errors import InvalidApiKey
from schemas import keys as schemas
from store.accounts import keys
from store.database.engine import Reading

Body = dict[str, Any]


def get_key(reading: Reading, caller: Caller) -> Body:
    """Show the key that asks; a session has none."""
    if caller.key_id is None:
        raise InvalidApiKey
    return schemas.detail(keys.read(reading, caller))
