"""Offers: drafted, sent once with one letter, answered once, whoever comes at the same time."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text, update

import store
from rules.clock import iso, now
from store.offering.offers import Offer
from tests.api import Api, Tenant
from tests.handlers.test_application_moves import arrange, mails, seen, told
from tests.operations.states import LETTER, candidate
from tests.probes import refusal

# status -> action -> where it leads; what is not here is refused.
TABLE = {
    "draft": {"send": "sent", "withdraw": "withdrawn", "update": "draft"},
    "scheduled": {"send": "sent", "withdraw": "withdrawn", "update": "scheduled"},
    "sent": {"withdraw": "withdrawn"},
    "accepted": {},
    "declined": {},
    "withdrawn": {},
    "expired": {},
}
EVENTS = {"send": "offer.sent", "withdraw": "offer.withdrawn"}
UNICORN = "🦄"


def later(**delta: int) -> str:
    return iso(now() + timedelta(**delta or {"days": 3}))


def draft(api: Api, application_id: str, **changes: Any) -> dict[str, Any]:
    made = api.post("/offers/", {"application_id": application_id, **LETTER, **changes})
    assert made.status_code == 201, made.text
    return dict(made.json())


def an_application(api: Api, status: str = "advanced") -> dict[str, Any]:
    return arrange(api, status)


def act(api: Api, offer: dict[str, Any], action: str) -> Any:
    if action == "update":
        return api.patch(f"/offers/{offer['id']}/", {"title": "Engineer"})
    return api.post(f"/offers/{offer['id']}/{action}/")


def sent(api: Api, application: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    made = draft(api, (application or an_application(api))["id"], **changes)
    answer = act(api, made, "send")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def token(offer: dict[str, Any]) -> str:
    return str(offer["respond_url"].rpartition("/")[2])


def answers(api: Api, offer: dict[str, Any], name: str, **body: Any) -> Any:
    return candidate(api).post(f"/offers/{token(offer)}/{name}/", *([body] if body else []))


def shown(api: Api, offer: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in api.get(f"/offers/{offer['id']}/").json().items() if name != "meta"}


def expire(offer: dict[str, Any]) -> None:
    """Let an offer's time be over before the schedule comes by."""
    with store.transaction() as session:
        session.execute(
            update(Offer).where(Offer.id == offer["id"]).values(expires_at=now() - timedelta(seconds=1))
        )


def arrange_offer(api: Api, status: str) -> dict[str, Any]:
    if status in ("draft", "scheduled"):
        moment = {"scheduled_send_at": later()} if status == "scheduled" else {}
        return draft(api, an_application(api)["id"], **moment)
    offer = sent(api, expires_at=later())
    if status == "withdrawn":
        act(api, offer, "withdraw")
    if status in ("accepted", "declined"):
        answers(api, offer, status.removesuffix("ed") if status == "accepted" else "decline")
    if status == "expired":
        expire(offer)
        from workers import schedule  # noqa: PLC0415

        [kind] = [one for one in schedule.KINDS if one.name == "offer expiries"]
        kind.batch()
    found = shown(api, offer)
    assert found["status"] == status
    return found


@pytest.mark.parametrize("action", ["send", "withdraw", "update"])
@pytest.mark.parametrize("status", TABLE)
def test_an_offer_moves_by_the_table(tenant: Tenant, status: str, action: str) -> None:
    before = arrange_offer(tenant.live, status)
    events = told(tenant.live)
    answer = act(tenant.live, before, action)
    new = [one["type"] for one in told(tenant.live)[len(events) :]]
    target = TABLE[status].get(action)
    if target is None:
        assert refusal(answer, 400, "VALIDATION_ERROR")["details"]["status"] == status
        assert (shown(tenant.live, before), new) == (before, [])
        return
    assert (answer.status_code, answer.json()["status"]) == (200, target)
    assert shown(tenant.live, before) == answer.json()
    assert new == ([EVENTS[action]] if action in EVENTS else [])


# --- Drafting


def test_a_draft_needs_its_application_alone(tenant: Tenant) -> None:
    application = an_application(tenant.live)
    made = tenant.live.post("/offers/", {"application_id": application["id"]})
    assert made.status_code == 201
    body = made.json()
    assert (body["status"], body["title"], body["body_html"], body["respond_url"]) == ("draft", "", "", None)
    assert (body["candidate_email"], body["job_slug"]) == (application["email"], application["job_slug"])
    details = refusal(act(tenant.live, body, "send"), 400, "VALIDATION_ERROR")["details"]
    assert [one["pointer"] for one in details["fields"]] == ["/title", "/body_html"]
    assert told(tenant.live)[-1]["type"] != "offer.sent"


