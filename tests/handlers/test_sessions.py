from datetime import timedelta

import pytest
from sqlalchemy import update

import gateways.sandbox
import store
from app.http.application import create_app
from gateways.places import Places, Turn
from store.assessing.assessments import Assessment
from store.database import engine
from store.database.ids import new_id
from tests import seen
from tests.hooks import wait_until
from tests.sittings import CHOICE, CHOICES, CODE, EVERY_KIND, NUMBER, TEXT, invite

SECRET = "MARKER-of-a-secret"


@pytest.fixture(scope="module")
def app(settings):
    return create_app(settings)


@pytest.fixture
def client(app):
    made = app.test_client()
    made.event_hooks["response"] = [seen.answer]
    return made


def started(client, *cases, **options):
    invited = invite(*cases, **options)
    assert client.post(f"{invited.url}start/").status_code == 200
    return invited


def put(client, invited, number, answer):
    return client.put(f"{invited.url}answers/{invited.cases[number]}/", json={"answer": answer})


def refusal(response):
    return response.status_code, response.json()["error"]["code"]


def test_before_the_start_the_candidate_sees_what_awaits_and_no_case(client):
    invited = invite(*EVERY_KIND, enforce_fullscreen=True, extra_time_percent=25)
    shown = client.get(invited.url).json()
    assert shown["status"] == "pending"
    assert shown["assessment"] == {
        "title": "Backend engineer",
        "description": "A few short tasks on SQL, HTTP and Python.",
        "time_limit_minutes": 45,
        "extra_time_percent": 25,
        "time_allowed_seconds": 3375,
        "case_count": 5,
        "rules": {"enforce_fullscreen": True, "copy_paste_disabled": False, "focus_reported": True},
    }
    assert shown["organisation"] == {"name": "Northwind Labs"}
    assert shown["candidate_name"] == "Amina Diallo"
    assert "cases" not in shown


def test_a_pool_promises_the_number_of_cases_that_are_drawn(client):
    invited = invite(*EVERY_KIND, pool_mode=True, assignment_size=2)
    assert client.get(invited.url).json()["assessment"]["case_count"] == 2
    assert len(client.post(f"{invited.url}start/").json()["cases"]) == 2


def test_a_pool_without_a_size_gives_everybody_all_cases(client):
    invited = invite(*EVERY_KIND, pool_mode=True)
    assert client.get(invited.url).json()["assessment"]["case_count"] == len(EVERY_KIND)
    assert len(client.post(f"{invited.url}start/").json()["cases"]) == len(EVERY_KIND)


def test_a_running_session_shows_the_time_it_began_with(client):
    invited = started(client, CHOICE)
    before = client.get(invited.url).json()
    with store.transaction() as session:
        mine = Assessment.id == invited.invitation().assessment_id
        session.execute(update(Assessment).where(mine).values(time_limit_minutes=600))
    assert client.get(invited.url).json()["assessment"] == before["assessment"]
    assert before["assessment"]["time_allowed_seconds"] == before["assessment"]["time_limit_minutes"] * 60


def test_starting_twice_answers_the_same_session(client):
    invited = invite(*EVERY_KIND)
    first, second = (client.post(f"{invited.url}start/").json() for _ in range(2))
    assert first["status"] == "started"
    assert first["deadline_at"].endswith("Z")
    assert first | {"server_time": ""} == second | {"server_time": ""}
    assert client.get(invited.url).json()["cases"] == first["cases"]


def test_a_case_comes_with_its_question_as_safe_html(client):
    question = "Pick **one**: <script>alert(1)</script> [link](javascript:alert(1)) ![pixel](https://x.example/p.png)"
    invited = started(client, CHOICE | {"question": question})
    [case] = client.get(invited.url).json()["cases"]
    assert "<strong>one</strong>" in case["question_html"]
    for danger in ("<script", 'href="javascript', "<img"):
        assert danger not in case["question_html"]


