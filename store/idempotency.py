"""Answers kept for a day, so that a repeated request has its effect once."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ForeignKey, Index, delete, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.caller import Caller
from rules.clock import now
from rules.errors import IdempotencyInProgress, IdempotencyMismatch
from store import secrets
from store.base import Base

KEPT = timedelta(hours=24)


class IdempotentAnswer(Base):
    """The first answer to one key."""

    __tablename__ = "idempotent_answers"
    __table_args__ = (Index("ix_idempotent_answers_created_at", "created_at"),)

    organisation_id: Mapped[UUID] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    livemode: Mapped[bool] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    request: Mapped[str]  # what was asked for, as a hash
    status: Mapped[int]
    body: Mapped[str]  # encrypted: an answer may hold a secret
    created_at: Mapped[datetime]


@dataclass(frozen=True)
class Answer:
    """A status and a body, as they went out."""

    status: int
    body: bytes


def once(
    session: Session, caller: Caller, key: str, request: str, produce: Callable[[], Answer]
) -> tuple[Answer, bool]:
    """Return the first answer to a key, and whether it was given before.

    The lock lasts until the transaction ends and the answer is kept with the effect, so neither can be had without
    the other. A refusal has no effect and keeps nothing: its key stays free. Raises IdempotencyInProgress while the
    first request runs, and IdempotencyMismatch when the key was used for another one.
    """
    name = f"{caller.organisation_id}:{caller.livemode}:{key}"
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)
    if not session.scalar(select(func.pg_try_advisory_xact_lock(number))):
        raise IdempotencyInProgress
    row = session.get(IdempotentAnswer, (caller.organisation_id, caller.livemode, key))
    if row is not None and row.created_at > now() - KEPT:
        if row.request != request:
            raise IdempotencyMismatch
        return Answer(row.status, secrets.unseal(row.body).encode()), True
    if row is not None:
        session.delete(row)
        session.flush()
    answer = produce()
    session.add(
        IdempotentAnswer(
            organisation_id=caller.organisation_id,
            livemode=caller.livemode,
            key=key,
            request=request,
            status=answer.status,
            body=secrets.encrypt(answer.body.decode()),
            created_at=now(),
        )
    )
    return answer, False


def answers_due(session: Session) -> datetime | None:
    """Return when the oldest answer goes."""
    oldest = session.scalar(select(func.min(IdempotentAnswer.created_at)))
    return None if oldest is None else oldest + KEPT


def delete_answers(session: Session, limit: int) -> int:
    """Delete answers that are a day old; return how many."""
    old = (
        select(IdempotentAnswer.created_at)
        .where(IdempotentAnswer.created_at <= now() - KEPT)
        .order_by(IdempotentAnswer.created_at)
        .limit(limit)
    )
    newest = max(session.scalars(old), default=None)
    if newest is None:
        return 0
    done = session.execute(delete(IdempotentAnswer).where(IdempotentAnswer.created_at <= newest))
    return int(done.rowcount)  # type: ignore[attr-defined]
