"""Connections to the mail server: logged in, ended when their time is over, and kept for a moment for the next mail."""

import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote, urlsplit

from gateways import alarms

SECONDS = 30.0  # for one exchange from the greeting on
CONNECT_SECONDS = 10.0  # for the name, and again for the connection
KEPT_SECONDS = 5.0  # for the next mail: to connect, greet and log in costs more than a mail does
LISTENS_SECONDS = 5.0  # for a kept connection to say that it is there still
MOST_MAILS = 50  # on one connection: servers count them
OK = 250

# Threads of their own: the names of customers' endpoints hold no mail up.
_resolver = ThreadPoolExecutor(4, thread_name_prefix="mail-resolver")


@dataclass(frozen=True)
class Server:
    """Where mail goes; `plain` lets it go without TLS (development)."""

    url: str
    plain: bool


class Client(smtplib.SMTP):
    """SMTP over a connection that is there already, which another thread can end whatever it waits for."""

    def __init__(self, connection: socket.socket, handle: socket.socket, host: str) -> None:
        self._connection, self._handle = connection, handle
        self.mails = 0
        self.used = self.began = time.monotonic()  # last; and the exchange that is under way
        super().__init__(host)

    def connect(self, *_: object) -> tuple[int, bytes]:
        """Wait to be greeted."""
        self.sock, self.file = self._connection, None
        return self.getreply()

    def listens(self) -> bool:
        """Begin another exchange, if the server is there still."""
        self.began = time.monotonic()
        with suppress(OSError), _in_time(self._handle, LISTENS_SECONDS):
            return self.rset()[0] == OK
        return False

    def in_time(self) -> AbstractContextManager[None]:
        """Give the block what is left of the exchange's time."""
        return _in_time(self._handle, SECONDS - (time.monotonic() - self.began))

    def end(self) -> None:
        """Let go of the connection."""
        self.close()
        self._handle.close()


_kept: dict[Server, list[Client]] = {}  # nobody uses them just now
_keeping = threading.Lock()


@contextmanager
def connected(server: Server) -> Iterator[Client]:
    """Be logged in for one mail; raises OSError (SMTP errors are some), TimeoutError where it took too long."""
    client = _again(server) or _open(server)
    try:
        with client.in_time():
            yield client
    except BaseException:
        client.end()
        raise
    client.mails += 1
    client.used = time.monotonic()
    if client.mails < MOST_MAILS:
        with _keeping:
            _kept.setdefault(server, []).append(client)
    else:
        _leave(client)


def _again(server: Server) -> Client | None:
    """Take the connection that was used last, if that was a moment ago and the server listens."""
    while True:
        with _keeping:
            clients = _kept.get(server)
            client = clients.pop() if clients else None
        if client is None or (time.monotonic() - client.used < KEPT_SECONDS and client.listens()):
            return client
        client.end()


def _leave(client: Client) -> None:
    """Part politely; what comes of it no matter, for the server has answered for its mails by then."""
    with suppress(OSError), client.in_time():
        client.quit()
    client.end()


def _open(server: Server) -> Client:
    parts = urlsplit(server.url)
    host = parts.hostname or "localhost"
    smtps = parts.scheme == "smtps"
    bare = _reach(host, parts.port or (465 if smtps else 587))
    with ExitStack() as stack:
        handle = bare.dup()  # TLS takes the other one over
        stack.callback(handle.close)
        stack.callback(bare.close)
        with _in_time(handle, SECONDS):
            client = Client(_tls().wrap_socket(bare, server_hostname=host) if smtps else bare, handle, host)
            client.ehlo()
            if not smtps and (client.has_extn("starttls") or not server.plain):
                client.starttls(context=_tls())  # raises where the server has none
                client.ehlo()
            if parts.username:
                client.login(unquote(parts.username), unquote(parts.password or ""))
        stack.pop_all()
    return client


@cache
def _tls() -> ssl.SSLContext:
    """Trust whom the machine trusts; to read that takes ten times as long as a mail."""
    return ssl.create_default_context()


def _reach(host: str, port: int) -> socket.socket:
    """Connect to the first address that answers; names too are looked up within the limit."""
    found = _resolver.submit(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    failure: OSError = socket.gaierror(f"the name {host} has no address")
    addresses = list(dict.fromkeys(str(info[4][0]) for info in found.result(CONNECT_SECONDS)))
    for address in addresses:
        try:
            connection = socket.create_connection((address, port), CONNECT_SECONDS / len(addresses))
        except OSError as error:
            failure = error
        else:
            connection.settimeout(SECONDS)
            return connection
    raise failure


@contextmanager
def _in_time(handle: socket.socket, seconds: float) -> Iterator[None]:
    """End a connection when its time is over, whatever it waits for and however it drips."""
    over = threading.Event()

    def end() -> None:
        over.set()
        with suppress(OSError):
            handle.shutdown(socket.SHUT_RDWR)

    try:
        with alarms.after(seconds, end):
            yield
    except OSError as fault:
        if over.is_set():
            raise TimeoutError(f"The mail server took longer than {seconds:g} s.") from fault
        raise