def test_secrets_of_a_case_never_leave_the_server(client):
    invited = invite(
        CHOICE | {"options": [{"id": "a", "text": "A", "is_correct": True, "why": SECRET}]},
        NUMBER | {"answer_number": 982451653, "tolerance": 982451653, "rubric": SECRET},
        TEXT | {"accepted_answers": [SECRET], "rubric": SECRET, "description": SECRET, "tags": [SECRET]},
        CODE
        | {
            "rubric": SECRET,
            "test_cases": [
                {"input": "1 2\n", "expected_output": "3\n", "weight": 982451653, "hidden": False},
                {"input": SECRET, "expected_output": SECRET, "weight": 1, "hidden": True},
                {"input": SECRET, "expected_output": SECRET, "weight": 1},
            ],
        },
        passing_score=97,
    )
    answers = [
        client.get(invited.url),
        client.post(f"{invited.url}start/"),
        client.get(f"/take/{invited.token}"),
        put(client, invited, 0, "a"),
        put(client, invited, 1, 1),
        client.post(f"{invited.url}answers/{invited.cases[3]}/run/", json={"answer": "print(3)"}),
        client.get(invited.url),
        client.post(f"{invited.url}submit/"),
        client.get(invited.url),
        client.get(f"/take/{invited.token}"),
    ]
    assert all(answer.status_code == 200 for answer in answers)
    for answer in answers:
        for secret in (SECRET, "982451653", "is_correct", "passing_score", "weight", "score", "97"):
            # 97 may be part of a time or an id: look for it as a value.
            assert (f": {secret}," if secret == "97" else secret) not in answer.text


@pytest.mark.parametrize(
    ("case", "answer"),
    [
        (CHOICE, "b"),
        (CHOICES, ["g", "h"]),
        (NUMBER, 0.98),
        (NUMBER, -3),
        (TEXT, "déjà vu ✓"),
        (CODE, "print(3)\n"),
    ],
)
def test_an_answer_is_saved_and_seen_again(client, case, answer):
    invited = started(client, case)
    saved = put(client, invited, 0, answer)
    assert saved.status_code == 200
    [shown] = client.get(invited.url).json()["cases"]
    assert (shown["answer"], shown["saved_at"]) == (answer, saved.json()["saved_at"])


def test_an_answer_may_come_as_a_form(client):
    invited = started(client, CHOICE, CHOICES, NUMBER)
    for number, data in enumerate(({"answer": "b"}, {"answer": ["g", "h"]}, {"answer": "2.5"})):
        assert client.put(f"{invited.url}answers/{invited.cases[number]}/", data=data).status_code == 200
    assert invited.answers() == ["b", ["g", "h"], 2.5]


def test_an_answer_can_be_cleared(client):
    invited = started(client, TEXT)
    put(client, invited, 0, "something")
    assert put(client, invited, 0, None).status_code == 200
    assert invited.answers() == [None]


@pytest.mark.parametrize(
    ("case", "answer"),
    [
        (CHOICE, "z"),
        (CHOICE, ["a", "b"]),
        (NUMBER, "many"),
        (NUMBER, True),
        (TEXT, 7),
        (TEXT, {}),
        (CODE, "é" * 40_000),
    ],
)
def test_an_answer_of_the_wrong_shape_is_refused_where_it_stands(client, case, answer):
    response = put(client, started(client, case), 0, answer)
    assert refusal(response) == (400, "VALIDATION_ERROR")
    assert response.json()["error"]["details"]["fields"][0]["pointer"].startswith("/answer")


def test_unknown_tokens_are_not_found(client):
    url = "/api/v1/candidate/invites/no-such-token/"
    place = new_id()
    for response in (
        client.get(url),
        client.post(f"{url}start/"),
        client.put(f"{url}answers/{place}/", json={"answer": "a"}),
        client.post(f"{url}answers/{place}/run/", json={"answer": "a"}),
        client.post(f"{url}violations/", json={"violation_type": "webcam"}),
        client.post(f"{url}submit/"),
    ):
        assert refusal(response) == (404, "NOT_FOUND")


