"""Rolling-hour limits, counted in Redis in one round trip; in the process while Redis does not answer."""

import logging
import threading
import time
from contextlib import suppress
from typing import Any, NamedTuple

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from insides.redis import Script
from store.accounts import windows
from store.database import greenlets
from store.database.pipe import Pipe
from store.database.waits import USUAL, Waits

log = logging.getLogger("hiring.limits")

_client: "redis.Redis | None" = None
_script: Script | None = None
_pipe: Pipe | None = None
_share = 1.0
_away = False  # Redis does not answer: this process counts by itself
_one_opens = threading.Lock()
PATIENCE_SECONDS = 0.1  # for Redis to answer
PROBE_SECONDS = 1.0

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


class Limit(NamedTuple):
    """At most `requests` in any `seconds`."""

    key: str
    requests: int
    seconds: int = 3600

    def shared(self, share: float) -> "Limit":
        """Return what one process may let through of it."""
        return self._replace(requests=max(1, int(self.requests * share)))


class Standing(NamedTuple):
    """Where a limit stands after a request."""

    limit: int
    remaining: int
    reset: int  # Unix seconds at which the window next has room to recover


def configure(redis_url: str, *, limits: Waits = USUAL, share: float = 1.0) -> None:
    """Point the limiter at a Redis; without it this process lets through its `share` of each limit."""
    global _client, _script, _pipe, _share, _away  # noqa: PLW0603 - one process, one limiter
    _client = redis.Redis.from_url(
        redis_url,
        socket_timeout=PATIENCE_SECONDS,
        socket_connect_timeout=PATIENCE_SECONDS,
        # A connection that Redis has closed meanwhile is made anew; an answer that does not come is not waited for.
        retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
        **limits.redis(redis_url),
    )
    _script, _share, _away = Script(_client, _LUA), share, False
    _pipe = Pipe(redis_url, _LUA, patience=PATIENCE_SECONDS, limits=limits)


def take(limits: list[Limit], *, here: bool = False) -> tuple[Standing, int | None]:
    """Count one request against every limit, or against none; `here` in this process alone, Redis or not.

    Returns the first limit's standing, and the seconds to wait when one of them is used up (else None). Nobody waits
    for a Redis that does not answer: the first who meets it counts in the process, and so do all others until it is
    back.
    """
    moment, first = int(time.time() * 1000), limits[0]
    most, answer = first.requests, None if _away or here else _ask(moment, limits)
    if answer is None:
        counted = limits if here else [one.shared(_share) for one in limits]
        most, answer = counted[0].requests, windows.take(*_words(moment, counted))
    used_up, used, reset = answer[0], answer[1], answer[2]
    standing = Standing(first.requests, max(0, most - used), -(-reset // 1000))
    if not used_up:
        return standing, None
    recovers = answer[used_up * 2]
    return standing, max(1, -(-(recovers - moment) // 1000))


def _words(moment: int, limits: list[Limit]) -> tuple[list[str], list[int]]:
    """Return the keys and the arguments that the script has for limits."""
    keys, numbers = [], [moment]
    for key, requests, seconds in limits:
        keys.append(key)
        numbers += requests, seconds * 1000
    return keys, numbers


def _ask(moment: int, limits: list[Limit]) -> list[int] | None:
    """Run the script; None where Redis does not answer, which nobody asks from then on but the probe."""
    try:
        way: Any = _pipe if greenlets.is_current() else _script
        answer: list[int] = way.run(*_words(moment, limits))
    except redis.RedisError as fault:
        _open(fault)
        return None
    return answer


def _open(fault: Exception) -> None:
    global _away  # noqa: PLW0603 - one process, one limiter
    with _one_opens:
        if _away:
            return
        _away = True
    log.warning("Redis does not answer; limits are counted in this process: %s", fault)
    windows.forget()
    threading.Thread(target=_probe, args=(_client,), name="limits-probe", daemon=True).start()


def _probe(client: "redis.Redis") -> None:
    """Ask once a second whether Redis is back."""
    global _away  # noqa: PLW0603 - one process, one limiter
    while client is _client and _away:
        time.sleep(PROBE_SECONDS)
        with suppress(redis.RedisError):
            client.ping()
            if client is _client:
                log.warning("Redis answers again.")
                _away = False


def away() -> bool:
    """Say whether this process counts by itself, since Redis does not answer."""
    return _away


def ping() -> None:
    """Ask Redis whether it is there; raises redis.RedisError when it is not, or when that is known."""
    if _client is None:
        raise RuntimeError("Call store.accounts.limits.configure(redis_url) first.")
    if _away:
        raise redis.ConnectionError("It did not answer a moment ago.")
    _client.ping()
