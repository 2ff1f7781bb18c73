import socketserver
import threading
from email import message_from_bytes
from email.policy import default

import pytest

from gateways import mail
from gateways.mail import Mail

SENDER = "Hiring <no-reply@example.com>"


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


class _Post(socketserver.StreamRequestHandler):
    """Enough of SMTP to take one mail; offers STARTTLS nowhere."""

    def handle(self):
        self.say("220 hello")
        for line in self.rfile:
            word = line.split()[0].upper()
            if word == b"DATA":
                self.say("354 go on")
                self.server.mails.append(b"".join(iter(self.rfile.readline, b".\r\n")))
            if word == b"QUIT":
                self.say("221 bye")
                break
            self.say("250 ok")

    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")


def test_with_smtp_a_live_mail_is_sent(tmp_path):
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Post) as server:
        server.daemon_threads = True
        server.mails = []
        threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
        mail.configure(
            smtp_url=f"smtp://127.0.0.1:{server.server_address[1]}", mail_from=SENDER, mail_dir=tmp_path
        )
        mail.send(invitation())
        server.shutdown()
    (sent,) = server.mails
    message = message_from_bytes(sent, policy=default)
    assert message["Subject"] == "Your assessment: Größe & <Maß>"
    assert list(tmp_path.iterdir()) == []


def test_a_mail_server_that_is_away_is_an_oserror(tmp_path):
    mail.configure(smtp_url="smtp://127.0.0.1:1", mail_from=SENDER, mail_dir=tmp_path)
    with pytest.raises(OSError, match="refused"):
        mail.send(invitation())
