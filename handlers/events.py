"""Events: everything that happened, in order."""

from datetime import datetime

from sqlalchemy.orm import Session

from rules.caller import Caller
from rules.pages import Page
from store import events, fanout


def list_events(
    session: Session,
    caller: Caller,
    *,
    cursor: str | None,
    page_size: int,
    type: str | None,
    after: int | None,
    since: datetime | None,
) -> Page:
    """Show events as they are delivered, oldest first."""
    page = events.listing(
        session, caller, type=type, after=after, since=since, cursor=cursor, page_size=page_size
    )
    return page.map(fanout.envelope)
