"""An answer that is saved without a thread: the same as one in a transaction, or it is one."""

from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

import store
from store.assessing.invitations import Invitation
from store.assessing.sessions import CandidateSession
from tests.sittings import CHOICE, CODE, NUMBER, TEXT, Invited, invite
from tests.statements import statements
from tests.waiting import while_changing, while_held

__all__ = ["statements"]

LONG = "x" * 2_000  # what is as long as that is not read on the loop


def started(http: TestClient, *cases: dict[str, Any], **options: Any) -> Invited:
    invited = invite(*cases, **options)
    assert http.post(f"{invited.url}start/").status_code == 200
    return invited


def save(http: TestClient, invited: Invited, number: int, answer: Any, **more: Any) -> httpx.Response:
    place = f"{invited.url}answers/{invited.cases[number]}/"
    return http.put(place, json={"answer": answer, **more})


def began_before(invited: Invited, seconds: int) -> None:
    moved = {
        name: getattr(CandidateSession, name) - timedelta(seconds=seconds)
        for name in ("started_at", "saved_at")
    }
    mine = CandidateSession.invitation_id == invited.invitation().id
    with store.transaction() as session:
        session.execute(update(CandidateSession).where(mine).values(moved))


def test_it_leaves_what_a_transaction_leaves(
    http: TestClient, begun: list[Any], statements: list[str]
) -> None:
    kept = []
    for answer, threads in (("print(3)", 0), ("print(3)" + " " * 2_000, 1)):
        invited = started(http, CODE | {"languages": ["javascript"]})
        began_before(invited, 60)
        begun.clear()
        statements.clear()
        saved = save(http, invited, 0, answer, language="javascript")
        assert saved.status_code == 200
        assert len(begun) == threads
        assert len(statements) == (4 if threads else 2)
        [row] = invited.rows()
        [shown] = http.get(invited.url).json()["cases"]
        assert saved.json() == {
            "saved_at": shown["saved_at"],
            "deadline_at": http.get(invited.url).json()["deadline_at"],
        }
        assert row.answer == [answer]
        assert row.saved_at == row.updated_at == invited.session().saved_at  # type: ignore[union-attr]  # it has begun
        kept.append((row.language, row.status, row.time_spent_seconds // 30))
    assert kept == [("javascript", None, 2)] * 2


def test_a_list_of_results_that_changed_does_not_name_one_for_an_answer(http: TestClient) -> None:
    invited = started(http, TEXT)
    before = invited.session().updated_at  # type: ignore[union-attr]  # it has begun
    assert save(http, invited, 0, "It depends.").status_code == 200
    assert invited.session().updated_at == before  # type: ignore[union-attr]  # the same


def test_a_wrong_answer_needs_no_thread_to_be_refused(http: TestClient, begun: list[Any]) -> None:
    invited = started(http, CHOICE)
    begun.clear()
    assert save(http, invited, 0, "z").status_code == 400
    assert save(http, invited, 0, "a", language="python").status_code == 400
    assert begun == []
    assert invited.answers() == [None]


@pytest.mark.parametrize("answer", ["a", LONG])
def test_what_is_saved_while_it_is_handed_in_is_refused(http: TestClient, answer: str) -> None:
    """The invitation is completed by whom the save waits for."""
    invited = started(http, TEXT)
    hand_in = update(Invitation).where(Invitation.token == invited.token).values(status="completed")
    late = while_changing(hand_in, lambda: save(http, invited, 0, answer))
    assert (late.status_code, late.json()["error"]["code"]) == (409, "SESSION_CLOSED")
    assert invited.answers() == [None]


@pytest.mark.parametrize("answer", ["a", LONG])
def test_what_comes_after_the_deadline_is_refused_and_finishes_the_session(
    http: TestClient, answer: str
) -> None:
    invited = started(http, TEXT)
    invited.ends_in(-1)
    assert save(http, invited, 0, answer).status_code == 409
    assert invited.invitation().status == "completed"
    assert invited.answers() == [None]


@pytest.mark.parametrize("second", [5, "5" + " " * 2_000], ids=["both on the loop", "one in a thread"])
def test_two_answers_at_once_share_the_time_since_the_last(
    http: TestClient, database_url: str, second: Any
) -> None:
    """Both wait for the same row and have read before what was saved last: nothing."""
    invited = started(http, TEXT, NUMBER)
    began_before(invited, 100)
    hold = "SELECT FROM invitations WHERE token = %s FOR UPDATE"
    asks = [
        partial(save, http, invited, number, answer) for number, answer in enumerate(["It depends.", second])
    ]
    answers = while_held(database_url, hold, invited.token, asks)
    assert [one.status_code for one in answers] == [200, 200]
    assert 100 <= sum(row.time_spent_seconds for row in invited.rows()) < 150


def test_what_a_version_before_has_saved_counts(http: TestClient) -> None:
    """It says so in the case alone."""
    invited = started(http, TEXT, NUMBER)
    began_before(invited, 100)
    assert save(http, invited, 0, "It depends.").status_code == 200
    with store.transaction() as session:
        mine = CandidateSession.invitation_id == invited.invitation().id
        session.execute(update(CandidateSession).where(mine).values(saved_at=None))
    assert save(http, invited, 1, 5).status_code == 200
    assert sum(row.time_spent_seconds for row in invited.rows()) < 150
