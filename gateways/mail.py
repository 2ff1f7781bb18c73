"""Mail: through SMTP when it is configured, otherwise as .eml files; test mode always writes files."""

import os
import re
import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime, parseaddr
from pathlib import Path
from urllib.parse import unquote, urlsplit

from rules.clock import now

SECONDS = 30
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
    livemode: bool = True
    attachments: list[tuple[str, str, bytes]] = field(default_factory=list)  # name, media type, content


@dataclass(frozen=True)
class _Settings:
    smtp_url: str
    sender: str
    folder: Path


_settings: _Settings | None = None


def configure(*, smtp_url: str, mail_from: str, mail_dir: Path) -> None:
    """Say where mail goes and whom it comes from."""
    global _settings  # noqa: PLW0603 - one process, one way out
    _settings = _Settings(smtp_url, mail_from, mail_dir)


def kind(*, livemode: bool) -> str:
    """Say how mail of a mode goes out: smtp or files."""
    return "smtp" if livemode and _settings is not None and _settings.smtp_url else "files"


def send(mail: Mail) -> None:
    """Send or write one mail; raises OSError (SMTP errors are OSErrors) when it did not go out."""
    if _settings is None:
        raise RuntimeError("Call gateways.mail.configure first.")
    message = compose(mail, _settings.sender)
    if not mail.livemode:
        _write(_settings.folder / "test", mail.id, message)
    elif _settings.smtp_url:
        _transmit(_settings.smtp_url, message)
    else:
        _write(_settings.folder, mail.id, message)


def compose(mail: Mail, sender: str) -> EmailMessage:
    """Return the message: text and HTML side by side; line breaks in names and subjects become spaces."""
    name, address = parseaddr(sender)
    message = EmailMessage(policy=SMTP if mail.to.rpartition("@")[0].isascii() else SMTPUTF8)
    message["From"] = _address(name, address)
    message["To"] = _address(mail.to_name, mail.to)
    message["Subject"] = _one_line(mail.subject)
    message["Date"] = format_datetime(now())
    message["Message-ID"] = f"<{_one_line(mail.id)}@{address.rpartition('@')[2] or 'localhost'}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.text)
    message.add_alternative(mail.html, subtype="html")
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


def greet(url: str) -> None:
    """Log in to a mail server and send nothing; raises OSError (SMTP errors are OSErrors) when it refuses."""
    with _connected(url):
        pass


def _transmit(url: str, message: EmailMessage) -> None:
    with _connected(url) as client:
        client.send_message(message)


@contextmanager
def _connected(url: str) -> Iterator[smtplib.SMTP]:
    parts = urlsplit(url)
    host = parts.hostname or "localhost"
    tls = ssl.create_default_context()
    client: smtplib.SMTP
    if parts.scheme == "smtps":
        client = smtplib.SMTP_SSL(host, parts.port or 465, timeout=SECONDS, context=tls)
    else:
        client = smtplib.SMTP(host, parts.port or 587, timeout=SECONDS)
    with client:
        client.ehlo()
        if parts.scheme != "smtps" and client.has_extn("starttls"):
            client.starttls(context=tls)
            client.ehlo()
        if parts.username:
            client.login(unquote(parts.username), unquote(parts.password or ""))
        yield client