def test_the_case_of_another_session_is_not_found(client):
    mine, theirs = started(client, CHOICE), started(client, CHOICE)
    theirs.token, theirs.cases = mine.token, theirs.cases
    assert refusal(put(client, theirs, 0, "a")) == (404, "NOT_FOUND")


NEEDS_A_RUNNING_SESSION = {
    "save": lambda client, invited: put(client, invited, 0, "print(1)"),
    "run": lambda client, invited: client.post(
        f"{invited.url}answers/{invited.cases[0]}/run/", json={"answer": "print(1)"}
    ),
    "report": lambda client, invited: client.post(
        f"{invited.url}violations/", json={"violation_type": "fullscreen"}
    ),
}


def everything_that_needs_a_running_session(client, invited):
    return [call(client, invited) for call in NEEDS_A_RUNNING_SESSION.values()]


def test_before_the_start_nothing_is_taken(client):
    invited = invite(CODE)
    for response in [
        *everything_that_needs_a_running_session(client, invited),
        client.post(f"{invited.url}submit/"),
    ]:
        assert refusal(response) == (400, "VALIDATION_ERROR")
        assert response.json()["error"]["details"]["status"] == "pending"


def test_an_expired_invitation_takes_nothing_and_says_so(client):
    invited = invite(CODE, expires_in=timedelta(seconds=-1))
    assert client.get(invited.url).json()["status"] == "expired"
    actions = [client.post(f"{invited.url}start/"), client.post(f"{invited.url}submit/")]
    for response in [*actions, *everything_that_needs_a_running_session(client, invited)]:
        assert refusal(response) == (400, "INVITATION_EXPIRED")


def test_an_invitation_that_the_schedule_expired_is_expired(client):
    invited = invite(CODE)
    invited.change(status="expired")
    assert client.get(invited.url).json()["status"] == "expired"
    assert refusal(client.post(f"{invited.url}start/")) == (400, "INVITATION_EXPIRED")


def test_a_started_session_outlives_its_invitation(client):
    invited = started(client, CHOICE)
    invited.change(expires_at=invited.invitation().created_at)
    assert put(client, invited, 0, "a").status_code == 200


def test_after_submitting_nothing_is_taken(client):
    invited = started(client, CODE)
    put(client, invited, 0, "print(2)")
    first = client.post(f"{invited.url}submit/").json()
    assert first["status"] == "completed"
    assert client.post(f"{invited.url}submit/").json() == first
    for response in everything_that_needs_a_running_session(client, invited):
        assert refusal(response) == (409, "SESSION_CLOSED")
    shown = client.post(f"{invited.url}start/").json()
    assert shown["status"] == "completed"
    assert "cases" not in shown
    assert invited.answers() == ["print(2)"]
    assert len(invited.events("assessment.completed")) == len(invited.grading_asked()) == 1


@pytest.mark.parametrize("call", NEEDS_A_RUNNING_SESSION)
def test_after_the_deadline_whatever_comes_first_finishes_the_session_and_is_refused(client, call):
    invited = started(client, CODE)
    put(client, invited, 0, "saved in time")
    invited.ends_in(-60)
    assert refusal(NEEDS_A_RUNNING_SESSION[call](client, invited)) == (409, "SESSION_CLOSED")
    assert invited.invitation().status == "completed"
    assert invited.session().completed_at == invited.session().deadline_at
    assert invited.answers() == ["saved in time"]
    assert len(invited.events("assessment.completed")) == len(invited.grading_asked()) == 1


def test_submitting_late_answers_with_the_deadline(client):
    invited = started(client, CODE)
    invited.ends_in(-60)
    assert client.post(f"{invited.url}submit/").status_code == 200
    assert invited.session().completed_at == invited.session().deadline_at