def test_a_letter_is_made_safe_when_it_comes_in(tenant: Tenant) -> None:
    body = "<p onclick='x()'>Hi<script>alert(1)</script> <img src='https://example.com/x.png'><b>you</b></p>"
    made = draft(tenant.live, an_application(tenant.live)["id"], body_html=body)
    assert made["body_html"] == "<p>Hi <b>you</b></p>"
    changed = tenant.live.patch(f"/offers/{made['id']}/", {"body_html": "<iframe src='/'></iframe>ok"})
    assert changed.json()["body_html"] == "ok"


def test_a_letter_that_grows_beyond_its_bounds_is_refused(tenant: Tenant) -> None:
    links = "<a>" * 16_000
    request = {"application_id": an_application(tenant.live)["id"], "body_html": links}
    [fault] = refusal(tenant.live.post("/offers/", request), 400)["details"]["fields"]
    assert fault["pointer"] == "/body_html"


def test_characters_that_no_font_has_are_named_wherever_they_come_in(tenant: Tenant) -> None:
    application = an_application(tenant.live)
    made = draft(tenant.live, application["id"])
    for field in ("title", "compensation_text", "body_html"):
        said = {field: f"Welcome {UNICORN}"}
        for answer in (
            tenant.live.post("/offers/", {"application_id": application["id"], **said}),
            tenant.live.patch(f"/offers/{made['id']}/", said),
        ):
            [fault] = refusal(answer, 400, "VALIDATION_ERROR")["details"]["fields"]
            assert (fault["pointer"], f"{UNICORN} (U+1F984)" in fault["message"]) == (f"/{field}", True)
    assert shown(tenant.live, made) == made


def test_a_name_that_cannot_be_printed_stops_the_sending(tenant: Tenant) -> None:
    job = tenant.live.job(published=True)["slug"]
    application = tenant.live.application(job, full_name=f"Ada {UNICORN}")
    made = draft(tenant.live, application["id"])
    [fault] = refusal(act(tenant.live, made, "send"), 400)["details"]["fields"]
    assert fault["pointer"] == "/candidate_name"
    refusal(tenant.live.get(f"/offers/{made['id']}/pdf/"), 400, "VALIDATION_ERROR")


def test_a_moment_of_sending_makes_it_scheduled_and_null_a_draft_again(tenant: Tenant) -> None:
    made = draft(tenant.live, an_application(tenant.live)["id"], scheduled_send_at=later())
    assert made["status"] == "scheduled"
    back = tenant.live.patch(f"/offers/{made['id']}/", {"scheduled_send_at": None}).json()
    assert (back["status"], back["scheduled_send_at"]) == ("draft", None)
    again = tenant.live.patch(f"/offers/{made['id']}/", {"scheduled_send_at": later()}).json()
    assert again["status"] == "scheduled"


# --- Sending


def test_an_offer_is_sent_with_one_mail_and_its_link(tenant: Tenant) -> None:
    application = an_application(tenant.live)
    offer = sent(tenant.live, application, expires_at=later(), start_date="2031-01-02")
    assert (offer["status"], offer["sent_at"] is not None) == ("sent", True)
    assert offer["respond_url"].startswith("http")
    [event] = [one for one in told(tenant.live) if one["type"] == "offer.sent"]
    assert event["data"] == {
        "offer_id": offer["id"], "application_id": application["id"], "job_slug": application["job_slug"],
        "candidate_email": application["email"], "status": "sent", "title": offer["title"],
        "sent_at": offer["sent_at"], "responded_at": None, "decline_reason": "",
    }  # fmt: skip
    [mail] = mails("offer", application["email"])
    assert (mail["respond_url"], mail["livemode"]) == (offer["respond_url"], True)
    assert mail["letter"]["start_date"] == "2031-01-02"
    refusal(act(tenant.live, offer, "send"), 400)
    assert len(mails("offer", application["email"])) == 1


def test_one_offer_at_a_time_is_out_for_an_application(tenant: Tenant) -> None:
    application = an_application(tenant.live)
    first, second = sent(tenant.live, application), draft(tenant.live, application["id"])
    refusal(act(tenant.live, second, "send"), 400, "VALIDATION_ERROR")
    act(tenant.live, first, "withdraw")
    assert act(tenant.live, second, "send").json()["status"] == "sent"


