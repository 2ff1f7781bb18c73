"""Offers: every status by every move, and what stands in the way of sending."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rules import offers
from rules.errors import Invalid
from rules.moves import take

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
# move -> from where it leads to where; what is not here is refused.
TABLE = {
    "schedule": {"draft": "scheduled"},
    "unschedule": {"scheduled": "draft"},
    "send": {"draft": "sent", "scheduled": "sent"},
    "withdraw": {"draft": "withdrawn", "scheduled": "withdrawn", "sent": "withdrawn"},
    "accept": {"sent": "accepted"},
    "decline": {"sent": "declined"},
    "expire": {"sent": "expired"},
}
TEXTS: dict[str, str | None] = {"title": "Engineer", "body_html": "Dear Ada", "start_date": None}


def send(**changes: Any) -> Any:
    given: dict[str, Any] = {
        "texts": TEXTS,
        "unprintable": [],
        "expires_at": None,
        "application_status": "advanced",
        "others_sent": False,
        "now": NOW,
    } | changes
    return offers.send(given.pop("status", "draft"), given.pop("texts"), **given)


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("status", offers.STATUSES)
def test_an_offer_moves_by_the_table_alone(name: str, status: str) -> None:
    target = TABLE[name].get(status)
    if target:
        assert take(offers.MOVES, name, status).target == target
    else:
        with pytest.raises(Invalid) as refusal:
            take(offers.MOVES, name, status)
        assert refusal.value.details == {"status": status}


def test_what_is_complete_is_sent() -> None:
    for status in ("draft", "scheduled"):
        move = send(status=status, expires_at=NOW + timedelta(seconds=1))
        assert (move.target, move.stamp, move.event) == ("sent", "sent_at", "offer.sent")


@pytest.mark.parametrize(
    ("changes", "pointers"),
    [
        ({"texts": TEXTS | {"title": " "}}, ["/title"]),
        ({"texts": TEXTS | {"body_html": "\n"}}, ["/body_html"]),
        ({"texts": TEXTS | {"title": "\u200b", "body_html": "\xa0\u200d\n"}}, ["/title", "/body_html"]),
        ({"expires_at": NOW}, ["/expires_at"]),
        ({"unprintable": [{"pointer": "/title", "message": "Cannot be printed 🦄."}]}, ["/title"]),
        ({"texts": {"title": "", "body_html": ""}, "expires_at": NOW}, ["/title", "/body_html", "/expires_at"]),
    ],
)  # fmt: skip
def test_what_is_missing_is_named_all_at_once(changes: dict[str, Any], pointers: list[str]) -> None:
    with pytest.raises(Invalid) as refusal:
        send(**changes)
    assert [one["pointer"] for one in refusal.value.details["fields"]] == pointers


@pytest.mark.parametrize("status", ["rejected", "withdrawn"])
def test_nothing_is_sent_for_an_application_that_is_over(status: str) -> None:
    with pytest.raises(Invalid) as refusal:
        send(application_status=status)
    assert refusal.value.details == {"status": status}


def test_one_offer_at_a_time_is_out() -> None:
    with pytest.raises(Invalid):
        send(others_sent=True)


def test_a_sent_offer_expires_at_its_moment_whenever_the_schedule_comes_by() -> None:
    assert offers.status("sent", NOW, NOW) == "expired"
    assert offers.status("sent", NOW + timedelta(microseconds=1), NOW) == "sent"
    assert offers.status("sent", None, NOW) == "sent"
    assert offers.status("accepted", NOW, NOW) == "accepted"


def test_the_same_answer_again_is_no_move_and_the_other_is_refused() -> None:
    assert offers.answer("accept", "accepted") is None
    assert offers.answer("decline", "declined") is None
    for name, status in (("accept", "declined"), ("decline", "accepted"), ("accept", "expired")):
        with pytest.raises(Invalid) as refusal:
            offers.answer(name, status)
        assert refusal.value.details == {"status": status}


def test_a_moment_of_sending_makes_a_draft_scheduled_and_none_a_draft_again() -> None:
    targets = {
        (status, moment): getattr(offers.rescheduled(status, moment), "target", None)
        for status in ("draft", "scheduled")
        for moment in (NOW, None)
    }
    assert targets == {
        ("draft", NOW): "scheduled",
        ("draft", None): None,
        ("scheduled", NOW): None,
        ("scheduled", None): "draft",
    }


def test_why_an_offer_was_not_sent_is_said_in_one_line() -> None:
    with pytest.raises(Invalid) as refusal:
        send(texts={"title": "", "body_html": "Dear Ada"})
    assert offers.reason(refusal.value) == "The offer cannot be sent yet. title: An offer needs a title."
