"""Which place in the queue a candidate's program has: told by the process in which it waits, read by any of them.

It stands in Redis and is soon forgotten. Without Redis nobody knows a place, and nothing else changes.
"""

import hashlib
from contextlib import suppress

import redis

from store.accounts import limits
from store.database.waits import USUAL, Waits

KEPT_MS = 3_000
PATIENCE_SECONDS = 0.1  # for Redis to answer

_client: "redis.Redis | None" = None


def configure(redis_url: str, *, limits: Waits = USUAL) -> None:
    """Point at a Redis."""
    global _client  # noqa: PLW0603 - one process, one Redis
    _client = redis.Redis.from_url(
        redis_url,
        socket_timeout=PATIENCE_SECONDS,
        socket_connect_timeout=PATIENCE_SECONDS,
        **limits.redis(redis_url),
    )


def tell(token: str, place: int) -> None:
    """Note which place the program of a candidate's token has: 1 is the next one, 0 runs."""
    if _client and not limits.away():
        with suppress(redis.RedisError):
            _client.set(_key(token), place, px=KEPT_MS)


def place(token: str) -> int | None:
    """Return the place that was told last; None where there is none, or nobody knows."""
    found = None
    if _client and not limits.away():
        with suppress(redis.RedisError):
            found = _client.get(_key(token))
    return None if found is None else int(found)


def _key(token: str) -> str:
    return f"place:{hashlib.sha256(token.encode()).hexdigest()}"  # the token itself is a secret
