"""How long a wait for the database may last, and what one is that ran out."""

import socket
from dataclasses import dataclass
from typing import Any

import psycopg
import sqlalchemy.exc
from psycopg import errors

# Seconds after which another connection takes the place of a pool's: a process of PostgreSQL keeps files, plans and
# what it knows of tables for all that was ever asked of it, which grows for hours where each is asked for everything.
LIFETIME = 600.0


@dataclass(frozen=True, kw_only=True)
class Waits:
    """Limits in seconds; those of whoever works behind the web unless said otherwise."""

    statement: float = 60.0  # one statement
    lock: float = 5.0  # for a row or a table that somebody else holds
    idle: float = 60.0  # between two statements of a transaction
    connection: float = 10.0  # for a free connection of the pool
    tcp: float = 10.0  # for the machine of PostgreSQL or Redis to say that it has what was sent

    def server(self) -> dict[str, str]:
        """Return what tells PostgreSQL, in milliseconds."""
        named = {"statement": self.statement, "lock": self.lock, "idle_in_transaction_session": self.idle}
        return {f"{name}_timeout": f"{seconds * 1000:.0f}" for name, seconds in named.items()}

    def socket(self) -> dict[str, Any]:
        """Return what tells libpq: a machine that is gone is noticed while nothing is sent, and while something is."""
        pause = max(1, round(self.tcp / 4))
        return {
            "keepalives_idle": pause,
            "keepalives_interval": pause,
            "keepalives_count": 3,
            "tcp_user_timeout": round(self.tcp * 1000),
        }

    def of_server(self) -> dict[str, int]:
        """Return what tells PostgreSQL the same of our machine: whoever is gone holds no lock for hours."""
        return {f"tcp_{name.removeprefix('tcp_')}": value for name, value in self.socket().items()}

    def tcp_options(self) -> dict[int, int]:
        """Return the same as a socket takes it, as far as the system knows it."""
        names = {"TCP_KEEPIDLE": "keepalives_idle", "TCP_KEEPINTVL": "keepalives_interval",
                 "TCP_KEEPCNT": "keepalives_count", "TCP_USER_TIMEOUT": "tcp_user_timeout"}  # fmt: skip
        known = {name: value for name, value in names.items() if hasattr(socket, name)}
        return {getattr(socket, name): self.socket()[value] for name, value in known.items()}

    def redis(self, url: str) -> dict[str, Any]:
        """Return the same for a client of the Redis at an address; what is on this machine needs none of it."""
        if url.startswith("unix:"):
            return {}
        return {"socket_keepalive": True, "socket_keepalive_options": self.tcp_options()}


USUAL = Waits()
# For a lock that a migration needs: meanwhile readers wait behind it. Then it is tried again.
OF_MIGRATIONS = "50ms"
_IDLE = "the next statement of a transaction"
_CIRCLE = "a lock, in a deadlock"


class WaitRanOut(sqlalchemy.exc.SQLAlchemyError):
    """The database is there; what was asked of it took too long. `waited_for` says what it was."""

    def __init__(self, waited_for: str) -> None:
        super().__init__(f"The wait for {waited_for} ran out.")
        self.waited_for = waited_for
        self.connection_lost = waited_for == _IDLE
        self.is_deadlock = waited_for == _CIRCLE  # nothing of the transaction is left


_WAITED_FOR: dict[type[Exception], str] = {
    errors.LockNotAvailable: "a lock",
    errors.DeadlockDetected: _CIRCLE,
    errors.QueryCanceled: "a statement",
    errors.IdleInTransactionSessionTimeout: _IDLE,
    sqlalchemy.exc.TimeoutError: "a free connection",
}
FAULTS = (psycopg.Error, sqlalchemy.exc.DBAPIError, sqlalchemy.exc.TimeoutError)


def understand(fault: Any) -> Exception:
    """Return what a fault of the driver or its pool is: a wait that ran out, or itself."""
    cause = fault.orig if isinstance(fault, sqlalchemy.exc.DBAPIError) else fault
    waited_for = next((words for kind, words in _WAITED_FOR.items() if isinstance(cause, kind)), None)
    return fault if waited_for is None else WaitRanOut(waited_for)
