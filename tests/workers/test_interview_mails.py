"""Mails about interviews, with what calendars read of them."""

from datetime import timedelta
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from pathlib import Path
from typing import Any

import pytest
from icalendar import Calendar, Event
from sqlalchemy import select

import store
from gateways import mail as gateway
from rules.clock import now
from store.database.ids import new_id
from store.outbox import OutboxItem
from tests.api import Tenant, address
from tests.interviews import act, later, mails, make
from tests.operations import states
from workers import mail


def sent(to: str) -> list[EmailMessage]:
    """Compose what somebody is to get, read again as a mail program does."""
    read = BytesParser(policy=policy.default).parsebytes
    made = [mail.compose(new_id(), one) for one in mails(to)]
    return [read(gateway.compose(one, "Hiring <hiring@example.com>").as_bytes()) for one in made]  # type: ignore[misc]


def part(message: EmailMessage) -> EmailMessage:
    """The invitation where mail programs look for it: among the alternatives."""
    [found] = [
        one for one in message.walk() if one.get_content_type() == "text/calendar" and not one.is_attachment()
    ]
    return found  # type: ignore[return-value]


def entry(message: EmailMessage) -> tuple[str, Event]:
    """The method and the one event of a mail's calendar, by a parser; the file says the same."""
    inside, [file] = part(message).get_content(), list(message.iter_attachments())
    read = Calendar.from_ical(inside)
    assert read == Calendar.from_ical(file.get_content())
    assert part(message).get_param("method") == str(read["METHOD"])
    assert (str(read["VERSION"]), file.get_filename()) == ("2.0", "interview.ics")
    [event] = read.events
    return str(read["METHOD"]), event


def test_candidate_and_interviewers_are_invited_each_by_their_own_link(tenant: Tenant) -> None:
    email, member = address(), states.a_member(tenant.live)["user_id"]
    made = make(
        tenant.live, title="Interview; with, commas\\", candidate_email=email, candidate_name="Ada Łovelace",
        scheduled_at=later(), time_limit_minutes=45, send_invite=True, interviewers=[member],
    )  # fmt: skip
    [to_candidate], [to_member] = sent(email), sent(made["interviewers"][0]["email"])
    for message, url, name in (
        (to_candidate, made["candidate_url"], "Ada Łovelace"),
        (to_member, made["interviewer_url"], "Ada"),
    ):
        method, event = entry(message)
        start = event.start
        assert (method, event["SEQUENCE"], str(event["SUMMARY"])) == ("REQUEST", 0, made["title"])
        assert (event.end - start, start.isoformat()[:19]) == (
            timedelta(minutes=45),
            made["scheduled_at"][:19],
        )
        assert (str(event["URL"]), str(event["STATUS"])) == (url, "CONFIRMED")
        assert str(event["ORGANIZER"]) == "mailto:hiring@example.com"
        assert event["ATTENDEE"].params["CN"] == name
        assert event["UID"].startswith(f"{made['id']}@")
        assert url in message.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    assert made["candidate_token"] not in to_member.as_string()
    assert made["interviewer_url"] not in to_candidate.as_string()


def test_another_time_is_an_update_and_a_cancellation_takes_it_out(tenant: Tenant) -> None:
    email = address()
    made = make(tenant.live, candidate_email=email, scheduled_at=later(), send_invite=True)
    moment = later(days=5)
    act(tenant.live, made["id"], "reschedule", scheduled_at=moment)
    act(tenant.live, made["id"], "cancel")
    found = [entry(one) for one in sent(email)]
    assert [(method, event["SEQUENCE"], str(event["STATUS"])) for method, event in found] == [
        ("REQUEST", 0, "CONFIRMED"), ("REQUEST", 1, "CONFIRMED"), ("CANCEL", 2, "CANCELLED"),
    ]  # fmt: skip
    assert len({str(event["UID"]) for _, event in found}) == 1
    assert found[1][1].start.isoformat()[:19] == moment[:19]
    subjects = [one["Subject"].strip().split(":")[0] for one in sent(email)]
    assert subjects[0].startswith("Your interview with")
    assert subjects[1].startswith("A new time for your interview")
    assert subjects[2] == "Cancelled"


