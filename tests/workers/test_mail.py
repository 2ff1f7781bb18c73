from email import message_from_bytes
from email.policy import default

import jinja2
import pytest
from sqlalchemy import select, update

import store
from app.instance import wiring
from gateways import mail as mail_gateway
from gateways.mail import RefusedError
from store import outbox
from store.database.ids import new_id
from store.outbox import OutboxItem
from tests import post as posts
from tests.hooks import nothing_else_is_due, wired
from workers import actors, mail
from workers.jobs import JOBS
from workers.turns import Turns

__all__ = ["nothing_else_is_due", "wired"]

INVITATION = {
    "template": "invitation",
    "to": "zoe@example.com",
    "to_name": "Zoë Ōta",
    "livemode": True,
    "organisation_name": "Größe & Söhne",
    "candidate_name": "Zoë <b>Ōta</b>",
    "assessment_title": 'C++ & "friends"',
    "time_limit_minutes": 45,
    "invite_url": "http://testserver/take/abc_-123",
    "expires_at": "2026-03-01T12:00:00.000Z",
}
COMPLETION = {
    "template": "completion",
    "to": "ann@example.com",
    "to_name": "Ann",
    "livemode": True,
    "organisation_name": "Acme",
    "candidate_name": "",
    "candidate_email": "zoe@example.com",
    "assessment_title": "Backend",
    "score_percentage": "71.50",
    "passed": True,
    "completed_at": "2026-03-01T12:00:00.000Z",
}


@pytest.mark.parametrize("template", ["invitation", "reminder"])
def test_a_candidates_mail_has_the_link_and_the_time_in_both_forms(template):
    made = mail.compose(new_id(), INVITATION | {"template": template})
    for form in (made.text, made.html):
        assert INVITATION["invite_url"] in form
        assert "1 March 2026, 12:00 UTC" in form
        assert "45 minutes" in form
    assert "Größe & Söhne" in made.subject
    assert 'C++ & "friends"' in made.subject


def test_names_are_text_in_the_html_form_too():
    made = mail.compose(new_id(), INVITATION)
    assert "<b>Ōta" not in made.html
    assert "Zoë &lt;b&gt;Ōta&lt;/b&gt;" in made.html
    assert "Zoë <b>Ōta</b>" in made.text


def test_without_a_time_limit_none_is_mentioned():
    made = mail.compose(new_id(), INVITATION | {"time_limit_minutes": None})
    assert "minutes" not in made.text
    assert "minutes" not in made.html


@pytest.mark.parametrize(
    ("passed", "words"),
    [(True, "Passed, with 71.5%"), (False, "Not passed, with 71.5%"), (None, "wait for review")],
)
def test_a_members_notice_says_how_it_went(passed, words):
    made = mail.compose(new_id(), COMPLETION | {"passed": passed})
    assert made.subject == "zoe@example.com completed Backend"
    assert words in made.text
    assert words in made.html


def test_a_name_that_is_missing_is_a_fault():
    with pytest.raises(jinja2.UndefinedError):
        mail.compose(new_id(), {name: value for name, value in INVITATION.items() if name != "invite_url"})


@pytest.fixture
def asked(nothing_else_is_due):
    """Ask for work; return its id."""

    def ask(job, **arguments):
        with store.transaction() as session:
            outbox.add(session, None, job, **arguments)
        with store.transaction() as session:
            newest = select(OutboxItem.id).where(OutboxItem.job == job).order_by(OutboxItem.id.desc())
            return session.scalars(newest).first()

    return ask


def work(job="mail"):
    actors.work(Turns(job, threads=2))


def item(id):
    with store.transaction() as session:
        return session.get(OutboxItem, id)


def test_a_mail_is_written_once_however_often_the_bell_rings(wired, asked):
    id = asked("mail", **INVITATION)
    for _ in range(3):
        work()
    (path,) = wired.mail_dir.glob(f"{id}*")
    message = message_from_bytes(path.read_bytes(), policy=default)
    assert message["To"].addresses[0].display_name == "Zoë Ōta"
    assert (item(id).attempts, item(id).last_error) == (1, None)
    assert item(id).finished_at


def test_test_mode_mail_goes_to_a_folder_of_its_own(wired, asked):
    id = asked("mail", **INVITATION | {"livemode": False})
    work()
    assert (wired.mail_dir / "test" / f"{id}.eml").exists()


def test_a_mail_that_fails_is_tried_again_later(asked):
    id = asked("mail", **INVITATION | {"template": "unknown"})
    work()
    failed = item(id)
    assert failed.finished_at is None
    assert "TemplateNotFound" in failed.last_error
    assert failed.due_at > failed.created_at


def test_a_mail_that_the_server_refuses_for_good_ends_at_once_with_its_words(asked, monkeypatch):
    def refuse(_mail):
        raise RefusedError("550 Nobody of that name")

    monkeypatch.setattr("gateways.mail.send", refuse)
    id = asked("mail", **INVITATION)
    work()
    ended = item(id)
    assert ended.finished_at
    assert (ended.attempts, ended.last_error) == (1, "RefusedError: 550 Nobody of that name")


