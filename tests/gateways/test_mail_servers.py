"""Mail through a real mail server: TLS, logins, what it takes and what it refuses."""

import smtplib
import ssl
from contextlib import contextmanager
from email import message_from_bytes
from email.policy import default

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from gateways import mail, smtp
from gateways.mail import Mail
from tests.certificates import certificate, serving
from tests.shared import free_port

SENDER = "Hiring <no-reply@example.com>"
LETTER = b"%PDF-1.7 a letter"


def letter(**changes):
    fields = {
        "id": "0190-a",
        "to": "zoe@example.com",
        "to_name": "Zoë Ōta",
        "subject": "Your offer from Größe & Söhne",
        "text": "Hello Zoë\n",
        "html": "<p>Hello Zoë</p>",
        "attachments": [("offer.pdf", "application/pdf", LETTER)],
    }
    return Mail(**fields | changes)


class Postbox:
    """Keeps what it takes; refuses those of whom it is told."""

    def __init__(self):
        self.envelopes = []
        self.unknown = set()
        self.over_tls = []

    async def handle_RCPT(  # noqa: N802 - the library's names
        self, server, session, envelope, address, options
    ):
        if address in self.unknown:
            return "550 5.1.1 No such user here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        self.envelopes.append(envelope)
        self.over_tls.append(server.transport.get_extra_info("ssl_object") is not None)
        return "250 Taken"


def logs_in(server, session, envelope, mechanism, login):
    known = (login.login, login.password) == (b"ann@example.com", b"s:e/c@ret")
    return AuthResult(success=known, handled=False)


@contextmanager
def running(path, scheme):
    """Serve as a mail server on a free port, which nobody may use without TLS and a login."""
    box = Postbox()
    how = {"authenticator": logs_in, "auth_required": True, "auth_require_tls": scheme == "smtp"}
    if scheme == "smtp":
        how |= {"tls_context": serving(path), "require_starttls": True}
    else:
        how |= {"ssl_context": serving(path)}
    controller = Controller(box, hostname="127.0.0.1", port=free_port(), ready_timeout=30, **how)
    controller.start()
    try:
        yield box, controller.port
    finally:
        controller.stop()


@pytest.fixture(params=["smtp", "smtps"])
def server(request, tmp_path, monkeypatch):
    """A mail server, and a way out to it with the right password."""
    monkeypatch.setattr(mail, "_settings", None)
    path = certificate(tmp_path, "localhost")
    monkeypatch.setattr(smtp, "_tls", lambda: ssl.create_default_context(cafile=str(path)))
    with running(path, request.param) as (box, port):

        def reach(login="ann%40example.com:s%3Ae%2Fc%40ret", host="localhost"):
            mail.configure(
                smtp_url=f"{request.param}://{login}@{host}:{port}",
                mail_from=SENDER,
                mail_dir=tmp_path / "mail",
            )

        reach()
        box.reach = reach
        yield box


def test_a_mail_goes_out_over_tls_with_its_letter_and_a_message_id_of_its_own(server):
    mail.send(letter())
    (envelope,) = server.envelopes
    assert server.over_tls == [True]
    assert envelope.rcpt_tos == ["zoe@example.com"]
    message = message_from_bytes(envelope.content, policy=default)
    assert message["Message-ID"] == "<0190-a@example.com>"
    assert message["Subject"] == "Your offer from Größe & Söhne"
    assert message.get_body(["plain"]).get_content().strip() == "Hello Zoë"
    (attached,) = message.iter_attachments()
    assert (attached.get_filename(), attached.get_content_type()) == ("offer.pdf", "application/pdf")
    assert attached.get_content() == LETTER


def test_a_mail_that_is_sent_again_is_known_by_its_message_id(server):
    for _ in range(2):
        mail.send(letter())
    ids = {message_from_bytes(one.content)["Message-ID"] for one in server.envelopes}
    assert ids == {"<0190-a@example.com>"}


def test_who_is_unknown_there_is_refused_in_the_servers_words(server):
    server.unknown.add("zoe@example.com")
    with pytest.raises(mail.RefusedError, match=r"550 5\.1\.1 No such user here"):
        mail.send(letter())
    assert server.envelopes == []


def test_a_wrong_password_is_no_refusal_of_the_mail_for_it_is_ours(server):
    server.reach(login="ann%40example.com:wrong")
    with pytest.raises(smtplib.SMTPException) as fault:
        mail.send(letter())
    assert not isinstance(fault.value, mail.RefusedError)
    assert server.envelopes == []


def test_a_name_that_the_certificate_does_not_have_gets_neither_password_nor_mail(server):
    server.reach(host="127.0.0.1")
    with pytest.raises(ssl.SSLCertVerificationError):
        mail.send(letter())
    assert server.envelopes == []


def test_addresses_beyond_ascii_reach_a_server_that_takes_them(server):
    mail.send(letter(to="zoë@example.com"))
    assert server.envelopes[0].rcpt_tos == ["zoë@example.com"]
