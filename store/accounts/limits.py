"""Rolling-hour limits, counted in Redis in one round trip."""

import time
from dataclasses import dataclass
from typing import cast

import redis

from insides.redis import Script
from rules.errors import Unavailable
from store.database.waits import USUAL, Waits

_client: "redis.Redis | None" = None
_script: Script | None = None

# Each limit is a list of the moments (in ms) of the requests of the last window, oldest first, so the count is exact,
# every step is O(1) but for dropping what has aged, and a request that is refused by one limit uses none.
_LUA = """
local now = tonumber(ARGV[1])
local refused, room = 0, {}
for i, key in ipairs(KEYS) do
  local limit, window = tonumber(ARGV[i * 2]), tonumber(ARGV[i * 2 + 1])
  local oldest = redis.call('LINDEX', key, 0)
  while oldest and tonumber(oldest) <= now - window do
    redis.call('LPOP', key)
    oldest = redis.call('LINDEX', key, 0)
  end
  local used = redis.call('LLEN', key)
  room[#room + 1] = {used, oldest and (tonumber(oldest) + window) or (now + window)}
  if used >= limit and (refused == 0 or room[i][2] > room[refused][2]) then refused = i end
end
if refused == 0 then
  for i, key in ipairs(KEYS) do
    redis.call('RPUSH', key, now)
    redis.call('PEXPIRE', key, ARGV[i * 2 + 1])
    room[i][1] = room[i][1] + 1
  end
end
local out = {refused}
for _, pair in ipairs(room) do out[#out + 1] = pair[1]; out[#out + 1] = pair[2] end
return out
"""


@dataclass(frozen=True)
class Limit:
    """At most `requests` in any `seconds`."""

    key: str
    requests: int
    seconds: int = 3600


@dataclass(frozen=True)
class Standing:
    """Where a limit stands after a request."""

    limit: int
    remaining: int
    reset: int  # Unix seconds at which the window next has room to recover


def configure(redis_url: str, *, limits: Waits = USUAL) -> None:
    """Point the limiter at a Redis."""
    global _client, _script  # noqa: PLW0603 - one process, one limiter
    _client = redis.Redis.from_url(
        redis_url, socket_timeout=2, socket_connect_timeout=2, **limits.redis(redis_url)
    )
    _script = Script(_client, _LUA)


def take(limits: list[Limit]) -> tuple[Standing, int | None]:
    """Count one request against every limit, or against none.

    Returns the first limit's standing, and the seconds to wait when one of them is used up (else None).
    Raises Unavailable when Redis cannot answer.
    """
    moment = int(time.time() * 1000)
    numbers = [number for one in limits for number in (one.requests, one.seconds * 1000)]
    try:
        answer = cast("Script", _script).run([one.key for one in limits], [moment, *numbers])
    except redis.RedisError as fault:
        raise Unavailable from fault
    refused, used, reset = answer[0], answer[1], answer[2]
    standing = Standing(limits[0].requests, max(0, limits[0].requests - used), -(-reset // 1000))
    if not refused:
        return standing, None
    recovers = answer[refused * 2]
    return standing, max(1, -(-(recovers - moment) // 1000))


def ping() -> None:
    """Ask Redis whether it is there; raises redis.RedisError when it is not."""
    if _client is None:
        raise RuntimeError("Call store.accounts.limits.configure(redis_url) first.")
    _client.ping()
