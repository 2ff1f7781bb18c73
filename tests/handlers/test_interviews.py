"""Interviews: prepared from cases, templates and words, moved by the table, counted, shared and settled."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

import store
from store import catalogue
from tests.api import Tenant, address
from tests.api import tenant as a_tenant
from tests.interviews import act, arrange, due, later, mails, make, moved, shown, staged, told, use, used
from tests.operations import states
from tests.pipelines import INTERVIEW, MANUAL, enroll, measured, pipeline, sit
from tests.pipelines import act as do
from tests.pipelines import due as retried
from tests.pipelines import shown as enrollment
from tests.probes import refusal

STATUSES = ("prepared", "scheduled", "waiting", "active", "ended", "expired", "no_show")
# status -> action -> where it leads; what is not here is refused.
AHEAD = {"cancel": "expired", "reschedule": "scheduled"}
TABLE: dict[str, dict[str, str]] = {
    status: AHEAD if status in ("prepared", "scheduled", "waiting") else {} for status in STATUSES
}
EVENTS = {"cancel": "interview.cancelled", "reschedule": "interview.scheduled"}


# --- Rooms


def test_a_room_is_as_usual_where_nobody_says_more(tenant: Tenant) -> None:
    made = make(tenant.live)
    usual = {
        "status": "prepared", "mode": "org", "interview_type": "technical", "interviewer_mode": "human_only",
        "time_limit_minutes": 60, "active_language": "python", "integrity_config": {}, "human_can_join": True,
        "voice_mode": False, "candidate_email": "", "candidate_id": None, "identity_match": "unlinked",
        "questions": [], "messages": [], "session_metadata": {}, "whiteboard_snapshot": None, "outcome": None,
    }  # fmt: skip
    assert {name: made[name] for name in usual} == usual
    assert made["org_id"] == str(tenant.organisation.id)
    assert made["candidate_url"].endswith(f"/interview/{made['candidate_token']}")
    assert made["interviewer_url"] not in (None, made["candidate_url"])
    assert told(tenant.live) == []


def test_a_room_with_a_time_is_scheduled_and_told_of(tenant: Tenant) -> None:
    made = make(tenant.live, scheduled_at=later(), candidate_email="Ada@Example.com", candidate_name=" Ada ")
    assert (made["status"], made["candidate_email"], made["candidate_name"]) == (
        "scheduled", "Ada@example.com", "Ada",
    )  # fmt: skip
    [event] = told(tenant.live)
    assert event["type"] == "interview.scheduled"
    assert event["data"] == {
        "interview_id": made["id"], "title": made["title"], "status": "scheduled",
        "interview_type": "technical", "interviewer_mode": "human_only", "candidate_email": "Ada@example.com",
        "candidate_name": "Ada", "scheduled_at": made["scheduled_at"], "started_at": None, "ended_at": None,
    }  # fmt: skip
    person = tenant.live.get(f"/candidates/{made['candidate_id']}/").json()
    assert (person["full_name"], person["source_summary"]) == ("Ada", "Interview")


def test_questions_are_frozen_from_cases_and_ones_own_words(tenant: Tenant) -> None:
    case = states.a_case(tenant.live, **states.CHOICE)["id"]
    program = states.a_case(tenant.live, **states.CODE, starter_code="print(1)")["id"]
    made = make(
        tenant.live,
        interview_type="mixed",
        active_language="go",
        coding_case_ids=[program, case, program],
        questions=[{"title": "Why?", "hints": {"one": None}, "solution": "Because."}],
    )
    tenant.live.patch(f"/cases/{case}/update/", {"title": "Another"})
    tenant.live.delete(f"/cases/{program}/")
    found = shown(tenant.live, made["id"])["questions"]
    assert found == made["questions"]
    assert [(one["order"], one["source"], one["question_type"], one["is_active"]) for one in found] == [
        (0, "case", "coding", True), (1, "case", "mcq", False), (2, "manual", "text", False),
    ]  # fmt: skip
    assert (found[0]["current_code"], found[0]["current_language"]) == ("print(1)", "python")
    assert (found[1]["expected_answer"], "- No" in found[1]["body"]) == ("Yes", True)
    assert (found[2]["hints"], found[2]["solution"], found[2]["current_language"]) == (
        {"one": None}, "Because.", "go",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "pointers"),
    [
        ({"interviewer_mode": "ai_only"}, ["/job_description", "/resume_text"]),
        ({"interviewer_mode": "ai_only", "job_description": "A job", "resume_text": " "}, ["/resume_text"]),
        ({"interview_type": "coding"}, ["/coding_case_ids"]),
        ({"interview_type": "mixed", "questions": [{"question_type": "coding"}]}, ["/coding_case_ids"]),
        ({"human_can_join": False}, ["/human_can_join"]),
        ({"scheduled_at": "2020-01-01T00:00:00Z"}, ["/scheduled_at"]),
        ({"scheduled_at": "9999-12-31T23:59:00Z"}, ["/scheduled_at"]),
        ({"candidate_email": "nobody"}, ["/candidate_email"]),
        ({"interviewers": [str(uuid4())]}, ["/interviewers/0"]),
        ({"title": ""}, ["/title"]),
        ({"time_limit_minutes": -1}, ["/time_limit_minutes"]),
    ],
)
def test_what_no_room_can_be_made_of_is_refused_with_every_fault(
    tenant: Tenant, fields: dict[str, Any], pointers: list[str]
) -> None:
    answer = tenant.live.post("/interviews/create/", {"title": "Interview", **fields})
    assert [one["pointer"] for one in refusal(answer, 400)["details"]["fields"]] == pointers
    assert used(tenant) == 0


def test_a_coding_interview_takes_a_case_of_that_type_alone(tenant: Tenant) -> None:
    wanted = {"title": "Interview", "interview_type": "coding"}
    words = {"coding_case_ids": [states.a_case(tenant.live)["id"]]}
    refusal(tenant.live.post("/interviews/create/", {**wanted, **words}), 400)
    [task, *_] = tenant.live.get("/interviews/org-tasks/", params={"q": "http status"}).json()["results"]
    assert task["task_type"] == "coding"
    assert make(tenant.live, interview_type="coding", coding_case_ids=[task["id"]])["questions"]


def test_a_case_that_is_not_there_is_named(tenant: Tenant, other: Tenant) -> None:
    for id in (str(uuid4()), states.a_case(other.live)["id"], states.a_case(tenant.test)["id"]):
        answer = tenant.live.post("/interviews/create/", {"title": "Interview", "coding_case_ids": [id]})
        assert refusal(answer, 404, "CASE_NOT_FOUND")["details"]["case_id"] == id


def test_an_interview_by_the_ai_alone_lets_nobody_else_in(tenant: Tenant) -> None:
    texts = {"job_description": "A job", "resume_text": "A life", "interviewer_mode": "ai_only"}
    made = make(tenant.live, **texts)
    assert (made["human_can_join"], made["interviewer_url"]) == (False, None)
    assert make(tenant.live, **texts, human_can_join=True)["interviewer_url"]


def test_hybrid_interviews_need_the_growth_plan(http: TestClient) -> None:
    starter = a_tenant(http, plan="starter")
    for path, body in (
        ("create", {}),
        ("templates/create", {}),
        ("bulk", {"candidates": [{"email": "a@b.example"}]}),
    ):
        answer = starter.live.post(
            f"/interviews/{path}/", {"title": "I", "interviewer_mode": "hybrid", **body}
        )
        assert refusal(answer, 403, "PLAN_REQUIRED")["details"]["required_plan"] == "growth"
    template = states.post(starter.live, "/interviews/templates/create/", {"title": "T"})
    changed = starter.live.patch(
        f"/interviews/templates/{template['id']}/update/", {"interviewer_mode": "hybrid"}
    )
    refusal(changed, 403, "PLAN_REQUIRED")


def test_a_template_with_a_case_that_is_not_there_is_refused(tenant: Tenant) -> None:
    unknown = {"title": "T", "coding_case_ids": ["0195a3c2-7b1e-7c44-9d0a-3f2b8e6a1c55"]}
    refusal(tenant.live.post("/interviews/templates/create/", unknown), 404, "CASE_NOT_FOUND")


# --- Whom one knows


def test_who_has_completed_an_assessment_is_linked_to_the_newest_session(tenant: Tenant) -> None:
    stage, email = measured(tenant.live), address()
    sit(tenant.live, tenant.live.invitation(stage["assessment_slug"], email)["invite_token"])
    newer = measured(tenant.live)
    sit(tenant.live, tenant.live.invitation(newer["assessment_slug"], email)["invite_token"])
    made = make(tenant.live, candidate_email=email.upper())
    assert (made["identity_match"], made["linked_assessment_slug"]) == ("linked", newer["assessment_slug"])
    assert made["candidate_session_id"]
    [row] = tenant.live.get("/interviews/").json()["results"]
    assert row["linked_assessment_slug"] == newer["assessment_slug"]
    assert make(tenant.test, candidate_email=email)["identity_match"] == "unlinked"


def test_an_enrollments_address_is_the_candidates_unless_another_is_given(tenant: Tenant) -> None:
    made = enroll(tenant.live, pipeline(tenant.live, MANUAL))
    room = make(tenant.live, pipeline_enrollment_id=made["id"])
    assert (room["candidate_email"], room["candidate_name"]) == (made["email"], "Ada")
    another = make(tenant.live, pipeline_enrollment_id=made["id"], candidate_email=address())
    assert (another["identity_match"], another["candidate_session_id"]) == ("mismatch", None)
    assert another["candidate_id"] != room["candidate_id"]


# --- Lists


def test_a_list_is_searched_by_title_name_and_email_in_any_case(tenant: Tenant) -> None:
    ada = make(tenant.live, candidate_email="ada@example.com", candidate_name="Ada Lovelace")
    bob = make(tenant.live, title="50% of_it", candidate_email="bob@example.com")

    def found(q: str) -> list[str]:
        return [one["id"] for one in tenant.live.get("/interviews/", params={"q": q}).json()["results"]]

    assert found("LOVEL") == [ada["id"]]
    assert found("Bob@Exa") == found("50% OF_") == [bob["id"]]
    assert found("") == found("e") == [bob["id"], ada["id"]]
    assert found("%") == [bob["id"]]
    assert found("nobody") == []
    by = {"status": "prepared", "interview_type": "technical", "interviewer_mode": "human_only"}
    assert len(tenant.live.get("/interviews/", params=by).json()["results"]) == 2
    assert tenant.live.get("/interviews/", params={"status": "ended"}).json()["results"] == []


def test_tasks_are_the_catalogues_and_ones_own(tenant: Tenant, other: Tenant) -> None:
    mine = states.post(tenant.live, "/cases/create/", {"title": "Zebra crossing", **states.TEXT})["id"]
    states.post(other.live, "/cases/create/", {"title": "Zebra stripes", **states.TEXT})
    gone = states.post(tenant.live, "/cases/create/", {"title": "Zebra gone", **states.TEXT})["id"]
    tenant.live.delete(f"/cases/{gone}/")
    found = tenant.live.get("/interviews/org-tasks/", params={"q": "zebra"}).json()["results"]
    assert found == [{"id": mine, "title": "Zebra crossing", "task_type": "text", "difficulty": "medium"}]
    seen, place = [], "/interviews/org-tasks/?page_size=25"
    while place:
        page = tenant.live.get(place.rpartition("/public")[2]).json()
        seen, place = [*seen, *(one["id"] for one in page["results"])], page["next"]
    tasks = 1 + len(catalogue.load())
    assert (len(seen), len(set(seen)), mine in seen) == (tasks, tasks, True)


# --- Moves


@pytest.mark.parametrize("action", ["cancel", "reschedule"])
@pytest.mark.parametrize("status", STATUSES)
def test_a_room_moves_by_the_table(tenant: Tenant, status: str, action: str) -> None:
    before, events = arrange(tenant.live, status), len(told(tenant.live))
    body = {"scheduled_at": later(days=5)} if action == "reschedule" else {}
    answer = act(tenant.live, before["id"], action, **body)
    new = [one["type"] for one in told(tenant.live)[events:]]
    target = TABLE[status].get(action)
    if target is None:
        assert refusal(answer, 400, "VALIDATION_ERROR")["details"]["status"] == status
        assert (shown(tenant.live, before["id"]), new) == (before, [])
        return
    after = shown(tenant.live, before["id"])
    assert answer.json() == after
    assert (after["status"], new) == (target, [EVENTS[action]])  # interview.cancelled, interview.scheduled
    assert ("cancelled_at" in after["session_metadata"]) == (action == "cancel")
    assert action == "cancel" or after["scheduled_at"] == body["scheduled_at"]


def test_who_had_joined_joins_anew_at_the_new_time(tenant: Tenant) -> None:
    made = arrange(tenant.live, "waiting")
    with store.transaction() as session:
        session.execute(
            text("UPDATE interviews SET candidate_joined_at = now() WHERE id = :id"), {"id": made["id"]}
        )
    after = act(tenant.live, made["id"], "reschedule", scheduled_at=later()).json()
    assert (after["status"], after["candidate_joined_at"]) == ("scheduled", None)


def test_a_moment_that_has_passed_is_refused(tenant: Tenant) -> None:
    made = make(tenant.live)
    answer = act(tenant.live, made["id"], "reschedule", scheduled_at="2020-01-01T00:00:00Z")
    assert refusal(answer, 400)["details"]["fields"][0]["pointer"] == "/scheduled_at"


def test_two_that_cancel_at_once_cancel_once(tenant: Tenant) -> None:
    email = address()
    made = make(tenant.live, scheduled_at=later(), candidate_email=email, send_invite=True)
    with ThreadPoolExecutor(4) as pool:
        codes = sorted(
            one.result().status_code
            for one in [pool.submit(act, tenant.live, made["id"], "cancel") for _ in range(4)]
        )
    assert codes == [200, 400, 400, 400]
    assert [one["type"] for one in told(tenant.live)] == ["interview.scheduled", "interview.cancelled"]
    assert [one["what"] for one in mails(email)] == ["invited", "cancelled"]


# --- The month


def test_the_months_interviews_are_counted_and_run_out(tenant: Tenant) -> None:
    make(tenant.live)
    make(tenant.test)
    assert used(tenant) == 1
    use(tenant, 100)
    details = refusal(tenant.live.post("/interviews/create/", {"title": "One more"}), 403, "LIMIT_REACHED")[
        "details"
    ]
    assert (details["limit"], details["used"]) == (100, 100)
    make(tenant.test)
    assert used(tenant) == 100


def test_parallel_requests_never_take_more_than_the_month_has(tenant: Tenant) -> None:
    use(tenant, 97)
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(tenant.live.post, "/interviews/create/", {"title": "One"}) for _ in range(8)]
        codes = [one.result().status_code for one in asked]
    assert sorted(codes) == [201] * 3 + [403] * 5
    assert used(tenant) == 100


def test_many_are_prepared_in_one_request_and_bad_rows_refuse_no_other(tenant: Tenant) -> None:
    use(tenant, 98)
    rows = [
        {"email": "ada@example.com", "name": "Ada", "resume_text": "One"},
        {"email": "ADA@example.com"},
        {"email": "nobody"},
        {"email": " "},
        {},
        {"email": 7},
        {"email": "bob@example.com"},
        {"email": "eve@example.com"},
    ]
    body = {
        "title": "Interview",
        "candidates": rows,
        "scheduled_at": later(),
        "questions": [{"title": "Why?"}],
    }
    answer = tenant.live.post("/interviews/bulk/", body)
    assert answer.status_code == 201, answer.text
    found = answer.json()
    assert [one["email"] for one in found["created"]] == ["ada@example.com", "bob@example.com"]
    assert [(one["email"], one["code"]) for one in found["errors"]] == [
        ("ADA@example.com", "repeated_email"), ("nobody", "invalid_email"), (" ", "missing_email"),
        (None, "missing_email"), ("7", "invalid_email"), ("eve@example.com", "quota_exhausted"),
    ]  # fmt: skip
    first = shown(tenant.live, found["created"][0]["room_id"])
    assert (first["candidate_name"], first["resume_text"], len(first["questions"])) == ("Ada", "One", 1)
    assert [one["type"] for one in told(tenant.live)] == ["interview.scheduled"] * 2
    refusal(tenant.live.post("/interviews/bulk/", body), 403, "LIMIT_REACHED")
    assert used(tenant) == 100


def test_a_row_without_a_resume_gets_no_interview_by_the_ai_alone(tenant: Tenant) -> None:
    rows = [{"email": "ada@example.com"}, {"email": "bob@example.com", "resume_text": "A life"}]
    ai = {"interviewer_mode": "ai_only", "job_description": "A job"}
    found = tenant.live.post("/interviews/bulk/", {"title": "I", "candidates": rows, **ai}).json()
    assert [one["code"] for one in found["errors"]] == ["missing_resume"]
    assert [one["email"] for one in found["created"]] == ["bob@example.com"]


# --- Templates


def test_a_template_says_what_a_room_is_like_and_the_rooms_own_fields_win(tenant: Tenant) -> None:
    case = states.a_case(tenant.live, **states.CODE)["id"]
    member = states.a_member(tenant.live)["user_id"]
    template = states.post(
        tenant.live,
        "/interviews/templates/create/",
        {
            "title": "Backend", "interview_type": "coding", "coding_case_ids": [case], "time_limit_minutes": 0,
            "interviewers": [member], "difficulty": "senior",
        },
    )  # fmt: skip
    assert (template["active_language"], template["human_can_join"]) == ("python", True)
    tenant.live.delete(f"/cases/{case}/")  # the template's stands
    made = make(tenant.live, template_id=template["id"], difficulty="mid")
    assert (made["interview_type"], made["time_limit_minutes"], made["difficulty"]) == ("coding", 0, "mid")
    assert ([one["user_id"] for one in made["interviewers"]], len(made["questions"])) == ([member], 1)
    assert (
        make(tenant.live, template_id=template["id"], coding_case_ids=[], interview_type="technical")[
            "questions"
        ]
        == []
    )


def test_a_template_is_changed_and_deleted_and_rooms_stay(tenant: Tenant) -> None:
    template = states.an_interview_template(tenant.live)["template_id"]
    at = f"/interviews/templates/{template}/"
    changed = tenant.live.patch(
        f"{at}update/", {"time_limit_minutes": 30, "questions": [{"title": "Why?"}]}
    ).json()
    assert (changed["time_limit_minutes"], [one["title"] for one in changed["questions"]]) == (30, ["Why?"])
    again = tenant.live.patch(f"{at}update/", {"title": "Other"}).json()
    assert (again["title"], again["time_limit_minutes"]) == ("Other", 30)
    made = make(tenant.live, template_id=template)
    assert tenant.live.delete(f"{at}delete/").status_code == 204
    for answer in (
        tenant.live.get(at),
        tenant.live.delete(f"{at}delete/"),
        tenant.live.patch(f"{at}update/", {}),
    ):
        refusal(answer, 404)
    assert tenant.live.get("/interviews/templates/").json()["results"] == []
    refusal(tenant.live.post("/interviews/create/", {"title": "I", "template_id": template}), 404)
    assert shown(tenant.live, made["id"])["template_id"] == template


def test_a_template_that_keeps_out_those_who_interview_is_refused(tenant: Tenant) -> None:
    closed = {"human_can_join": False}
    answer = tenant.live.post("/interviews/templates/create/", {"title": "T", **closed})
    assert refusal(answer, 400)["details"]["fields"][0]["pointer"] == "/human_can_join"
    template = states.an_interview_template(tenant.live)["template_id"]
    refusal(tenant.live.patch(f"/interviews/templates/{template}/update/", closed), 400)
    both = {**closed, "interviewer_mode": "ai_only"}
    assert tenant.live.patch(f"/interviews/templates/{template}/update/", both).status_code == 200


# --- Sharing, reading


def test_a_share_is_kept_as_a_hash_and_shown_once(tenant: Tenant) -> None:
    made = make(tenant.live)
    shared = act(tenant.live, made["id"], "share", expires_days=3).json()
    assert shared["url"].endswith(f"/interview/shared/{shared['token']}")
    assert shared["expires_at"][:10] == later(days=3)[:10]
    assert act(tenant.live, made["id"], "share").json()["expires_at"][:10] == later(days=14)[:10]
    for days in (0, 366):
        refusal(act(tenant.live, made["id"], "share", expires_days=days), 400)
    with store.transaction() as session:
        mine = text("SELECT hash FROM interview_shares WHERE interview_id = :id")
        hashes = session.scalars(mine, {"id": made["id"]}).all()
    assert len(hashes) == 2
    assert shared["token"] not in hashes


def test_before_the_end_the_analysis_is_pending_and_the_replay_has_what_happened_so_far(
    tenant: Tenant,
) -> None:
    made = arrange(tenant.live, "active")
    at = f"/interviews/{made['id']}"
    analysis = {
        name: one for name, one in tenant.live.get(f"{at}/analysis/").json().items() if name != "meta"
    }
    assert analysis == {
        "room_id": made["id"], "status": "pending", "summary": None, "scores": {}, "overall_score": None,
        "signals": {},
    }  # fmt: skip
    with store.transaction() as session:
        for number, kind, seconds in ((1, "join", 1), (2, "message", 4)):
            session.execute(
                text("""
                INSERT INTO interview_events (interview_id, number, id, kind, actor, actor_name, data, at)
                SELECT id, :number, gen_random_uuid(), :kind, 'candidate', 'Ada', '{"content": "Hello"}',
                       started_at + make_interval(secs => :seconds)
                FROM interviews WHERE id = :id
                """),
                {"id": made["id"], "number": number, "kind": kind, "seconds": seconds},
            )
    replay = tenant.live.get(f"{at}/replay/").json()
    assert [(one["offset_ms"], one["kind"], one["actor"]) for one in replay["events"]] == [
        (1000, "join", "candidate"), (4000, "message", "candidate"),
    ]  # fmt: skip
    assert (replay["duration_ms"], replay["recording_url"]) == (4000, None)
    [message] = shown(tenant.live, made["id"])["messages"]
    assert (message["sender_role"], message["sender_name"], message["content"]) == (
        "candidate",
        "Ada",
        "Hello",
    )


# --- Outcomes and pipelines


def test_a_stage_prepares_its_room_from_the_template(tenant: Tenant) -> None:
    made, room = staged(tenant.live, title="Backend", time_limit_minutes=30, questions=[{"title": "Why?"}])
    assert (room["title"], room["time_limit_minutes"], room["status"]) == ("Backend", 30, "prepared")
    assert (room["pipeline_enrollment_id"], room["candidate_name"]) == (made["id"], "Ada")
    assert (made["waiting_reason"], used(tenant)) == (None, 1)
    assert len(shown(tenant.live, room["id"])["questions"]) == 1
    [mail] = mails(made["email"])
    assert (mail["what"], mail["interview_url"]) == ("invited", room["candidate_url"])


def test_a_stage_without_a_template_has_a_usual_room(tenant: Tenant) -> None:
    made = enroll(tenant.live, pipeline(tenant.live, {**INTERVIEW, "label": "Meet us"}), send_email=False)
    [room] = tenant.live.get("/interviews/", params={"q": made["email"]}).json()["results"]
    assert (room["title"], room["interviewer_mode"], mails(made["email"])) == ("Meet us", "human_only", [])


def test_a_stage_names_a_template_that_is_there_and_is_of_an_interview(tenant: Tenant, other: Tenant) -> None:
    theirs = states.an_interview_template(other.live)["template_id"]
    mine = states.an_interview_template(tenant.live)["template_id"]
    for stage in ({**INTERVIEW, "interview_template_id": theirs}, {**MANUAL, "interview_template_id": mine}):
        answer = tenant.live.post("/pipelines/create/", {"title": "P", "stages": [stage]})
        assert refusal(answer, 400)["details"]["fields"][0]["pointer"] == "/stages/0/interview_template_id"
    slug = pipeline(tenant.live, {**INTERVIEW, "interview_template_id": mine})
    tenant.live.delete(f"/interviews/templates/{mine}/delete/")
    stages = tenant.live.get(f"/pipelines/{slug}/").json()["stages"]
    assert stages[0]["interview_template_id"] == mine
    kept = {"stages": [{"id": stages[0]["id"], **INTERVIEW, "interview_template_id": mine}, MANUAL]}
    assert tenant.live.patch(f"/pipelines/{slug}/", kept).status_code == 200
    assert enroll(tenant.live, slug)["status"] == "active"


@pytest.mark.parametrize(
    ("recommendation", "found"),
    [("advance", ("active", 1)), ("reject", ("rejected", 0)), ("hold", ("on_hold", 0))],
)
def test_an_outcome_moves_the_enrollment(tenant: Tenant, recommendation: str, found: tuple[str, int]) -> None:
    made, room = staged(tenant.live, MANUAL)
    answer = act(tenant.live, room["id"], "outcome", recommendation=recommendation, comment="As it was.")
    outcome = answer.json()["outcome"]
    assert (outcome["recommendation"], outcome["comment"], outcome["by"]) == (
        recommendation,
        "As it was.",
        "public_api",
    )
    after = enrollment(tenant.live, made["id"])
    assert (after["status"], after["current_stage"]) == found
    assert after["reject_reason"] == ("As it was." if recommendation == "reject" else "")
    # Given again it moves nothing more.
    act(tenant.live, room["id"], "outcome", recommendation=recommendation)
    assert enrollment(tenant.live, made["id"])["current_stage"] == found[1]


@pytest.mark.parametrize(
    ("moves", "found"),
    [((), ("expired", "interview.cancelled")), (("wait",), ("expired", "interview.cancelled")),
     (("wait", "start"), ("ended", "interview.completed"))],
)  # fmt: skip
@pytest.mark.parametrize("way", ["reject", "advance"])
def test_who_is_rejected_or_done_by_hand_has_no_interview_any_more(
    tenant: Tenant, moves: tuple[str, ...], found: tuple[str, str], way: str
) -> None:
    made, room = staged(tenant.live)
    act(tenant.live, room["id"], "reschedule", scheduled_at=later())
    moved(room["id"], *moves)
    assert do(tenant.live, made["id"], way).json()["status"] in ("rejected", "passed")
    after = shown(tenant.live, room["id"])
    assert (after["status"], told(tenant.live)[-1]["type"]) == found
    whats = [one["what"] for one in mails(made["email"])]
    assert whats == ["invited", "rescheduled", *(["cancelled"] if found[0] == "expired" else [])]
    if found[0] == "ended":
        assert (after["ended_at"] is not None, "cancelled_at" in after["session_metadata"]) == (True, False)
        [end] = tenant.live.get(f"/interviews/{room['id']}/replay/").json()["events"]
        assert (end["kind"], end["actor"], end["data"]) == ("end", "system", {"reason": "enrollment"})


def test_an_outcome_leaves_its_own_room_as_it_is_and_closes_the_others(tenant: Tenant) -> None:
    made, room = staged(tenant.live)
    another = make(tenant.live, pipeline_enrollment_id=made["id"])
    elsewhere = make(tenant.live, candidate_email=made["email"])
    moved(another["id"], "wait", "start")
    assert act(tenant.live, another["id"], "outcome", recommendation="reject").status_code == 200
    found = [shown(tenant.live, one["id"])["status"] for one in (room, another, elsewhere)]
    assert found == ["expired", "active", "prepared"]


def test_an_outcome_on_hold_is_caught_up_with(tenant: Tenant) -> None:
    made, room = staged(tenant.live)
    do(tenant.live, made["id"], "hold")
    act(tenant.live, room["id"], "outcome", recommendation="advance")
    assert enrollment(tenant.live, made["id"])["status"] == "on_hold"
    assert do(tenant.live, made["id"], "unhold").json()["status"] == "passed"


@pytest.mark.parametrize("status", STATUSES)
def test_an_outcome_is_given_at_any_status_but_cancelled(tenant: Tenant, status: str) -> None:
    made = arrange(tenant.live, status)
    answer = act(tenant.live, made["id"], "outcome", recommendation="advance")
    assert answer.status_code == (400 if status == "expired" else 200)


def test_a_room_that_nobody_used_has_an_outcome_all_the_same(tenant: Tenant) -> None:
    made = make(tenant.live)
    due(made["id"])
    assert shown(tenant.live, made["id"])["status"] == "expired"
    assert act(tenant.live, made["id"], "outcome", recommendation="reject").status_code == 200


def test_a_later_room_of_the_stage_settles_it_where_the_first_was_cancelled(tenant: Tenant) -> None:
    made, room = staged(tenant.live, MANUAL)
    act(tenant.live, room["id"], "cancel")
    assert enrollment(tenant.live, made["id"])["current_stage"] == 0
    another = make(tenant.live, pipeline_enrollment_id=made["id"])
    act(tenant.live, another["id"], "outcome", recommendation="advance")
    assert enrollment(tenant.live, made["id"])["current_stage"] == 1
    late = act(tenant.live, another["id"], "outcome", recommendation="reject")
    assert (late.status_code, enrollment(tenant.live, made["id"])["status"]) == (200, "active")


def test_where_no_interview_is_left_the_first_stage_refuses_and_a_later_one_waits(tenant: Tenant) -> None:
    first, second = pipeline(tenant.live, INTERVIEW), pipeline(tenant.live, MANUAL, INTERVIEW)
    use(tenant, 100)
    answer = tenant.live.post(f"/pipelines/{first}/enroll/", {"email": "ada@example.com"})
    refusal(answer, 403, "LIMIT_REACHED")
    assert tenant.live.get(f"/pipelines/{first}/enrollments/").json()["results"] == []
    job = states.post(tenant.live, "/jobs/create/", {"title": "Engineer", "pipeline_slug": first})
    tenant.live.post(f"/jobs/{job['slug']}/publish/")
    person = {"email": address(), "full_name": "Ada Lovelace", "job_slug": job["slug"]}
    applied = states.post(tenant.live, "/applications/create/", person)
    refusal(tenant.live.post(f"/applications/{applied['id']}/advance/"), 403, "LIMIT_REACHED")
    made = enroll(tenant.live, second)
    waits = do(tenant.live, made["id"], "advance").json()
    assert (waits["current_stage"], waits["waiting_reason"]) == (1, "interview_quota")
    retried(made["id"])
    assert enrollment(tenant.live, made["id"])["waiting_reason"] == "interview_quota"
    use(tenant, 99)
    retried(made["id"])
    assert enrollment(tenant.live, made["id"])["waiting_reason"] is None
    assert len(tenant.live.get("/interviews/", params={"q": made["email"]}).json()["results"]) == 1
    assert used(tenant) == 100


def test_of_many_those_are_enrolled_whom_the_month_has_an_interview_for(tenant: Tenant) -> None:
    slug = pipeline(tenant.live, INTERVIEW)
    use(tenant, 98)
    rows = [{"email": address()} for _ in range(4)]
    found = tenant.live.post(f"/pipelines/{slug}/enroll/bulk/", {"candidates": rows}).json()
    assert [one["email"] for one in found["enrolled"]] == [one["email"] for one in rows[:2]]
    assert [one["code"] for one in found["errors"]] == ["quota_exhausted"] * 2
    assert len(tenant.live.get("/interviews/").json()["results"]) == 2
    assert used(tenant) == 100


def test_who_waited_for_interviews_to_be_there_gets_a_room(tenant: Tenant) -> None:
    made = enroll(tenant.live, pipeline(tenant.live, MANUAL, INTERVIEW))
    with store.transaction() as session:
        session.execute(
            text(
                "UPDATE enrollments SET current_stage = 1, waiting_reason = 'interviews_not_available' WHERE id = :id"
            ),
            {"id": made["id"]},
        )
    retried(made["id"])
    assert enrollment(tenant.live, made["id"])["waiting_reason"] is None
    assert len(tenant.live.get("/interviews/").json()["results"]) == 1


# --- People


def test_interviews_move_with_a_merge_and_are_handed_out_and_erased(tenant: Tenant) -> None:
    kept = make(tenant.live, candidate_email="ada@example.com")["candidate_id"]
    made = make(tenant.live, candidate_email="a.l@example.com", resume_text="A life", scheduled_at=later())
    states.post(tenant.live, f"/candidates/{kept}/merge/", {"source_id": made["candidate_id"]})
    assert shown(tenant.live, made["id"])["candidate_id"] == kept
    moved(made["id"], "wait", "start")
    with store.transaction() as session:
        session.execute(
            text("""
            INSERT INTO interview_events (interview_id, number, id, kind, actor, actor_name, data, at)
            VALUES (:id, 1, gen_random_uuid(), 'message', 'candidate', 'Ada', '{"content": "I am Ada"}', now())
            """),
            {"id": made["id"]},
        )
        session.execute(
            text("INSERT INTO interview_updates VALUES (:id, 2, 'Ada', now())"), {"id": made["id"]}
        )
    act(tenant.live, made["id"], "share")
    held = tenant.live.get(f"/candidates/{kept}/export/").json()["interviews"]
    assert len(held) == 2
    [mine] = [one for one in held if one["id"] == made["id"]]
    assert (mine["events"][0]["data"]["content"], mine["document"], mine["resume_text"]) == (
        "I am Ada", ["QWRh"], "A life",
    )  # fmt: skip
    assert made["candidate_token"] not in str(held)
    counts = states.post(tenant.live, f"/candidates/{kept}/erase/")["counts"]
    assert counts["interviews"] == 2
    after = tenant.live.get(f"/interviews/{made['id']}/")
    assert after.json()["status"] == "ended"
    assert [
        word for word in ("a.l@example.com", "A life", "Ada", made["candidate_token"]) if word in after.text
    ] == []
    assert tenant.live.get(f"/interviews/{made['id']}/replay/").json()["events"] == []
    with store.transaction() as session:
        for table in ("interview_updates", "interview_shares", "interview_events"):
            left = text(f"SELECT count(*) FROM {table} WHERE interview_id = :id")
            assert session.scalar(left, {"id": made["id"]}) == 0, table