def test_a_violation_is_recorded_and_told(client):
    invited = started(client, CHOICE, TEXT, external_id="ats-9", violation_review_threshold=2)
    url = f"{invited.url}violations/"
    first = client.post(url, json={"violation_type": "fullscreen", "case_order": 2})
    assert first.status_code == 201
    assert first.json() | {"violation_type": "fullscreen", "case_order": 2} == first.json()
    assert client.post(url, json={"violation_type": "focus_loss"}).status_code == 201
    one, two = invited.events("candidate.violation")
    assert (
        one.data
        | {
            "violation_type": "fullscreen",
            "case_order": 2,
            "occurred_at": first.json()["occurred_at"],
            "violation_counts": {"fullscreen": 1},
            "external_id": "ats-9",
            "invite_token": invited.token,
        }
        == one.data
    )
    assert two.data["case_order"] is None
    assert two.data["violation_counts"] == {"fullscreen": 1, "focus_loss": 1}
    assert invited.session().integrity_review_status == "needs_review"


@pytest.mark.parametrize(
    "body",
    [
        {"violation_type": "boredom"},
        {},
        {"violation_type": "webcam", "case_order": 0},
        {"violation_type": "webcam", "case_order": 9},
    ],
)
def test_a_violation_that_makes_no_sense_is_refused(client, body):
    invited = started(client, CHOICE)
    assert refusal(client.post(f"{invited.url}violations/", json=body)) == (400, "VALIDATION_ERROR")


def test_code_runs_on_the_visible_tests_without_a_transaction(client, monkeypatch):
    seen = {}

    def run(language, code, inputs, *, seconds, together, memory_mb, holder):
        wait_until(lambda: engine.engine().pool.checkedout() == 0)  # but for the bell's, which is soon let go
        seen.update(language=language, code=code, inputs=inputs)
        return [gateways.sandbox.Run("3\n", "", "ok"), gateways.sandbox.Run("", "boom", "error")]

    monkeypatch.setattr(gateways.sandbox, "available", lambda language: True)
    monkeypatch.setattr(gateways.sandbox, "run", run)
    invited = started(client, CODE)
    shown = client.post(f"{invited.url}answers/{invited.cases[0]}/run/", json={"answer": "print(3)"}).json()
    assert seen == {"language": "python", "code": "print(3)", "inputs": ["1 2\n", "-5 5 7\n"]}
    assert shown["available"]
    assert [one["passed"] for one in shown["results"]] == [True, False]
    assert shown["results"][1]["stderr"] == "boom"
    assert shown["results"][1]["message"] == "The program ended with an error."
    assert invited.answers() == [None]


def test_a_run_says_where_the_output_differs_and_never_shows_what_checks_it(client):
    check = "def check(input, output, expected_output):\n    return output.strip() == 'any' or 'Print any.'\n"
    visible = {"input": "", "weight": 1, "hidden": False}
    tests = [
        visible | {"expected_output": "1\n2\n"},
        visible | {"expected_output": "any\n", "check": check},
        visible | {"expected_output": "x", "check": "def check(a, b, c): return 1 / 0"},
        {"input": "hidden-one", "expected_output": "x", "weight": 1, "hidden": True, "check": check},
    ]
    invited = started(client, CODE | {"test_cases": tests})
    url = f"{invited.url}answers/{invited.cases[0]}/run/"
    answer = client.post(url, json={"answer": "print('1\\n3')"})
    one, two, three = answer.json()["results"]
    assert one["difference"] == {"line": 2, "column": 1, "expected": "2", "got": "3"}
    assert (one["exit_code"], one["checked"], one["message"]) == (
        0,
        False,
        "Line 2, column 1: expected 2, got 3",
    )
    assert (two["passed"], two["checked"], two["message"]) == (False, True, "Print any.")
    assert (three["passed"], three["judged"], three["difference"]) == (False, False, None)
    for shown in (answer.text, client.get(invited.url).text):
        assert "def check" not in shown
        assert "hidden-one" not in shown


def test_where_the_language_cannot_be_run_the_answer_says_so(client, monkeypatch):
    monkeypatch.setattr(gateways.sandbox, "available", lambda language: False)
    invited = started(client, CODE)
    response = client.post(f"{invited.url}answers/{invited.cases[0]}/run/", json={"answer": "print(3)"})
    assert (response.status_code, response.json()) == (200, {"available": False, "results": []})


