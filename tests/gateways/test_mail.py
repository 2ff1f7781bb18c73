import socket
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import SMTP, SMTPUTF8, default

import pytest

from gateways import mail, smtp
from gateways.mail import Mail
from tests.post import running

SENDER = "Hiring <no-reply@example.com>"
MOMENT = datetime(2026, 11, 25, tzinfo=UTC)


def invitation(**changes):
    fields = {
        "id": "0190-a",
        "to": "zoe@example.com",
        "to_name": "Zoë Ōta",
        "subject": "Your assessment: Größe & <Maß>",
        "text": "Hello Zoë\n",
        "html": "<p>Hello Zoë</p>",
    } | changes
    return Mail(**fields)


@pytest.fixture(autouse=True)
def way_out(monkeypatch):
    """Give the process its own way out back after each test."""
    monkeypatch.setattr(mail, "_settings", None)


@pytest.fixture
def folder(tmp_path):
    mail.configure(smtp_url="", mail_from=SENDER, mail_dir=tmp_path)
    return tmp_path


def read(path):
    return message_from_bytes(path.read_bytes(), policy=default)


def test_without_smtp_a_live_mail_is_a_file(folder):
    mail.send(invitation())
    message = read(folder / "0190-a.eml")
    assert message["To"].addresses[0].addr_spec == "zoe@example.com"
    assert message["To"].addresses[0].display_name == "Zoë Ōta"
    assert message["From"] == SENDER
    assert message["Subject"] == "Your assessment: Größe & <Maß>"
    assert message["Message-ID"] == "<0190-a@example.com>"
    assert message["Date"].datetime
    assert message.get_content_type() == "multipart/alternative"
    assert message.get_body(["plain"]).get_content().splitlines() == ["Hello Zoë"]
    assert message.get_body(["html"]).get_content().strip() == "<p>Hello Zoë</p>"


def test_test_mode_writes_a_file_even_when_smtp_is_configured(tmp_path):
    mail.configure(smtp_url="smtp://127.0.0.1:1", mail_from=SENDER, mail_dir=tmp_path)
    mail.send(invitation(livemode=False))
    assert [path.name for path in tmp_path.rglob("*.*")] == ["0190-a.eml"]
    assert (tmp_path / "test" / "0190-a.eml").exists()


def test_the_same_mail_twice_is_one_file_and_nothing_half_written_is_left(folder):
    mail.send(invitation())
    mail.send(invitation())
    assert [path.name for path in folder.iterdir()] == ["0190-a.eml"]


@pytest.mark.parametrize(
    "changes",
    [
        {"to_name": "Zoë\r\nBcc: everybody@example.com"},
        {"subject": "Hello\nBcc: everybody@example.com"},
        {"subject": "Hello\r\n\r\n<script>"},
        {"to_name": 'Zoë" <other@example.com>, "x'},
        {"subject": "Hello\u2028Bcc: everybody@example.com"},
        {"id": "x\nBcc: everybody@example.com"},
    ],
)
def test_no_field_can_add_a_header_or_a_recipient(folder, changes):
    mail.send(invitation(**changes))
    (path,) = folder.iterdir()
    message = read(path)
    assert message["Bcc"] is None
    assert [one.addr_spec for one in message["To"].addresses] == ["zoe@example.com"]
    assert message.get_body(["plain"]).get_content().splitlines() == ["Hello Zoë"]


def test_an_address_that_would_be_two_is_refused(folder):
    with pytest.raises(ValueError, match="malformed"):
        mail.send(invitation(to="zoe@example.com, other@example.com"))
    assert list(folder.iterdir()) == []


def test_a_name_cannot_lead_out_of_the_folder(folder):
    mail.send(invitation(id="../../etc/x"))
    (path,) = folder.iterdir()
    assert path.suffix == ".eml"


@pytest.mark.parametrize(
    ("address", "written"),
    [("zoë@example.com", "zoë@example.com"), ("zoe@bücher.example", "zoe@xn--bcher-kva.example")],
)
def test_addresses_beyond_ascii_are_kept(folder, address, written):
    mail.send(invitation(to=address))
    (path,) = folder.iterdir()
    assert f"<{written}>" in path.read_bytes().decode()


@pytest.fixture
def post(tmp_path):
    """A mail server, and a way out to it that needs no TLS."""
    with running() as server:
        mail.configure(
            smtp_url=server.url.replace("ann:secret@", ""),
            smtp_plain=True,
            mail_from=SENDER,
            mail_dir=tmp_path,
        )
        yield server


def test_with_smtp_a_live_mail_is_sent(post, tmp_path):
    mail.send(invitation())
    (sent,) = post.mails
    message = message_from_bytes(sent, policy=default)
    assert message["Subject"] == "Your assessment: Größe & <Maß>"
    assert list(tmp_path.iterdir()) == []


