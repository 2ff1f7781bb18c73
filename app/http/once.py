"""A request that names itself, by an Idempotency-Key, has its effect once."""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from typing import Any, Protocol

import orjson
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

import store
from app.http.bodies import Upload
from rules.caller import Caller
from store.accounts import idempotency
from store.accounts.idempotency import Answer, Asked

IDEMPOTENCY_KEY = "Idempotency-Key"

Begin = Callable[[], AbstractContextManager[Session]]


class First(Protocol):
    """What answers a request for the first time."""

    def __call__(self, session: Session | None, finish: Begin = ..., /) -> Answer:
        """Answer in this transaction, or with the last of several."""


def names_itself(arguments: Mapping[str, Any]) -> bool:
    """Say whether a request has a key; only those have one whose operation takes it."""
    return arguments.get(IDEMPOTENCY_KEY) is not None


def asked(caller: Caller, target: str, arguments: Mapping[str, Any]) -> Asked:
    """Say who asks for what: the same key with other arguments is another request."""
    said = {name: value for name, value in arguments.items() if name != IDEMPOTENCY_KEY}
    hashed = orjson.dumps(said, default=_hashable, option=orjson.OPT_SORT_KEYS)
    return Asked(caller, arguments[IDEMPOTENCY_KEY], hashlib.sha256(target.encode() + hashed).hexdigest())


def _hashable(value: Any) -> str:
    return hashlib.sha256(value.content).hexdigest() if isinstance(value, Upload) else str(value)


def at_once(asked: Asked, first: First) -> tuple[Answer, bool]:
    """Return the first answer, kept in its own transaction, and whether it was given before."""
    with store.transaction() as session:
        return idempotency.once(session, asked, lambda: first(session))


def in_parts(asked: Asked, first: First) -> tuple[Answer, bool]:
    """Have the last of several transactions keep the answer; none is open between them.

    The key is held meanwhile by a row, which is let go when the request comes to nothing and grows old when we die.
    """
    with store.transaction() as session:
        held = idempotency.hold(session, asked)
    if isinstance(held, Answer):
        return held, True
    try:
        with ExitStack() as last:  # commits after the answer is in
            opened: list[Session] = []

            def finish() -> AbstractContextManager[Session]:
                opened.append(last.enter_context(store.transaction()))
                return nullcontext(opened[-1])

            answer = first(None, finish)
            [session] = opened or [last.enter_context(store.transaction())]
            idempotency.keep(session, asked, held, answer)
    except BaseException:
        with suppress(SQLAlchemyError), store.transaction() as session:
            idempotency.let_go(session, asked, held)
        raise
    return answer, False