def test_where_no_place_is_free_the_candidate_may_try_again(client, monkeypatch):
    monkeypatch.setattr(gateways.sandbox, "available", lambda language: True)
    monkeypatch.setattr(gateways.sandbox, "why_not", lambda language: "")
    monkeypatch.setattr(gateways.sandbox, "_spec", lambda *_, **__: {"seconds": 1})
    monkeypatch.setattr(gateways.sandbox, "_places", Places(1))
    monkeypatch.setattr(gateways.sandbox, "PLACE_SECONDS", 0.1)
    invited = started(client, CODE)
    with gateways.sandbox._places.taken(Turn(), 1):
        response = client.post(f"{invited.url}answers/{invited.cases[0]}/run/", json={"answer": "print(3)"})
    assert refusal(response) == (503, "UNAVAILABLE")


@pytest.mark.parametrize("how", ["says it has no walls", "says nothing"])
def test_where_the_sandbox_fails_all_at_once_the_candidate_may_try_again(client, monkeypatch, how):
    def supervise(spec, given, box, *, patience):
        if how == "says nothing":
            raise TimeoutError
        return {"fault": "/secret/path: no namespaces"}

    monkeypatch.setattr(gateways.sandbox, "why_not", lambda language: "")
    monkeypatch.setattr(gateways.sandbox, "_spec", lambda *_, **__: {"seconds": 1})
    monkeypatch.setattr(gateways.sandbox, "supervise", supervise)
    invited = started(client, CODE)
    response = client.post(f"{invited.url}answers/{invited.cases[0]}/run/", json={"answer": "print(3)"})
    assert refusal(response) == (503, "UNAVAILABLE")
    assert "secret" not in response.text


def test_only_the_code_of_a_coding_case_is_run(client):
    invited = started(client, TEXT)
    response = client.post(f"{invited.url}answers/{invited.cases[0]}/run/", json={"answer": "print(3)"})
    assert refusal(response) == (400, "VALIDATION_ERROR")


# --- The page


@pytest.mark.parametrize("state", ["pending", "started", "completed", "expired", "unknown"])
def test_every_page_protects_its_reader(client, state):
    invited = invite(CHOICE, expires_in=timedelta(days=-1 if state == "expired" else 1))
    if state in ("started", "completed"):
        client.post(f"{invited.url}start/")
    if state == "completed":
        client.post(f"{invited.url}submit/")
    page = client.get(f"/take/{'nobody' if state == 'unknown' else invited.token}")
    assert page.status_code == (404 if state == "unknown" else 200)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"].startswith("default-src 'self';")
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    assert "//" not in page.text.replace("<!doctype", "").replace("http://www.w3.org", "")
    expected = {
        "pending": "Start the assessment",
        "started": 'id="workspace"',
        "completed": "Your assessment is submitted",
        "expired": "This invitation has expired",
        "unknown": "This link leads nowhere",
    }
    assert expected[state] in page.text


def test_a_page_after_the_deadline_says_that_time_was_up(client):
    invited = started(client, CHOICE)
    invited.ends_in(-5)
    assert "Your time was up" in client.get(f"/take/{invited.token}").text


def test_what_an_organisation_writes_is_text_on_the_page(client):
    invited = invite(CHOICE, name="</script><script>alert(1)</script>", title="<b>Engineer</b>")
    for _ in range(2):
        page = client.get(f"/take/{invited.token}").text
        assert "<script>alert(1)" not in page
        assert "<b>Engineer" not in page
        client.post(f"{invited.url}start/")


def test_static_files_are_served(client):
    for name, kind in (
        ("style.css", "text/css"),
        ("take.js", "text/javascript"),
        ("icon.svg", "image/svg+xml"),
    ):
        response = client.get(f"/static/{name}")
        assert (response.status_code, response.headers["content-type"].split(";")[0]) == (200, kind)


def test_the_worker_may_answer_for_the_candidates_page_alone(client):
    assert client.get("/static/take-worker.js").headers["service-worker-allowed"] == "/take/"
    assert "service-worker-allowed" not in client.get("/static/take.js").headers
