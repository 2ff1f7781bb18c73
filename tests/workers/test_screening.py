"""Screening in a worker: the CV read, the score kept, the good ones advanced, and nothing done twice."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, update

import store
from gateways import models
from rules.clock import now
from store.applying.applications import Application
from store.applying.attachments import Attachment
from store.outbox import OutboxItem
from tests.api import Api, Tenant, address
from tests.pipelines import MANUAL, measured, pipeline, use
from tests.receiver import Answer, Receiver, running
from workers import schedule, screening

CV = b"""Ada Lovelace
ada@example.com

Skills: Python, PostgreSQL, Docker

Experience
2015 - 2023 Engineer, Analytical Ltd
"""
PYTHON = {"kind": "custom", "importance": "must", "key": "python", "label": "Python", "values": ["Python"]}
COBOL = {"kind": "custom", "importance": "should", "key": "cobol", "label": "COBOL", "values": ["COBOL"]}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """The server of a model."""
    with running() as server:
        yield server


@pytest.fixture(autouse=True)
def no_model() -> Iterator[None]:
    yield
    models.configure(base_url="", model="", api_key="")


def arrange(api: Api, *requirements: dict[str, Any], **settings: Any) -> str:
    slug = str(api.job(published=True, **settings)["slug"])
    api.put(f"/jobs/{slug}/requirements/replace/", {"requirements": list(requirements)})
    return slug


def apply(api: Api, job: str, cv: bytes | None = CV, **answers: Any) -> str:
    form = {"job_slug": job, "email": address(), "full_name": "Ada", "answers": json.dumps(answers)}
    made = api.post("/applications/create/", data=form, files={"cv": ("cv.txt", cv)} if cv else {})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def asked(id: str) -> list[dict[str, Any]]:
    with store.transaction() as session:
        found = session.scalars(
            select(OutboxItem).where(OutboxItem.job.in_(("screen", "brief"))).order_by(OutboxItem.id)
        )
        return [one.arguments for one in found if one.arguments["application_id"] == id]


def screen(id: str) -> None:
    for arguments in asked(id):
        if arguments["action"] not in ("brief", "rerun_brief"):
            screening.screen(UUID(int=0), arguments)
    for arguments in asked(id):
        if arguments["action"] == "brief":
            screening.brief(UUID(int=0), arguments)


def result(api: Api, id: str) -> dict[str, Any]:
    return dict(api.get(f"/applications/{id}/screening/").json())


def told(api: Api, type: str) -> list[dict[str, Any]]:
    return [one["data"] for one in api.get("/events/", params={"type": type}).json()["results"]]


@pytest.mark.parametrize("change", [{"is_active": False}, None])
def test_what_only_a_question_could_meet_does_not_count_once_it_is_not_asked(
    tenant: Tenant, change: dict[str, Any] | None
) -> None:
    job = str(tenant.test.job(published=True)["slug"])
    content = {"label": "Years", "key": "years", "field_type": "number"}
    field = tenant.test.post(f"/jobs/{job}/fields/", content).json()
    years = {"kind": "years", "key": "cobol", "label": "COBOL", "min_years": 3, "field": "years"}
    tenant.test.put(f"/jobs/{job}/requirements/replace/", {"requirements": [PYTHON, years]})
    at = f"/jobs/{job}/fields/{field['id']}/"
    assert (tenant.test.patch(at, change) if change else tenant.test.delete(at)).is_success
    id = apply(tenant.test, job)
    screen(id)
    found = result(tenant.test, id)
    assert (found["l3_score"], [one["key"] for one in found["evidence"]]) == ("100.00", ["python"])


@pytest.mark.parametrize("action", ["full", "rerun_parse"])
def test_the_present_of_a_cv_is_the_day_it_was_received(tenant: Tenant, action: str) -> None:
    years = {"kind": "years", "key": "work", "label": "Years", "min_years": 10}
    cv = CV.replace(b"2015 - 2023", b"%d - present" % (now().year - 5))
    id = apply(tenant.test, arrange(tenant.test, years), cv)
    with store.transaction() as session:  # as if this were read two years later
        came = update(Attachment).where(Attachment.application_id == UUID(id))
        session.execute(came.values(created_at=Attachment.created_at - timedelta(days=731)))
    screen(id)
    first = result(tenant.test, id)
    assert first["profile"]["positions"][0]["end"][:4] == str(now().year - 2)
    again = tenant.test.post(f"/applications/{id}/screening/rerun/", {"action": action}).json()
    assert again["profile"] == first["profile"]


def test_an_application_is_read_and_scored_with_evidence(tenant: Tenant) -> None:
    id = apply(tenant.live, arrange(tenant.live, PYTHON, COBOL))
    assert result(tenant.live, id)["status"] == "pending"
    screen(id)
    found = result(tenant.live, id)
    assert (found["status"], found["parse_error"], found["l3_score"]) == ("scored", "", "70.00")
    assert found["l3_breakdown"] == {"must": 100.0, "should": 0.0, "coverage": 50.0}
    assert [(one["key"], one["matched"]) for one in found["evidence"]] == [
        ("python", "1.00"),
        ("cobol", "0.00"),
    ]
    assert found["model_version"].startswith("l3-")
    assert "Python" in found["profile"]["skills"]
    assert "text" not in found["profile"]  # the CV itself is an attachment
    assert found["screened_at"]
    [event] = told(tenant.live, "application.screened")
    assert event["screening"] == {
        "status": "scored",
        "l1_passed": True,
        "l3_score": "70.00",
        "auto_advanced": False,
    }
    item = tenant.live.get(f"/applications/{id}/").json()
    assert item["screening"]["l3_score"] == "70.00"
    assert [one["type"] for one in item["events"]] == ["submitted", "screened"]


def test_screening_is_done_once_however_often_it_is_asked_for(tenant: Tenant) -> None:
    id = apply(tenant.live, arrange(tenant.live, PYTHON))
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: screen(id), range(3)))
    screen(id)
    assert len(told(tenant.live, "application.screened")) == 1


def test_without_a_cv_the_answers_alone_are_scored(tenant: Tenant) -> None:
    job = arrange(tenant.live)
    tenant.live.post(f"/jobs/{job}/fields/", {"key": "years", "label": "Years", "field_type": "number"})
    wanted = {"kind": "years", "field": "years", "min_years": 4, "key": "years", "label": "Years"}
    tenant.live.put(f"/jobs/{job}/requirements/replace/", {"requirements": [wanted]})
    id = apply(tenant.live, job, None, years=2)
    screen(id)
    found = result(tenant.live, id)
    assert (found["status"], found["l3_score"], found["profile"]) == ("scored", "50.00", None)


def test_a_cv_that_cannot_be_read_says_why_and_has_no_score(tenant: Tenant) -> None:
    job = arrange(tenant.live, PYTHON, screen_auto_advance_enabled=True, screen_auto_advance_l3_min=0)
    id = apply(tenant.live, job, b"%PDF-1.7\nbroken")
    screen(id)
    found = result(tenant.live, id)
    assert (found["status"], found["l3_score"], found["auto_advanced"]) == ("failed", None, False)
    assert found["parse_error"]
    assert told(tenant.live, "application.screened")[0]["screening"]["status"] == "failed"


# --- Auto-advance


@pytest.mark.parametrize(("given", "knocked", "advanced"), [
    ({"screen_auto_advance_enabled": True, "screen_auto_advance_l3_min": "70.00"}, False, True),
    ({"screen_auto_advance_enabled": True, "screen_auto_advance_l3_min": "70.01"}, False, False),
    ({"screen_auto_advance_enabled": False, "screen_auto_advance_l3_min": "10"}, False, False),
    ({"screen_auto_advance_enabled": True, "screen_auto_advance_l3_min": None}, False, False),
    ({"screen_auto_advance_enabled": True, "screen_auto_advance_l3_min": "10"}, True, False),
])  # fmt: skip
def test_who_reaches_the_threshold_advances(
    tenant: Tenant, given: dict, knocked: bool, advanced: bool
) -> None:
    assessment = tenant.live.assessment()
    job = arrange(tenant.live, PYTHON, COBOL, assessment_id=assessment["id"], **given)
    if knocked:
        tenant.live.post(f"/jobs/{job}/fields/", {"key": "fit", "label": "Fit?", "field_type": "boolean"})
        rules = {"rules": [{"field_key": "fit", "operator": "truthy"}]}
        tenant.live.put(f"/jobs/{job}/knockout-rules/replace/", rules)
    id = apply(tenant.live, job)
    screen(id)
    found = tenant.live.get(f"/applications/{id}/").json()
    assert found["status"] == ("advanced" if advanced else "knockout_failed" if knocked else "submitted")
    assert found["screening"]["auto_advanced"] is advanced
    assert len(tenant.live.get("/invites/").json()["results"]) == int(advanced)
    assert told(tenant.live, "application.screened")[0]["screening"]["auto_advanced"] is advanced
    if advanced:
        assert found["events"][-1]["actor"] == "system"
        assert len(told(tenant.live, "application.advanced")) == 1


def test_a_hold_pauses_the_advance(tenant: Tenant) -> None:
    job = arrange(tenant.live, PYTHON, screen_auto_advance_enabled=True, screen_auto_advance_l3_min=1)
    id = apply(tenant.live, job)
    tenant.live.post(f"/applications/{id}/hold/")
    screen(id)
    assert tenant.live.get(f"/applications/{id}/").json()["status"] == "on_hold"


def test_who_is_held_by_a_knockout_is_scored_and_stays_on_hold(tenant: Tenant) -> None:
    job = arrange(tenant.live, PYTHON, screen_auto_advance_enabled=True, screen_auto_advance_l3_min=1)
    tenant.live.post(f"/jobs/{job}/fields/", {"key": "fit", "label": "Fit?", "field_type": "boolean"})
    rules = {"rules": [{"field_key": "fit", "operator": "truthy", "on_fail": "hold"}]}
    tenant.live.put(f"/jobs/{job}/knockout-rules/replace/", rules)
    id = apply(tenant.live, job)
    screen(id)
    found = tenant.live.get(f"/applications/{id}/").json()
    assert (found["status"], found["screening"]["status"]) == ("on_hold", "scored")
    assert (found["screening"]["l1_passed"], found["screening"]["l3_score"]) == (False, "100.00")
    assert tenant.live.post(f"/applications/{id}/unhold/").json()["status"] == "submitted"
    assert told(tenant.live, "application.advanced") == []


def test_an_advance_that_is_refused_is_written_down(tenant: Tenant) -> None:
    assessment = tenant.live.assessment(active=False)
    job = arrange(
        tenant.live,
        PYTHON,
        assessment_id=assessment["id"],
        screen_auto_advance_enabled=True,
        screen_auto_advance_l3_min=1,
    )
    id = apply(tenant.live, job)
    screen(id)
    found = tenant.live.get(f"/applications/{id}/").json()
    assert (found["status"], found["screening"]["status"]) == ("submitted", "scored")
    [refused] = [one for one in found["events"] if one["type"] == "advance_refused"]
    assert refused["details"]["code"] == "ASSESSMENT_NOT_ACTIVE"
    assert told(tenant.live, "application.advanced") == []


def test_nobody_is_enrolled_by_an_advance_that_is_refused(tenant: Tenant) -> None:
    slug = pipeline(tenant.live, measured(tenant.live), MANUAL)
    settings = {"screen_auto_advance_enabled": True, "screen_auto_advance_l3_min": 1}
    job = arrange(tenant.live, PYTHON, pipeline_slug=slug, **settings)
    first, second = apply(tenant.live, job), apply(tenant.live, job)
    screen(first)
    assert tenant.live.get(f"/applications/{first}/").json()["enrollment_id"] is not None
    use(tenant, 1000)
    screen(second)
    found = tenant.live.get(f"/applications/{second}/").json()
    assert (found["status"], found["enrollment_id"]) == ("submitted", None)
    [refused] = [one for one in found["events"] if one["type"] == "advance_refused"]
    assert refused["details"]["code"] == "INVITE_QUOTA_EXCEEDED"
    assert len(tenant.live.get(f"/pipelines/{slug}/enrollments/").json()["results"]) == 1
    assert len(told(tenant.live, "pipeline.enrolled")) == 1


@pytest.mark.parametrize(
    ("ordering", "misses"), [("submitted_at", False), ("-submitted_at", False), ("-l3_score", True)]
)
def test_a_score_that_comes_between_two_pages_moves_nobody_in_the_order_in_which_they_came(
    tenant: Tenant, ordering: str, misses: bool
) -> None:
    job = arrange(tenant.live, PYTHON)
    ids = [apply(tenant.live, job) for _ in range(3)]
    query = {"job_slug": job, "ordering": ordering, "page_size": 1}
    page = tenant.live.get("/applications/", params=query).json()
    met = [one["id"] for one in page["results"]]
    late = next(id for id in ids if id not in met)
    screen(late)
    while page["next"]:
        page = tenant.live.get(page["next"].partition("/api/v1/public")[2]).json()
        met += [one["id"] for one in page["results"]]
    assert sorted(met) == sorted(id for id in ids if not (misses and id == late))


# --- Rerun


def rerun(api: Api, id: str, action: str | None = None) -> dict[str, Any]:
    answer = api.post(f"/applications/{id}/screening/rerun/", *([{"action": action}] if action else []))
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_each_step_can_be_run_again(tenant: Tenant) -> None:
    job = arrange(tenant.live, COBOL)
    id = apply(tenant.live, job)
    assert rerun(tenant.live, id, "rerun_parse")["status"] == "parsed"
    assert told(tenant.live, "application.screened") == []
    scored = rerun(tenant.live, id, "rescore")
    assert (scored["status"], scored["l3_score"]) == ("scored", "0.00")
    tenant.live.put(f"/jobs/{job}/requirements/replace/", {"requirements": [PYTHON]})
    assert rerun(tenant.live, id, "rescore")["l3_score"] == "100.00"
    whole = rerun(tenant.live, id)
    assert (whole["status"], whole["l3_score"]) == ("scored", "100.00")
    assert whole["evidence"] == rerun(tenant.live, id, "full")["evidence"]
    assert "off" in rerun(tenant.live, id, "rerun_brief")["brief_error"]
    screen(id)  # the first asking finds it done
    assert len(told(tenant.live, "application.screened")) == 5


def test_who_reaches_the_threshold_by_a_new_score_is_advanced_too(tenant: Tenant) -> None:
    job = arrange(tenant.live, COBOL, screen_auto_advance_enabled=True, screen_auto_advance_l3_min="60")
    id = apply(tenant.live, job)
    screen(id)
    assert tenant.live.get(f"/applications/{id}/").json()["status"] == "submitted"
    tenant.live.put(f"/jobs/{job}/requirements/replace/", {"requirements": [PYTHON]})
    assert rerun(tenant.live, id, "rescore")["auto_advanced"] is True
    assert tenant.live.get(f"/applications/{id}/").json()["status"] == "advanced"


# --- The AI brief

BRIEF = {"brief": "Ada knows Python.", "red_flags": ["Gap in 2024"], "rationale": "Her skills section."}


def says(content: str) -> Answer:
    return Answer(200, {}, json.dumps({"choices": [{"message": {"content": content}}]}).encode())


def test_without_a_model_only_the_brief_is_missing(tenant: Tenant) -> None:
    plain = apply(tenant.live, arrange(tenant.live, PYTHON))
    wanted = apply(tenant.live, arrange(tenant.live, PYTHON, cv_analysis_enabled=True))
    for id in (plain, wanted):
        screen(id)
    found, without = result(tenant.live, wanted), result(tenant.live, plain)
    assert "ASSISTANT_BASE_URL" in found["brief_error"]
    assert without["brief_error"] == ""
    for name in ("status", "l3_score", "evidence", "l3_breakdown", "ai_brief"):
        assert found[name] == without[name]


def test_a_brief_is_written_and_never_changes_the_score(tenant: Tenant, receiver: Receiver) -> None:
    models.configure(base_url=receiver.url, model="small", api_key="secret")
    receiver.answer(says(f"Here it is:\n```json\n{json.dumps(BRIEF)}\n```"))
    id = apply(tenant.live, arrange(tenant.live, PYTHON, COBOL, cv_analysis_enabled=True))
    screen(id)
    found = result(tenant.live, id)
    assert (found["status"], found["l3_score"], found["brief_error"]) == ("briefed", "70.00", "")
    assert (found["ai_brief"], found["ai_red_flags"], found["ai_rationale"]) == tuple(BRIEF.values())
    [request] = receiver.requests
    assert request.headers["authorization"] == "Bearer secret"
    assert "Python" in request.json["messages"][1]["content"]


@pytest.mark.parametrize("answer", [
    Answer(500), Answer(200, {}, b"no json"), Answer(200, {}, b"{}"), says("I would rather not."),
    says('{"brief": ""}'), says('{"brief": 1}'), says("[]"),
])  # fmt: skip
def test_a_brief_that_fails_says_so_and_nothing_else_changes(
    tenant: Tenant, receiver: Receiver, answer: Answer
) -> None:
    models.configure(base_url=receiver.url, model="small", api_key="")
    receiver.answer(answer)
    id = apply(tenant.live, arrange(tenant.live, PYTHON, cv_analysis_enabled=True))
    screen(id)
    found = result(tenant.live, id)
    assert (found["status"], found["l3_score"], found["ai_brief"]) == ("scored", "100.00", "")
    assert found["brief_error"]


def test_a_model_that_takes_too_long_is_waited_for_after_the_request(
    tenant: Tenant, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.configure(base_url=receiver.url, model="small", api_key="")
    patience = threading.Event()
    receiver.answer(lambda _: says(json.dumps(BRIEF)) if patience.wait(60) else Answer(500))
    monkeypatch.setattr("handlers.screening.SECONDS", 8.0)  # more than reading the CV takes
    id = apply(tenant.live, arrange(tenant.live, PYTHON, cv_analysis_enabled=True))
    late = rerun(tenant.live, id)
    assert (late["status"], late["l3_score"]) == ("pending", "100.00")
    assert asked(id)[-1]["action"] == "rerun_brief"
    patience.set()
    screening.brief(UUID(int=0), asked(id)[-1])
    assert (result(tenant.live, id)["status"], result(tenant.live, id)["ai_brief"]) == (
        "briefed",
        BRIEF["brief"],
    )


# --- Lists by score


def test_lists_run_by_score_and_those_without_come_last(tenant: Tenant) -> None:
    job = arrange(tenant.live)
    ids = [apply(tenant.live, job, None) for _ in range(7)]
    scores = [None, "50.00", "100.00", "50.00", None, "0.00", "99.99"]
    with store.transaction() as session:
        for id, score in zip(ids, scores, strict=True):
            session.execute(update(Application).where(Application.id == id).values(l3_score=score))
    order = [ids[place] for place in (2, 6, 3, 1, 5, 4, 0)]
    for size in (1, 2, 3, 7):
        forward, page = [], tenant.live.get(f"/applications/?page_size={size}").json()
        pages = [page]
        while page["next"]:
            page = tenant.live.get(page["next"].partition("/api/v1/public")[2]).json()
            pages.append(page)
        forward = [one["id"] for page in pages for one in page["results"]]
        assert forward == order
        back = [one["id"] for one in page["results"]]
        while page["previous"]:
            page = tenant.live.get(page["previous"].partition("/api/v1/public")[2]).json()
            back = [one["id"] for one in page["results"]] + back
        assert back == order


# --- Mails of rejection


def turn() -> None:
    kinds = [kind for kind in schedule.KINDS if kind.name == "rejection mails"]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: [schedule.turn(kind, threading.Event()) for kind in kinds], range(3)))


def mails(to: str) -> int:
    with store.transaction() as session:
        found = session.scalars(select(OutboxItem).where(OutboxItem.job == "mail")).all()
        return len(
            [
                one
                for one in found
                if (one.arguments.get("template"), one.arguments.get("to")) == ("rejection", to)
            ]
        )


def a_day_passes(id: str) -> None:
    with store.transaction() as session:
        row = session.get(Application, UUID(id))
        assert row is not None
        assert row.rejection_mail_at is not None
        assert row.rejection_mail_at > now() + timedelta(hours=23, minutes=59)
        row.rejection_mail_at -= timedelta(hours=24)


def test_a_delayed_rejection_is_mailed_a_day_later_and_once(tenant: Tenant) -> None:
    made = tenant.live.application(arrange(tenant.live))
    tenant.live.post(f"/applications/{made['id']}/reject/", {})
    turn()
    assert mails(made["email"]) == 0
    a_day_passes(made["id"])
    turn()
    turn()
    assert mails(made["email"]) == 1


def test_who_is_taken_back_meanwhile_is_not_mailed(tenant: Tenant) -> None:
    made = tenant.live.application(arrange(tenant.live))
    path = f"/applications/{made['id']}"
    tenant.live.post(f"{path}/reject/", {})
    a_day_passes(made["id"])
    tenant.live.post(f"{path}/hold/")
    turn()
    assert mails(made["email"]) == 0
    tenant.live.post(f"{path}/advance/")
    tenant.live.post(f"{path}/hold/")
    turn()
    assert mails(made["email"]) == 0