def test_without_a_time_there_is_nothing_for_a_calendar(tenant: Tenant) -> None:
    email = address()
    make(tenant.live, candidate_email=email, send_invite=True)
    [message] = sent(email)
    assert [one for one in message.walk() if one.get_content_type() == "text/calendar"] == []


@pytest.mark.parametrize("fields", [{}, {"send_invite": True}])
def test_who_is_not_to_be_mailed_is_not(tenant: Tenant, fields: dict[str, Any]) -> None:
    """Neither a candidate whom nobody wants mailed, nor one without an address."""
    email = address()
    given = {} if fields else {"candidate_email": email}
    made = make(tenant.live, scheduled_at=later(), **given, **fields)
    act(tenant.live, made["id"], "cancel")
    assert mails(email) == mails("") == []


def test_in_test_mode_the_mail_is_written_to_a_file(tenant: Tenant, tmp_path: Path) -> None:
    email = address()
    make(tenant.test, candidate_email=email, scheduled_at=later(), send_invite=True)
    before = gateway._settings
    gateway.configure(smtp_url="", mail_from="Hiring <hiring@example.com>", mail_dir=tmp_path)
    try:
        mail.send(new_id(), mails(email)[0])
    finally:
        gateway._settings = before
    [written] = (tmp_path / "test").glob("*.eml")
    message = BytesParser(policy=policy.default).parsebytes(written.read_bytes())
    method, event = entry(message)  # type: ignore[arg-type]
    assert (method, event.start > now()) == ("REQUEST", True)


def test_a_refusal_is_noted_on_the_room_for_the_candidates_mail_alone(tenant: Tenant) -> None:
    email, member = address(), states.a_member(tenant.live)["user_id"]
    made = make(tenant.live, candidate_email=email, send_invite=True, interviewers=[member])
    for arguments in (mails(made["interviewers"][0]["email"])[0], mails(email)[0]):
        with store.transaction() as session:
            mail.given_up(session, arguments, gateway.RefusedError("550 nobody here"))
        noted = tenant.live.get(f"/interviews/{made['id']}/").json()["mail_error"]
        assert noted == ("550 nobody here" if arguments["to"] == email else None)


def test_candidates_are_mailed_in_the_organisations_colour_with_its_addresses(
    tenant: Tenant, tmp_path: Path
) -> None:
    own = {
        "colour": "#b0487f",
        "reply_to": "talent@example.com",
        "help_contact": "help@example.com",
    }
    changed = tenant.live.patch("/org/settings/", own)
    assert changed.status_code == 200, changed.text
    email, member = address(), states.a_member(tenant.live)["user_id"]
    made = make(
        tenant.live, candidate_email=email, scheduled_at=later(), send_invite=True, interviewers=[member]
    )
    before = gateway._settings
    gateway.configure(smtp_url="", mail_from="Hiring <hiring@example.com>", mail_dir=tmp_path)
    try:
        for id, arguments in waiting(email, made["interviewers"][0]["email"]):
            mail.send(id, arguments)
    finally:
        gateway._settings = before
    written = [
        BytesParser(policy=policy.default).parsebytes(path.read_bytes()) for path in tmp_path.glob("*.eml")
    ]
    [to_candidate] = [one for one in written if email in str(one["To"])]
    [to_member] = [one for one in written if one is not to_candidate]
    html = to_candidate.get_body(("html",)).get_content()  # type: ignore[attr-defined]
    assert (to_candidate["Reply-To"], "#b0487f" in html) == ("talent@example.com", True)
    assert "help@example.com" in html
    assert entry(to_candidate)[0] == "REQUEST"  # type: ignore[arg-type]
    assert (to_member["Reply-To"], "#b0487f" in to_member.as_string()) == (None, False)


def waiting(*to: str) -> list[tuple[Any, dict[str, Any]]]:
    """The mails that wait for somebody, with their ids."""
    with store.transaction() as session:
        found = session.scalars(select(OutboxItem).where(OutboxItem.job == "mail").order_by(OutboxItem.id))
        return [(one.id, one.arguments) for one in found if one.arguments.get("to") in to]
