"""Putting back what was set aside."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from store import outbox
from store.database import aside
from store.database.aside import SetAside

MOST = 1_000


def everything(session: Session) -> Sequence[SetAside]:
    """Return what was set aside, the first one first, up to a limit."""
    return session.scalars(select(SetAside).order_by(SetAside.id).limit(MOST)).all()


def put_back(session: Session, kind: str, id: UUID | None = None) -> int:
    """Have rows of a kind, or one of them, taken again at once; outbox work begins anew. Return how many."""
    ids = aside.taken_back(session, kind, id)
    outbox.restart(session, kind, ids)
    return len(ids)
