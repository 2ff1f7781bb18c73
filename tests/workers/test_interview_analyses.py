"""The analysis of an interview: asked for when it ends, made once, told of, and said to have failed where it has."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

import store
from rules import analysis
from store.database.ids import new_id
from store.interviewing import rooms
from store.outbox import OutboxItem
from tests.api import Api, Tenant
from tests.interviews import arrange, make, moved, told
from workers import analyses
from workers.jobs import JOBS


def asked(id: str) -> list[dict[str, Any]]:
    with store.transaction() as session:
        wanted = select(OutboxItem.arguments).where(OutboxItem.job == "analyse")
        return [one for one in session.scalars(wanted) if one["interview_id"] == id]


def work(id: str) -> None:
    for one in asked(id):
        JOBS["analyse"].run(new_id(), one)


def read(api: Api, id: str) -> dict[str, Any]:
    found = api.get(f"/interviews/{id}/analysis/").json()
    return {name: one for name, one in found.items() if name not in ("meta", "room_id")}


def held(api: Api) -> dict[str, Any]:
    """An interview that has ended: something was said, a program ran, the window was left."""
    made = make(
        api,
        candidate_email="ada@example.com",
        questions=[{"title": "Caching", "question_type": "technical", "expected_answer": "ETag"}],
    )
    moved(made["id"], "wait", "start")
    with store.transaction() as session:
        room = session.get_one(rooms.Interview, UUID(made["id"]))
        rooms.note(session, room, "message", "interviewer", content="Which header says so?")
        rooms.note(session, room, "message", "candidate", content="The ETag, I believe.")
        rooms.note(session, room, "message", "candidate", content="etag")
        rooms.note(session, room, "run", "candidate", outcome="ok", stdout="")
        rooms.note(session, room, "violation", "candidate", violation_type="focus_loss")
    moved(made["id"], "end")
    return made


def test_an_interview_that_has_ended_is_analysed_once_and_told_of(tenant: Tenant) -> None:
    api = tenant.live
    made = held(api)
    assert read(api, made["id"])["status"] == "pending"
    assert len(asked(made["id"])) == 1
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: work(made["id"]), range(4)))
    found = read(api, made["id"])
    assert (found["status"], found["summary"], found["overall_score"]) == ("ready", None, "100.00")
    assert list(found["scores"].values()) == ["100.00"]
    assert found["signals"]["violations"] == {"focus_loss": 1}
    assert found["signals"]["code_runs"] == 1
    assert found["signals"]["questions"] == {"count": 1, "asked": 1, "answered": 1}
    [ready] = [one["data"] for one in told(api) if one["type"] == "interview.analysis_ready"]
    assert (ready["interview_id"], ready["report_status"]) == (made["id"], "ready")
    assert (ready["overall_score"], ready["summary"]) == ("100.00", "")


@pytest.mark.parametrize("status", ["prepared", "scheduled", "waiting", "active", "expired", "no_show"])
def test_what_has_not_ended_is_not_analysed(tenant: Tenant, status: str) -> None:
    made = arrange(tenant.live, status)
    assert asked(made["id"]) == []
    analyses.analyse(new_id(), {"interview_id": made["id"]})
    assert read(tenant.live, made["id"])["status"] == "pending"


def test_an_analysis_that_cannot_be_made_is_said_to_have_failed(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = tenant.live
    made = held(api)

    def fails(*_: Any) -> None:
        raise RuntimeError("no")

    with monkeypatch.context() as patch:
        patch.setattr(analysis, "analyse", fails)
        with pytest.raises(RuntimeError):
            work(made["id"])
    assert read(api, made["id"])["status"] == "pending"
    for _ in range(2):
        with store.transaction() as session:
            JOBS["analyse"].given_up(session, {"interview_id": made["id"]}, RuntimeError("no"))
    assert read(api, made["id"]) == {
        "status": "failed", "summary": None, "scores": {}, "overall_score": None, "signals": {}
    }  # fmt: skip
    [failed] = [one["data"] for one in told(api) if one["type"] == "interview.analysis_ready"]
    assert (failed["report_status"], failed["overall_score"]) == ("failed", None)
    work(made["id"])
    assert read(api, made["id"])["status"] == "failed"


def test_an_interview_that_is_gone_is_nothing_to_do(tenant: Tenant) -> None:
    analyses.analyse(new_id(), {"interview_id": str(new_id())})