@pytest.fixture
def post(wired):
    """A mail server that live mail goes through."""
    with posts.running() as server:
        mail_gateway.configure(
            smtp_url=server.url.replace("ann:secret@", ""),
            smtp_plain=True,
            mail_from="no-reply@example.com",
            mail_dir=wired.mail_dir,
        )
        yield server
    wiring.configure(wired)


def test_an_address_that_is_refused_shows_on_its_invitation_until_a_reminder_tries_again(
    tenant, post, nothing_else_is_due
):
    api = tenant.live
    token = api.invitation(api.assessment()["slug"], send_email=True)["invite_token"]
    post.answers["RCPT"] = "550 5.1.1 No such user here"
    work()
    shown = api.get(f"/invites/{token}/").json()
    assert shown["mail_error"] == "550 5.1.1 No such user here"
    assert shown["updated_at"] > shown["created_at"]
    post.answers.clear()
    api.post(f"/invites/{token}/remind/")
    assert api.get(f"/invites/{token}/").json()["mail_error"] is None
    work()
    assert len(post.mails) == 1


def test_a_mail_that_never_got_through_shows_on_its_invitation_without_the_words_of_ours(
    tenant, post, nothing_else_is_due
):
    api = tenant.live
    token = api.invitation(api.assessment()["slug"], send_email=True)["invite_token"]
    post.answers["MAIL"] = "451 secret.internal has no disk"
    with store.transaction() as session:
        session.execute(
            update(OutboxItem).where(OutboxItem.finished_at.is_(None)).values(attempts=JOBS["mail"].attempts)
        )
    work()
    assert api.get(f"/invites/{token}/").json()["mail_error"] == "The mail could not be sent."


def test_an_invitation_that_was_cancelled_meanwhile_has_nothing_to_show(tenant, post, nothing_else_is_due):
    api = tenant.live
    token = api.invitation(api.assessment()["slug"], send_email=True)["invite_token"]
    assert api.delete(f"/invites/{token}/").status_code == 204
    post.answers["RCPT"] = "550 5.1.1 No such user here"
    work()
    with store.transaction() as session:
        last = session.scalars(
            select(OutboxItem).where(OutboxItem.job == "mail").order_by(OutboxItem.id.desc())
        ).first()
    assert last.finished_at


OFFER = {
    "template": "offer",
    "to": "zoe@example.com",
    "to_name": "Zoë Ōta",
    "livemode": True,
    "organisation_name": "Größe & Söhne",
    "candidate_name": "Zoë <b>Ōta</b>",
    "job_title": "Engineer",
    "respond_url": "http://testserver/offer/abc_-123",
    "expires_at": "2026-03-01T12:00:00.000Z",
    "letter": {
        "organisation_name": "Größe & Söhne",
        "candidate_name": "Zoë <b>Ōta</b>",
        "title": "Engineer at Größe & Söhne",
        "job_title": "Engineer",
        "compensation_text": "EUR 84,000",
        "start_date": "2026-04-01",
        "body_html": "<p>Welcome.</p>",
    },
}


def test_an_offers_mail_has_the_link_and_the_time_in_both_forms():
    made = mail.compose(new_id(), OFFER)
    for form in (made.text, made.html):
        assert OFFER["respond_url"] in form
        assert "1 March 2026, 12:00 UTC" in form
    assert made.subject == "Your offer from Größe & Söhne: Engineer"
    assert "until" not in mail.compose(new_id(), OFFER | {"expires_at": None}).text


@pytest.mark.parametrize("livemode", [True, False])
def test_an_offer_goes_out_with_its_letter_alone_and_again_as_the_same_message(wired, asked, livemode):
    id = asked("mail", **OFFER | {"livemode": livemode})
    work()
    folder = wired.mail_dir if livemode else wired.mail_dir / "test"
    first = message_from_bytes((folder / f"{id}.eml").read_bytes(), policy=default)
    with store.transaction() as session:  # whoever sent it died before it could say so
        row = session.get(OutboxItem, id)
        row.finished_at, row.due_at = None, row.created_at
    work()
    [path] = folder.glob(f"{id}*")
    again = message_from_bytes(path.read_bytes(), policy=default)
    assert item(id).attempts == 2
    assert first["Message-ID"] == again["Message-ID"]
    letters = [list(one.iter_attachments()) for one in (first, again)]
    for [letter] in letters:
        assert (letter.get_content_type(), letter.get_filename()) == ("application/pdf", "offer.pdf")
    assert letters[0][0].get_content() == letters[1][0].get_content()


def test_an_address_that_is_refused_shows_on_its_offer(tenant, post, nothing_else_is_due):
    api = tenant.live
    application = api.application(api.job(published=True)["slug"])
    letter = {"application_id": application["id"], "title": "Engineer", "body_html": "<p>Welcome.</p>"}
    offer = api.post("/offers/", letter).json()
    assert api.post(f"/offers/{offer['id']}/send/").status_code == 200
    post.answers["RCPT"] = "550 5.1.1 No such user here"
    work()
    shown = api.get(f"/offers/{offer['id']}/").json()
    assert (shown["status"], shown["mail_error"]) == ("sent", "550 5.1.1 No such user here")
