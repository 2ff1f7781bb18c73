"""Replays: deliveries of an endpoint made due again, one helping for each piece of work, so that all take turns."""

from functools import partial
from typing import Any
from uuid import UUID

import store
from store.delivering import again


def replay(_id: UUID, arguments: dict[str, Any]) -> None:
    """Make due the next helping, and ask for the rest."""
    store.in_transaction(partial(again.go_on, arguments=arguments))
