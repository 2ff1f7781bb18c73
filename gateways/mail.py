"""Mail: through SMTP when it is configured, otherwise as .eml files; test mode always writes files."""

import os
import re
import smtplib
import socket
import ssl
import threading
from collections.abc import Iterable, Iterator, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from email.headerregistry import Address
from email.message import EmailMessage
from email.parser import BytesHeaderParser
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime, parseaddr
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from gateways import calendars
from rules.clock import now

SECONDS = 30.0  # for one exchange from the greeting on
CONNECT_SECONDS = 10.0  # for the name, and again for the connection
WANTS_LOGIN = 530  # is about us and not about the message, like whatever is said before it

# Threads of their own: the names of customers' endpoints hold no mail up.
_resolver = ThreadPoolExecutor(4, thread_name_prefix="mail-resolver")
_NOT_IN_ADDRESSES = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029,;:<>()\[\]\"\\]")


@dataclass(frozen=True)
class Mail:
    """One message to one person; `id` makes a message that is sent twice recognisable as one."""

    id: str
    to: str
    subject: str
    text: str
    html: str
    to_name: str = ""
    reply_to: str = ""  # where answers go; empty names no address
    livemode: bool = True
    attachments: list[tuple[str, str, bytes]] = field(default_factory=list)  # name, media type, content
    calendar: Mapping[str, Any] | None = None  # what stands in a calendar (gateways.calendars)


@dataclass(frozen=True)
class _Settings:
    smtp_url: str
    smtp_plain: bool
    sender: str
    folder: Path


_settings: _Settings | None = None


class RefusedError(smtplib.SMTPException):
    """The mail server will not take this mail, now or later; the text is what it said."""


def configure(*, smtp_url: str, mail_from: str, mail_dir: Path, smtp_plain: bool = False) -> None:
    """Say where mail goes and whom it comes from; `smtp_plain` lets it go without TLS (development)."""
    global _settings  # noqa: PLW0603 - one process, one way out
    _settings = _Settings(smtp_url, smtp_plain, mail_from, mail_dir)


def kind(*, livemode: bool) -> str:
    """Say how mail of a mode goes out: smtp or files."""
    return "smtp" if livemode and _settings is not None and _settings.smtp_url else "files"


def send(mail: Mail) -> None:
    """Send or write one mail; raises RefusedError or another OSError (SMTP errors are some) when it did not go out."""
    settings = _configured()
    message = compose(mail, settings.sender)
    if not mail.livemode:
        _write(settings.folder / "test", mail.id, message)
    elif settings.smtp_url:
        _transmit(message)
    else:
        _write(settings.folder, mail.id, message)


def _configured() -> _Settings:
    if _settings is None:
        raise RuntimeError("Call gateways.mail.configure first.")
    return _settings


def compose(mail: Mail, sender: str) -> EmailMessage:
    """Return the message: text and HTML side by side; line breaks in names and subjects become spaces."""
    name, address = parseaddr(sender)
    message = EmailMessage(
        policy=SMTP if (mail.to.rpartition("@")[0] + mail.reply_to.rpartition("@")[0]).isascii() else SMTPUTF8
    )
    message["From"] = _address(name, address)
    message["To"] = _address(mail.to_name, mail.to)
    if mail.reply_to:
        message["Reply-To"] = _address("", mail.reply_to)
    message["Subject"] = _one_line(mail.subject)
    message["Date"] = format_datetime(now())
    message["Message-ID"] = f"<{_one_line(mail.id)}@{address.rpartition('@')[2] or 'localhost'}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.text)
    message.add_alternative(mail.html, subtype="html")
    if mail.calendar:
        # As an alternative, where mail programs look for an invitation; as a file for those that do not.
        method = mail.calendar["method"]
        entry = calendars.write(
            mail.calendar, sender=(name, address), attendee=(_one_line(mail.to_name), mail.to)
        )
        message.add_alternative(entry.decode(), subtype="calendar", params={"method": method})
        message.add_attachment(
            entry, maintype="text", subtype="calendar", filename="interview.ics", params={"method": method}
        )
    for file_name, media_type, content in mail.attachments:
        kind, _, subtype = media_type.partition("/")
        message.add_attachment(content, maintype=kind, subtype=subtype, filename=_one_line(file_name))
    return message


