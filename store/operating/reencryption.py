"""A new SECRET_KEY: what is encrypted with an older one is encrypted again with the first."""

from typing import Any

from cryptography.fernet import InvalidToken
from sqlalchemy import inspect, select, tuple_, update
from sqlalchemy.orm import Session

from store.accounts.idempotency import IdempotentAnswer
from store.auditing.rows import AuditAnchor, AuditChain
from store.database import secrets
from store.delivering.webhooks import WebhookEndpoint

# Every column that holds something encrypted.
ENCRYPTED: dict[Any, tuple[str, ...]] = {
    WebhookEndpoint: ("secret", "previous_secret"),
    IdempotentAnswer: ("body",),
    AuditChain: ("seal",),
    AuditAnchor: ("seal",),
}


def batch(session: Session, model: Any, after: Any, *, limit: int) -> tuple[Any, int, int]:
    """Encrypt the values of some rows again: returns the last row's key (None at the end), done, and unreadable."""
    key = inspect(model).primary_key
    statement = select(model).order_by(*key).limit(limit).with_for_update()
    if after is not None:
        statement = statement.where(tuple_(*key) > tuple_(*after))
    rows = session.scalars(statement).all()
    done = unreadable = 0
    for row in rows:
        changes: dict[str, str] = {}
        for column in ENCRYPTED[model]:
            stored = getattr(row, column)
            if stored is None:
                continue
            try:
                fresh = secrets.again(stored)
            except InvalidToken:
                unreadable += 1
                continue
            changes[column] = fresh
        if changes:
            same = [one == getattr(row, one.name) for one in key]
            kept = {"updated_at": row.updated_at} if hasattr(row, "updated_at") else {}
            session.execute(update(model).where(*same).values(**changes, **kept))
            done += len(changes)
    last = tuple(getattr(rows[-1], column.name) for column in key) if len(rows) == limit else None
    return last, done, unreadable


def unreadable(session: Session) -> int:
    """Count the endpoints whose secret no present key decrypts."""
    count = 0
    for stored in session.scalars(select(WebhookEndpoint.secret).execution_options(yield_per=1_000)):
        try:
            secrets.unseal(stored)
        except InvalidToken:
            count += 1
    return count
