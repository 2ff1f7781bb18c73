"""What we reach of redis-py's connections: a script on the thread's own, past the client's way to one."""

import threading
from collections.abc import Sequence
from typing import Any

import redis

BOUND = "redis>=8.1,<8.2"
LEANS_ON = [
    ("redis/connection.py", 'def make_connection(self) -> "ConnectionInterface":'),
    ("redis/connection.py", 'check_health=kwargs.get("check_health", True),'),
    ("redis/commands/core.py", "self.sha = hashlib.sha1(script).hexdigest()"),
]


class Script:
    """A script in Redis.

    The client takes a connection from its pool and looks for a dozen options at each command, which is half of what a
    short script costs; here each thread has a connection of its own.
    """

    def __init__(self, client: "redis.Redis", text: str) -> None:
        self._script: Any = client.register_script(text)
        self._pool: Any = client.connection_pool
        self._own = threading.local()

    def run(self, keys: Sequence[str], arguments: Sequence[int]) -> Any:
        """Run it; where its connection has a fault, the client's way, which loads and retries: redis.RedisError."""
        connection = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = self._pool.make_connection()
        try:
            connection.send_command(
                "EVALSHA", self._script.sha, len(keys), *keys, *arguments, check_health=False
            )
            return connection.read_response()
        except redis.exceptions.NoScriptError:
            pass
        except redis.ConnectionError:
            connection.disconnect()
        return self._script(keys=list(keys), args=list(arguments))
