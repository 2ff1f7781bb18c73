"""The bell between processes: Dramatiq on Redis. Losing it loses time, never work; PostgreSQL has the truth."""

from collections.abc import Sequence
from typing import cast
from uuid import UUID

import redis
from dramatiq.middleware import AgeLimit, Retries, ShutdownNotifications, TimeLimit
from redis.backoff import NoBackoff
from redis.retry import Retry

from insides.dramatiq import Broker
from store.database.waits import USUAL, Waits

NAMESPACE = "hiring:bell"
OLDEST_MS = 3_600_000  # a bell that nobody heard for an hour has been rung again since
LIMITS_MS = 5_000  # between two looks at whether work has had its time, which is minutes
RUNG_SECONDS = 0.5  # within which whoever was rung for a piece of work begins it, unless the message is lost
HURRIED = 1.0  # seconds for an answer to whoever has others to look after


def make(redis_url: str, *, limits: Waits = USUAL, seconds: float = 10.0) -> Broker:
    """Return a broker. Nothing is retried here: what fails stays due in the database."""
    client = redis.Redis.from_url(
        redis_url,
        socket_connect_timeout=min(seconds, 2.0),
        socket_timeout=seconds,
        retry=Retry(NoBackoff(), 1),
        **limits.redis(redis_url),
    )
    return Broker(
        client=client,
        namespace=NAMESPACE,
        middleware=[
            AgeLimit(max_age=OLDEST_MS),
            TimeLimit(interval=LIMITS_MS),
            ShutdownNotifications(),
            Retries(max_retries=0),
        ],
    )


def waiting(client: "redis.Redis", queues: Sequence[str]) -> dict[str, int]:
    """Return how many messages of each queue nobody has fetched yet."""
    pipeline = client.pipeline(transaction=False)
    for queue in queues:
        pipeline.llen(f"{NAMESPACE}:{queue}")
    return dict(zip(queues, pipeline.execute(), strict=True))


def rung_first(client: "redis.Redis", ids: Sequence[UUID], most: int) -> int:
    """Note that so many pieces of work are rung for of which nobody has lately; return for how many there were."""
    if not ids or most <= 0:
        return 0
    names = [f"{NAMESPACE}:rung:{id}" for id in ids]
    if len(names) > most:
        noted = cast("list[bytes | None]", client.mget(names))
        names = [name for name, one in zip(names, noted, strict=True) if one is None][:most]
    pipeline = client.pipeline(transaction=False)
    for name in names:
        pipeline.set(name, 1, nx=True, px=int(1000 * RUNG_SECONDS))
    return sum(bool(one) for one in pipeline.execute())
