"""Mail: through SMTP when it is configured, otherwise as .eml files; test mode always writes files."""

import os
import re
import secrets
import smtplib
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from email.headerregistry import Address
from email.message import EmailMessage
from email.parser import BytesHeaderParser
from email.policy import SMTPUTF8
from email.utils import format_datetime, parseaddr
from pathlib import Path
from typing import Any

from gateways import headers, smtp
from rules.clock import now

WANTS_LOGIN = 530  # is about us and not about the message, like whatever is said before it

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
    server: smtp.Server | None
    sender: str
    folder: Path


_settings: _Settings | None = None


class RefusedError(smtplib.SMTPException):
    """The mail server will not take this mail, now or later; the text is what it said."""


def configure(*, smtp_url: str, mail_from: str, mail_dir: Path, smtp_plain: bool = False) -> None:
    """Say where mail goes and whom it comes from; `smtp_plain` lets it go without TLS (development)."""
    global _settings  # noqa: PLW0603 - one process, one way out
    _settings = _Settings(smtp.Server(smtp_url, smtp_plain) if smtp_url else None, mail_from, mail_dir)


def kind(*, livemode: bool) -> str:
    """Say how mail of a mode goes out: smtp or files."""
    return "smtp" if livemode and _settings is not None and _settings.server else "files"


def send(mail: Mail) -> None:
    """Send or write one mail; raises RefusedError or another OSError (SMTP errors are some) when it did not go out."""
    settings = _configured()
    message = compose(mail, settings.sender)
    if not mail.livemode:
        _write(settings.folder / "test", mail.id, message)
    elif settings.server:
        _transmit(message, settings.server)
    else:
        _write(settings.folder, mail.id, message)


def _configured() -> _Settings:
    if _settings is None:
        raise RuntimeError("Call gateways.mail.configure first.")
    return _settings


def compose(mail: Mail, sender: str) -> EmailMessage:
    """Return the message: text and HTML side by side; line breaks in names and subjects become spaces."""
    name, address = parseaddr(sender)
    names = mail.to.rpartition("@")[0] + mail.reply_to.rpartition("@")[0]
    message = EmailMessage(policy=headers.ASCII if names.isascii() else headers.BEYOND_ASCII)
    message["From"] = str(_address(name, address))
    message["To"] = _address(mail.to_name, mail.to)
    if mail.reply_to:
        message["Reply-To"] = _address("", mail.reply_to)
    message["Subject"] = _one_line(mail.subject)
    message["Date"] = format_datetime(now())
    message["Message-ID"] = f"<{_one_line(mail.id)}@{address.rpartition('@')[2] or 'localhost'}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.text)
    # One that is looked for takes as long as the text does.
    message.make_alternative(boundary=secrets.token_hex(16))
    message.add_alternative(mail.html, subtype="html")
    if mail.calendar:
        # As an alternative, where mail programs look for an invitation; as a file for those that do not.
        method = mail.calendar["method"]
        from gateways import calendars  # noqa: PLC0415 - few processes write an entry, and each would load what does

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
    for path in (*folder.glob("*.eml"), *folder.glob("test/*.eml")) if addresses else ():
        with suppress(FileNotFoundError), path.open("rb") as file:
            to = BytesHeaderParser(policy=SMTPUTF8).parse(file)["To"]
            if to and addresses & {one.addr_spec.lower() for one in to.addresses}:
                path.unlink(missing_ok=True)


def greet() -> None:
    """Log in to the mail server, if there is one, and send nothing; raises OSError when it refuses."""
    if server := _configured().server:
        with smtp.connected(server):
            pass


def _transmit(message: EmailMessage, server: smtp.Server) -> None:
    to, sender = (message[name].addresses[0].addr_spec for name in ("To", "From"))
    beyond_ascii = () if to.isascii() and sender.isascii() else ("SMTPUTF8", "BODY=8BITMIME")
    content = message.as_bytes()
    with smtp.connected(server) as client:
        try:
            client.sendmail(sender, [to], content, beyond_ascii)
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
