"""Answers that wait for a person: whoever takes one in hand is seen by the others."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from rules.caller import Caller
from rules.pages import Page
from schemas import reviews as schemas
from store.assessing import reviews
from store.database.engine import Reading

Body = dict[str, Any]


def list_reviews(reading: Reading, caller: Caller, **query: Any) -> Page:
    """List what waits, the latest start first."""
    return reviews.LIST.page(reading, caller, **query).map(schemas.item)


def get_review(session: Session, caller: Caller, id: UUID) -> Body:
    """Show one beside what it is judged by."""
    return schemas.detail(*reviews.get(session, caller, id))


def claim_review(session: Session, caller: Caller, id: UUID) -> Body:
    """Take one in hand for a while."""
    return schemas.item(reviews.claim(session, caller, id))


def release_review(session: Session, caller: Caller, id: UUID) -> Body:
    """Let one go."""
    return schemas.item(reviews.release(session, caller, id))