def test_two_offers_sent_at_once_end_in_one(tenant: Tenant) -> None:
    application = an_application(tenant.live)
    made = [draft(tenant.live, application["id"]) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        codes = list(pool.map(lambda one: act(tenant.live, one, "send").status_code, made))
    assert sorted(codes) == [200] + [400] * 5
    assert len(mails("offer", application["email"])) == 1


@pytest.mark.parametrize("way", [["reject"], ["withdraw"], ["reject", "hold"], ["withdraw", "hold"]])
def test_nothing_is_sent_for_an_application_that_is_over(tenant: Tenant, way: list[str]) -> None:
    application = an_application(tenant.live)
    for step in way:
        tenant.live.post(f"/applications/{application['id']}/{step}/")
    made = draft(tenant.live, application["id"])
    details = refusal(act(tenant.live, made, "send"), 400, "VALIDATION_ERROR")["details"]
    assert details["status"] == {"reject": "rejected", "withdraw": "withdrawn"}[way[0]]


@pytest.mark.parametrize(("action", "event"), [("reject", "rejected"), ("withdraw", "withdrawn")])
def test_what_ends_an_application_withdraws_its_offers(tenant: Tenant, action: str, event: str) -> None:
    application = an_application(tenant.live)
    answered = sent(tenant.live, application)
    answers(tenant.live, answered, "decline")
    out = sent(tenant.live, application)
    others = [
        draft(tenant.live, application["id"]),
        draft(tenant.live, application["id"], scheduled_send_at=later()),
    ]
    tenant.live.post(f"/applications/{application['id']}/{action}/")
    assert [shown(tenant.live, one)["status"] for one in (out, *others)] == ["withdrawn"] * 3
    assert shown(tenant.live, answered)["status"] == "declined"
    new = [one["type"] for one in told(tenant.live)][-4:]
    assert new == [f"application.{event}"] + ["offer.withdrawn"] * 3
    assert refusal(answers(tenant.live, out, "accept"), 400)["details"]["status"] == "withdrawn"


def test_rejecting_again_changes_no_offer(tenant: Tenant) -> None:
    application = an_application(tenant.live)
    tenant.live.post(f"/applications/{application['id']}/reject/")
    made, events = draft(tenant.live, application["id"]), told(tenant.live)
    assert tenant.live.post(f"/applications/{application['id']}/reject/").status_code == 200
    assert (shown(tenant.live, made), told(tenant.live)) == (made, events)


def test_what_was_sent_stays_as_it_was_when_names_change(tenant: Tenant) -> None:
    application = an_application(tenant.live)
    offer = sent(tenant.live, application)
    before = tenant.live.get(f"/offers/{offer['id']}/pdf/").content
    tenant.live.patch(f"/jobs/{application['job_slug']}/update/", {"title": "Another job"})
    tenant.live.patch("/org/", {"name": "Renamed"})
    assert tenant.live.get(f"/offers/{offer['id']}/pdf/").content == before
    letter = candidate(tenant.live).get(f"/offers/{token(offer)}/").json()
    assert (letter["job_title"], letter["organisation_name"] != "Renamed") == (application["job_title"], True)


def test_the_printed_letter_is_a_pdf_to_be_saved(tenant: Tenant) -> None:
    made = draft(tenant.live, an_application(tenant.live)["id"])
    answer = tenant.live.get(f"/offers/{made['id']}/pdf/")
    assert answer.content.startswith(b"%PDF-")
    assert answer.headers["Content-Disposition"] == "attachment; filename=offer.pdf"
    assert answer.headers["Cache-Control"] == "private, no-store"


# --- Answering


def test_nobody_outside_knows_of_what_was_not_sent(tenant: Tenant) -> None:
    made = draft(tenant.live, an_application(tenant.live)["id"])
    with store.transaction() as session:
        secret = session.scalar(text("SELECT token FROM offers WHERE id = :id"), {"id": made["id"]})
    outside = candidate(tenant.live)
    for status in ("draft", "withdrawn"):
        if status == "withdrawn":
            act(tenant.live, made, "withdraw")
        refusal(outside.get(f"/offers/{secret}/"), 404, "NOT_FOUND")
        for name in ("accept", "decline"):
            refusal(outside.post(f"/offers/{secret}/{name}/"), 404, "NOT_FOUND")


def test_a_candidate_reads_the_letter_and_nothing_else(tenant: Tenant) -> None:
    offer = sent(tenant.live, compensation_text="EUR 1", expires_at=later())
    letter = candidate(tenant.live).get(f"/offers/{token(offer)}/").json()
    assert letter == {
        "status": "sent", "organisation_name": tenant.organisation.name, "candidate_name": "Ada Lovelace",
        "title": offer["title"], "job_title": offer["job_title"], "compensation_text": "EUR 1", "start_date": None,
        "body_html": offer["body_html"], "expires_at": offer["expires_at"], "sent_at": offer["sent_at"],
        "responded_at": None, "decline_reason": "",
    }  # fmt: skip


@pytest.mark.parametrize("status", ["submitted", "knockout_failed", "on_hold", "advanced"])
def test_accepting_hires_in_the_same_moment(tenant: Tenant, status: str) -> None:
    application = arrange(tenant.live, status)
    offer = sent(tenant.live, application)
    answer = answers(tenant.live, offer, "accept")
    assert (answer.status_code, answer.json()["status"]) == (200, "accepted")
    assert [one["type"] for one in told(tenant.live)][-2:] == ["offer.accepted", "application.hired"]
    hired = seen(tenant.live, application["id"])
    assert hired["status"] == "hired"
    last = hired["events"][-1]
    assert (last["type"], last["from_status"], last["actor"]) == ("hired", status, "candidate")
    assert last["details"] == {"offer_id": offer["id"]}
    found = shown(tenant.live, offer)
    assert (found["status"], found["responded_at"] is not None) == ("accepted", True)


def test_who_was_hired_meanwhile_may_accept_and_is_not_hired_twice(tenant: Tenant) -> None:
    application = an_application(tenant.live)
    offer = sent(tenant.live, application)
    tenant.live.post(f"/applications/{application['id']}/hire/")
    assert answers(tenant.live, offer, "accept").json()["status"] == "accepted"
    assert [one["type"] for one in told(tenant.live)].count("application.hired") == 1


def test_declining_keeps_the_reason(tenant: Tenant) -> None:
    offer = sent(tenant.live)
    answer = answers(tenant.live, offer, "decline", reason="Too far away.")
    assert (answer.json()["status"], answer.json()["decline_reason"]) == ("declined", "Too far away.")
    [event] = [one for one in told(tenant.live) if one["type"] == "offer.declined"]
    assert event["data"]["decline_reason"] == "Too far away."
    assert shown(tenant.live, offer)["decline_reason"] == "Too far away."
    refusal(answers(tenant.live, offer, "decline", reason="x" * 2001), 400)


@pytest.mark.parametrize(("first", "other"), [("accept", "decline"), ("decline", "accept")])
def test_the_same_answer_again_answers_the_same_and_the_other_is_refused(
    tenant: Tenant, first: str, other: str
) -> None:
    offer = sent(tenant.live)
    given = answers(tenant.live, offer, first).json()
    events = told(tenant.live)
    assert answers(tenant.live, offer, first).json() == given
    if first == "decline":
        assert answers(tenant.live, offer, first, reason="Another reason").json() == given
    details = refusal(answers(tenant.live, offer, other), 400, "VALIDATION_ERROR")["details"]
    assert details["status"] == given["status"]
    assert told(tenant.live) == events


def test_an_offer_is_over_at_its_moment_before_the_schedule_comes_by(tenant: Tenant) -> None:
    offer = sent(tenant.live, expires_at=later())
    expire(offer)
    assert candidate(tenant.live).get(f"/offers/{token(offer)}/").json()["status"] == "expired"
    for name in ("accept", "decline"):
        assert refusal(answers(tenant.live, offer, name), 400)["details"]["status"] == "expired"


def test_two_hundred_calls_at_once_end_in_one_state(tenant: Tenant) -> None:
    application = an_application(tenant.live)
    offer = sent(tenant.live, application)
    calls = {
        "accepted": lambda: answers(tenant.live, offer, "accept"),
        "declined": lambda: answers(tenant.live, offer, "decline"),
        "withdrawn": lambda: act(tenant.live, offer, "withdraw"),
    }
    names = list(itertools.islice(itertools.cycle(calls), 200))
    with ThreadPoolExecutor(12) as pool:
        codes = list(pool.map(lambda name: calls[name]().status_code, names))
    final = shown(tenant.live, offer)["status"]
    assert final in calls
    succeeded = {name for name, code in zip(names, codes, strict=True) if code == 200}
    assert (succeeded, set(codes)) == ({final}, {200, 400})
    events = [one["type"] for one in told(tenant.live)]
    told_of = [f"offer.{name}" for name in calls if f"offer.{name}" in events]
    assert (told_of, events.count(f"offer.{final}")) == ([f"offer.{final}"], 1)
    assert events.count("application.hired") == (final == "accepted")
    status = seen(tenant.live, application["id"])["status"]
    assert status == ("hired" if final == "accepted" else "advanced")


def test_a_rejection_beside_an_acceptance_ends_in_one_of_both(tenant: Tenant) -> None:
    for _ in range(5):
        application = an_application(tenant.live)
        offer = sent(tenant.live, application)
        with ThreadPoolExecutor(2) as pool:
            accepting = pool.submit(answers, tenant.live, offer, "accept")
            rejecting = pool.submit(tenant.live.post, f"/applications/{application['id']}/reject/")
        codes = (accepting.result().status_code, rejecting.result().status_code)
        ends = (shown(tenant.live, offer)["status"], seen(tenant.live, application["id"])["status"])
        assert (codes, ends) in (
            ((200, 400), ("accepted", "hired")),
            ((400, 200), ("withdrawn", "rejected")),
        )
