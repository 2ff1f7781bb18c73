"""Telling other processes that a room has news: the number of no room and the word of nobody, only its id.

What was said stands in PostgreSQL. Where Redis does not answer, whoever has people in a room looks there by itself.
Beside it goes what is kept nowhere: where somebody's cursor stands, and by what browsers find each other to talk.
"""

import logging
import queue
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

import orjson
import redis

from store.database.ids import new_id
from store.database.waits import USUAL, Waits

log = logging.getLogger("hiring.rooms")

CHANNEL = "hiring:rooms"
PATIENCE_SECONDS = 1.0
PAUSE_SECONDS = 1.0
MOST_WAITING = 1_000

Signal = dict[str, Any]  # of whom, and what: rules.voice
# Which rooms, and what is passed on there: cursors, signals, or nothing.
Hear = Callable[[list[UUID], bytes, list[Signal]], None]
_own = new_id().hex  # what this process says of itself, so that it does not hear it twice
_listeners: list[Hear] = []
_url, _options = "", {}  # type: tuple[str, dict[str, object]]
_client: "redis.Redis | None" = None
_waiting: "queue.Queue[bytes]" = queue.Queue(MOST_WAITING)
_one_starts = threading.Lock()
_heard_at = 0.0


def configure(redis_url: str, *, limits: Waits = USUAL) -> None:
    """Point at a Redis."""
    global _client, _url, _options  # noqa: PLW0603 - one process, one Redis
    _url, _options = redis_url, limits.redis(redis_url)
    _client = redis.Redis.from_url(
        redis_url, socket_timeout=PATIENCE_SECONDS, socket_connect_timeout=PATIENCE_SECONDS, **_options
    )


def is_heard() -> bool:
    """Say whether what other processes tell is heard here."""
    return time.monotonic() - _heard_at < 3 * PATIENCE_SECONDS


def tell(ids: Iterable[UUID], cursors: bytes = b"", signals: Sequence[Signal] = ()) -> None:
    """Tell of rooms, here and in other processes; nobody waits for it, and nothing fails with it."""
    rooms = list(ids)
    for hear in _listeners:
        hear(rooms, cursors, list(signals))
    pass_on(rooms, cursors, signals)


def pass_on(rooms: list[UUID], cursors: bytes = b"", signals: Sequence[Signal] = ()) -> None:
    """Tell other processes of rooms."""
    told = {
        "from": _own,
        "rooms": [id.hex for id in rooms],
        "cursors": b64encode(cursors).decode(),
        "signals": list(signals),
    }
    with suppress(queue.Full):  # they look for themselves
        _waiting.put_nowait(orjson.dumps(told))
    with _one_starts:
        if not any(thread.name == "rooms-tell" for thread in threading.enumerate()):
            threading.Thread(target=_tell, name="rooms-tell", daemon=True).start()


def _tell() -> None:
    while True:
        told = _waiting.get()
        if _client is not None:
            try:
                _client.publish(CHANNEL, told)
            except redis.RedisError as fault:
                log.warning("Other processes could not be told of rooms: %s", fault)
                while not _waiting.empty():  # old news are none
                    _waiting.get_nowait()


def listen(hear: Hear) -> Callable[[], None]:
    """Hear of rooms until the function that is returned is called."""
    ended = threading.Event()
    _listeners.append(hear)
    threading.Thread(target=_listen, args=(hear, ended), name="rooms-listen", daemon=True).start()

    def end() -> None:
        ended.set()
        with suppress(ValueError):
            _listeners.remove(hear)

    return end


def _listen(hear: Hear, ended: threading.Event) -> None:
    while not ended.is_set():
        try:
            _hear(hear, ended)
        except (redis.RedisError, OSError) as fault:
            log.warning("Nothing is heard of other processes' rooms: %s", fault)
            ended.wait(PAUSE_SECONDS)


def _hear(hear: Hear, ended: threading.Event) -> None:
    global _heard_at  # noqa: PLW0603 - one process, one ear
    with (
        redis.Redis.from_url(_url, socket_connect_timeout=PATIENCE_SECONDS, **_options) as client,
        client.pubsub() as ears,
    ):
        ears.subscribe(CHANNEL)
        asked = time.monotonic()
        while not ended.is_set():
            message = ears.get_message(timeout=PATIENCE_SECONDS)
            moment = time.monotonic()
            if message is not None:
                asked = _heard_at = moment
            if moment - asked > PATIENCE_SECONDS:  # an answer to this is heard like anything else
                ears.ping()
                if moment - _heard_at > 3 * PATIENCE_SECONDS:
                    raise redis.TimeoutError("Redis says nothing.")
            if message is not None and message["type"] == "message":
                told = orjson.loads(message["data"])
                if told["from"] != _own:
                    ids = [UUID(hex=one) for one in told["rooms"]]
                    hear(ids, b64decode(told["cursors"]), told.get("signals", []))