def _address(name: str, address: str) -> Address:
    """Build one address that cannot carry a second or another header; raises ValueError if it tries to."""
    user, _, domain = address.rpartition("@")
    if not user or not domain or _NOT_IN_ADDRESSES.search(address):
        raise ValueError("The mail address is malformed.")
    host = domain if domain.isascii() else domain.encode("idna").decode()
    return Address(display_name=_one_line(name), username=user, domain=host)


def _one_line(text: str) -> str:
    """Turn every control character and line separator into a space."""
    return " ".join("".join(" " if not one.isprintable() else one for one in text).split())


def _write(folder: Path, id: str, message: EmailMessage) -> None:
    """Write a file that appears whole or not at all; its name sorts by the id, and the same id writes it again."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{_one_line(id).replace('/', '_')}.eml"
    partial = path.with_suffix(f".{os.getpid()}.part")
    with partial.open("wb") as file:
        file.write(message.as_bytes())
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def forget(ids: Iterable[str], addresses: Set[str]) -> None:
    """Remove what was written for these mails and to these addresses (in lower case); nothing that was sent."""
    folder = _configured().folder
    for id in ids:
        for place in (folder, folder / "test"):
            (place / f"{id}.eml").unlink(missing_ok=True)
    for path in (*folder.glob("*.eml"), *folder.glob("test/*.eml")):
        with suppress(FileNotFoundError), path.open("rb") as file:
            to = BytesHeaderParser(policy=SMTPUTF8).parse(file)["To"]
            if to and addresses & {one.addr_spec.lower() for one in to.addresses}:
                path.unlink(missing_ok=True)


def greet() -> None:
    """Log in to the mail server and send nothing; raises OSError (SMTP errors are OSErrors) when it refuses."""
    with _connected():
        pass


def _transmit(message: EmailMessage) -> None:
    with _connected() as client:
        try:
            client.send_message(message)
        except smtplib.SMTPException as fault:
            code, text = _answer(fault)
            if 500 <= code < 600 and code != WANTS_LOGIN:
                raise RefusedError(f"{code} {text.decode(errors='replace')}") from fault
            raise


def _answer(fault: smtplib.SMTPException) -> tuple[int, bytes]:
    """Return what the server said of this message; 0 where the fault is about something else."""
    if isinstance(fault, smtplib.SMTPRecipientsRefused):
        return next(iter(fault.recipients.values()))
    if isinstance(fault, smtplib.SMTPSenderRefused | smtplib.SMTPDataError):
        words = fault.smtp_error
        return fault.smtp_code, words if isinstance(words, bytes) else words.encode()
    return 0, b""


class _Client(smtplib.SMTP):
    """SMTP over a connection that is there already."""

    def __init__(self, connection: socket.socket, host: str) -> None:
        self._connection = connection
        super().__init__(host)

    def connect(self, *_: object) -> tuple[int, bytes]:
        self.sock, self.file = self._connection, None
        return self.getreply()


@contextmanager
def _connected() -> Iterator[smtplib.SMTP]:
    """Log in; leaving is polite, and what comes of it no matter, for the server has answered for the mail by then."""
    settings = _configured()
    parts = urlsplit(settings.smtp_url)
    host = parts.hostname or "localhost"
    smtps = parts.scheme == "smtps"
    with _open(host, parts.port or (465 if smtps else 587)) as bare, _ended_in_time(bare):
        connection = _tls().wrap_socket(bare, server_hostname=host) if smtps else bare
        with closing(_Client(connection, host)) as client:
            client.ehlo()
            if not smtps and (client.has_extn("starttls") or not settings.smtp_plain):
                client.starttls(context=_tls())  # raises where the server has none
                client.ehlo()
            if parts.username:
                client.login(unquote(parts.username), unquote(parts.password or ""))
            yield client
            with suppress(OSError):
                client.quit()


@cache
def _tls() -> ssl.SSLContext:
    """Trust whom the machine trusts; to read that takes ten times as long as a mail."""
    return ssl.create_default_context()


def _open(host: str, port: int) -> socket.socket:
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
def _ended_in_time(connection: socket.socket) -> Iterator[None]:
    """End a connection when the time for the whole exchange is over, whatever it waits for and however it drips."""
    over = threading.Event()
    handle = connection.dup()  # TLS takes the other one over

    def end() -> None:
        over.set()
        with suppress(OSError):
            handle.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(SECONDS, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except OSError as fault:
        if over.is_set():
            raise TimeoutError(f"The mail server took longer than {SECONDS:g} s.") from fault
        raise
    finally:
        timer.cancel()
        timer.join()
        handle.close()