def test_mails_that_follow_each_other_go_over_one_connection(post):
    for _ in range(3):
        mail.send(invitation())
    assert len(post.mails) == 3
    assert post.words.count("EHLO") == 1


def test_no_connection_has_more_mails_than_servers_like(post, monkeypatch):
    monkeypatch.setattr(smtp, "MOST_MAILS", 2)
    for _ in range(5):
        mail.send(invitation())
    assert [one for one in post.words if one in ("EHLO", "MAIL", "QUIT")] == [
        *["EHLO", "MAIL", "MAIL", "QUIT"] * 2, "EHLO", "MAIL",
    ]  # fmt: skip


@pytest.mark.parametrize("answer", ["421 closing", "500 what?"])
def test_a_kept_connection_that_the_server_has_left_loses_no_mail(post, answer):
    mail.send(invitation())
    post.answers["RSET"] = answer
    mail.send(invitation())
    assert len(post.mails) == 2
    assert post.words.count("EHLO") == 2


def test_a_connection_is_not_kept_for_long(post, monkeypatch):
    monkeypatch.setattr(smtp, "KEPT_SECONDS", 0.0)
    for _ in range(2):
        mail.send(invitation())
    assert post.words.count("EHLO") == 2


def test_without_tls_neither_password_nor_mail_leave(post, tmp_path):
    mail.configure(smtp_url=post.url, mail_from=SENDER, mail_dir=tmp_path)
    for reach in (mail.greet, lambda: mail.send(invitation())):
        with pytest.raises(OSError, match="STARTTLS"):
            reach()
    assert set(post.words) == {"EHLO"}
    assert post.mails == []


@pytest.mark.parametrize("word", ["MAIL", "RCPT", "DATA"])
def test_what_the_server_refuses_for_good_is_refused_with_its_words(post, word):
    post.answers[word] = "550 5.1.1 Nobody of that name"
    with pytest.raises(mail.RefusedError, match=r"550 5\.1\.1 Nobody of that name"):
        mail.send(invitation())


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        ("MAIL", "451 later"),
        ("RCPT", "450 busy"),
        ("DATA", "452 full"),
        ("MAIL", "530 log in"),
    ],
)
def test_what_may_go_another_time_is_not_refused(post, word, answer):
    post.answers[word] = answer
    with pytest.raises(OSError, match=answer[:3]) as fault:
        mail.send(invitation())
    assert not isinstance(fault.value, mail.RefusedError)


def test_a_mail_that_was_taken_is_sent_whatever_the_parting_words(post):
    post.answers["QUIT"] = "500 no"
    mail.send(invitation())
    assert len(post.mails) == 1


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
@pytest.mark.parametrize("drop", [b"", b"2"], ids=["is silent", "drips"])
def test_an_exchange_ends_in_time_whatever_the_server_does(tmp_path, monkeypatch, scheme, drop):
    monkeypatch.setattr(smtp, "SECONDS", 0.4)
    ended = threading.Event()

    def serve(server):
        connection, _ = server.accept()
        with connection, suppress(OSError):
            while not ended.wait(0.05):
                connection.sendall(drop)

    with socket.create_server(("127.0.0.1", 0)) as server:
        serving = threading.Thread(target=serve, args=[server])
        serving.start()
        mail.configure(
            smtp_url=f"{scheme}://127.0.0.1:{server.getsockname()[1]}", mail_from=SENDER, mail_dir=tmp_path
        )
        began = time.monotonic()
        with pytest.raises(OSError):  # noqa: PT011 - each way to end has its own words
            mail.send(invitation())
        assert time.monotonic() - began < 5
        ended.set()
        serving.join()


def test_a_mail_server_that_is_away_is_an_oserror(tmp_path):
    mail.configure(smtp_url="smtp://127.0.0.1:1", mail_from=SENDER, mail_dir=tmp_path)
    with pytest.raises(OSError, match="refused"):
        mail.send(invitation())


def test_headers_that_are_kept_say_what_the_library_says(monkeypatch):
    monkeypatch.setattr(mail.secrets, "token_hex", lambda _: "boundary")
    monkeypatch.setattr(mail, "now", lambda: MOMENT)
    people = [
        "ada@example.com",
        "grace@example.com",
        "ada@example.com",
        "lovelace@exämple.com",
        "ä@example.com",
    ]
    mails = [
        invitation(id=f"one-{number}", to=to, to_name="Ada, “Countess”", subject=f"Grüße {to} " * 4)
        for number, to in enumerate(people)
    ]
    kept = [mail.compose(one, SENDER).as_bytes() for one in mails]
    monkeypatch.setattr(mail.headers, "ASCII", SMTP)
    monkeypatch.setattr(mail.headers, "BEYOND_ASCII", SMTPUTF8)
    assert kept == [mail.compose(one, SENDER).as_bytes() for one in mails]
