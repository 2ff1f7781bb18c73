"""Answers kept for a day, so that a repeated request has its effect once."""

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from cryptography.fernet import InvalidToken
from sqlalchemy import ColumnElement, ForeignKey, Index, Uuid, cast, delete, func, select, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.caller import Caller
from rules.clock import now
from rules.errors import IdempotencyInProgress, IdempotencyMismatch, NotFound
from store.database import secrets
from store.database.aside import Row
from store.database.base import Base
from store.database.due import Due
from store.database.ids import new_id

KEPT = timedelta(hours=24)
# Longer than a request takes. Being wrong costs time and no second effect: who held a key before keeps nothing.
HELD = timedelta(minutes=2)
SOME = 500  # answers that are decrypted in one transaction
ERASED = 0  # the status of an answer that told of somebody who was erased


class IdempotentAnswer(Base):
    """The first answer to one key, or who is at work on it."""

    __tablename__ = "idempotent_answers"
    __table_args__ = (Index("ix_idempotent_answers_created_at", "created_at"),)

    organisation_id: Mapped[UUID] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    livemode: Mapped[bool] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    request: Mapped[str]  # what was asked for, as a hash
    holder: Mapped[UUID | None]  # who is at work on it; status and body say nothing until nobody is
    status: Mapped[int]
    body: Mapped[str]  # encrypted: an answer may hold a secret
    created_at: Mapped[datetime]


@dataclass(frozen=True)
class Asked:
    """A request that names itself: whose it is, its key, and what it asks for as a hash."""

    caller: Caller
    key: str
    request: str

    @property
    def place(self) -> tuple[UUID, bool, str]:
        """Where its answer is kept."""
        return self.caller.organisation_id, self.caller.livemode, self.key

    @property
    def lock(self) -> int:
        """The number of its advisory lock."""
        name = ":".join(map(str, self.place))
        return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], signed=True)


@dataclass(frozen=True)
class Answer:
    """A status and a body, as they went out."""

    status: int
    body: bytes


def once(session: Session, asked: Asked, produce: Callable[[], Answer]) -> tuple[Answer, bool]:
    """Return the first answer to a key, and whether it was given before.

    The lock lasts until the transaction ends and the answer is kept with the effect, so neither can be had without
    the other. A refusal has no effect and keeps nothing: its key stays free. Raises IdempotencyInProgress while the
    first request runs, and IdempotencyMismatch when the key was used for another one.
    """
    if kept := _take(session, asked):
        return kept, True
    answer = produce()
    session.add(_row(asked, status=answer.status, body=secrets.encrypt(answer.body.decode())))
    return answer, False


def hold(session: Session, asked: Asked) -> Answer | UUID:
    """Return the first answer to a key, or hold the key for what takes several transactions: the holder's id.

    Who holds it for HELD without an answer may be dead, and the next one holds it. Refuses as `once` does.
    """
    if kept := _take(session, asked):
        return kept
    holder = new_id()
    session.add(_row(asked, holder=holder, status=0, body=""))
    return holder


def keep(session: Session, asked: Asked, holder: UUID, answer: Answer) -> None:
    """Keep the answer of who holds the key in the transaction of its effect.

    Raises IdempotencyInProgress where somebody else holds it by now, so that this effect is none.
    """
    session.execute(select(func.pg_advisory_xact_lock(asked.lock)))
    given = {"holder": None, "status": answer.status, "body": secrets.encrypt(answer.body.decode())}
    done = session.execute(update(IdempotentAnswer).where(*_held(asked, holder)).values(given))
    if not done.rowcount:  # type: ignore[attr-defined]  # a change has it
        raise IdempotencyInProgress


def let_go(session: Session, asked: Asked, holder: UUID) -> None:
    """Free a key whose request was refused or failed."""
    session.execute(delete(IdempotentAnswer).where(*_held(asked, holder)))


def forget(
    session: Session, organisation_id: UUID, words: Collection[str], *, livemode: bool, after: str = ""
) -> str | None:
    """Let no answer of an organisation and mode tell of these words (in lower case): its key is NOT_FOUND from now on.

    Looks at some, in the order of their keys, from `after` on; returns where to go on, or None at the end.
    """
    mine = (
        select(IdempotentAnswer)
        .where(
            IdempotentAnswer.organisation_id == organisation_id,
            IdempotentAnswer.livemode == livemode,
            IdempotentAnswer.key > after,
        )
        .order_by(IdempotentAnswer.key)
        .limit(SOME)
    )
    rows = session.scalars(mine.with_for_update()).all()
    for row in rows:
        if row.holder is None and row.status != ERASED and _tells(row.body, words):
            row.status, row.body = ERASED, secrets.encrypt("")
    return rows[-1].key if len(rows) == SOME else None


def _tells(stored: str, words: Collection[str]) -> bool:
    try:
        body = secrets.unseal(stored).lower()
    except InvalidToken:  # of a key that is no more: nobody reads it
        return False
    return any(word in body for word in words)


def _take(session: Session, asked: Asked) -> Answer | None:
    """Lock a key until the transaction ends; return its answer, or None where there is none and nobody works on it."""
    if not session.scalar(select(func.pg_try_advisory_xact_lock(asked.lock))):
        raise IdempotencyInProgress
    row = session.get(IdempotentAnswer, asked.place)
    if row is None:
        return None
    if row.created_at > now() - (HELD if row.holder else KEPT):
        if row.request != asked.request:
            raise IdempotencyMismatch
        if row.holder:
            raise IdempotencyInProgress
        if row.status == ERASED:
            raise NotFound("What this key's first request made was erased.")
        return Answer(row.status, secrets.unseal(row.body).encode())
    session.delete(row)
    session.flush()
    return None


def _row(asked: Asked, **values: Any) -> IdempotentAnswer:
    owner, livemode, key = asked.place
    return IdempotentAnswer(
        organisation_id=owner,
        livemode=livemode,
        key=key,
        request=asked.request,
        created_at=now(),
        **values,
    )


def _held(asked: Asked, holder: UUID) -> tuple[ColumnElement[bool], ...]:
    owner, livemode, key = asked.place
    return (
        IdempotentAnswer.organisation_id == owner,
        IdempotentAnswer.livemode == livemode,
        IdempotentAnswer.key == key,
        IdempotentAnswer.holder == holder,
    )


# An answer has no id of its own.
_PLACE = cast(
    func.md5(func.concat(IdempotentAnswer.organisation_id, IdempotentAnswer.livemode, IdempotentAnswer.key)),
    Uuid,
)
DUE = Due("idempotent answers", IdempotentAnswer, IdempotentAnswer.created_at, after=KEPT, id=_PLACE)


def delete_answers(session: Session, rows: Sequence[Row]) -> int:
    """Delete those answers that are a day old; return how many."""
    done = session.execute(delete(IdempotentAnswer).where(*DUE.among(rows)))
    return int(done.rowcount)  # type: ignore[attr-defined]  # a change has it
