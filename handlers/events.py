"""Events: everything that happened, in order."""

from typing import Any

from rules.caller import Caller
from rules.pages import Page
from store import events
from store.database.engine import Reading
from store.delivering import fanout


def list_events(reading: Reading, caller: Caller, **query: Any) -> Page:
    """Show events as they are delivered, oldest first."""
    return events.LIST.page(reading, caller, **query).map(fanout.envelope)
