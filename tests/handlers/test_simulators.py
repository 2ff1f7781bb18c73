"""Those who are played do what the real ones do: the same test runs both ways, and the events are the same."""

import json
from typing import Any

import pytest

from app.instance.settings import Settings
from schemas import document
from tests.api import Api, Tenant, address
from tests.hooks import wired
from tests.operations import states
from tests.probes import refusal

__all__ = ["wired"]

CHOICE = states.CHOICE | {"points": 10}
NUMBER = states.NUMBER | {"points": 20}
TEXT = states.TEXT | {"points": 10}
CODE = states.CODE | {"points": 60}


def did(answer: Any) -> Any:
    assert answer.is_success, answer.text
    return answer.json()


def told(api: Api) -> list[str]:
    return [one["type"] for one in api.get("/events/", params={"page_size": 100}).json()["results"]]


def facts(api: Api) -> list[tuple[str, dict[str, Any]]]:
    """What is told of, but for what differs from one organisation to the next."""
    strange = ("_id", "_at", "_slug", "token", "email", "url", "title")
    found = api.get("/events/", params={"page_size": 100}).json()["results"]
    return [
        (one["type"], {name: value for name, value in one["data"].items() if not name.endswith(strange)})
        for one in found
    ]


def candidate(api: Api) -> Api:
    return Api(api.http, None, "/api/v1/candidate")


# --- Assessments


def an_invitation(api: Api, *contents: Any) -> str:
    return str(states.an_invitation(api, *contents)["token"])


def sit(api: Api, token: str) -> None:
    """What a candidate, and then a reviewer, do by hand."""
    side = candidate(api)
    session = did(side.post(f"/invites/{token}/start/", {"consent_accepted": True}))
    did(side.post(f"/invites/{token}/violations/", {"violation_type": "focus_loss"}))
    answers = {"mcq": "a", "numeric": 42, "text": "By its index."}
    for case in session["cases"]:
        at = f"/invites/{token}/answers/{case['assessment_case_id']}/"
        did(side.put(at, {"answer": answers[case["case_type"]]}))
    did(side.post(f"/invites/{token}/submit/"))
    waiting = [
        {"case_order": one["case_order"], "score": one["max_score"]}
        for one in did(api.get(f"/invites/{token}/result/"))["cases"]
        if one["status"] == "pending_review"
    ]
    did(api.post(f"/invites/{token}/result/review/", {"cases": waiting}))


def test_a_candidate_who_is_played_is_told_of_like_a_real_one(tenant: Tenant, other: Tenant) -> None:
    sit(tenant.test, an_invitation(tenant.test, CHOICE, NUMBER, TEXT))
    token = an_invitation(other.test, CHOICE, NUMBER, TEXT)
    did(other.test.post(f"/test/invites/{token}/take/", {"outcome": "pass", "violations": ["focus_loss"]}))
    assert facts(tenant.test) == facts(other.test)
    assert told(other.test)[-1] == "candidate.passed"


def test_who_leaves_is_told_of_like_somebody_who_really_does(tenant: Tenant, other: Tenant) -> None:
    tokens = []
    for api in (tenant.test, other.test):
        slug = states.an_assessment(api, CHOICE, NUMBER)["slug"]
        did(api.patch(f"/assessments/{slug}/update/", {"time_limit_minutes": 30}))
        tokens.append(api.invitation(slug)["invite_token"])
    mine, theirs = tokens
    side = candidate(tenant.test)
    first = did(side.post(f"/invites/{mine}/start/", {"consent_accepted": True}))["cases"][0]
    did(side.put(f"/invites/{mine}/answers/{first['assessment_case_id']}/", {"answer": "a"}))
    did(other.test.post(f"/test/invites/{theirs}/take/", {"outcome": "abandon"}))
    for one in (tenant, other):
        did(one.test.post("/test/clock/advance/", {"seconds": 3600}))
    assert facts(tenant.test) == facts(other.test)
    assert told(other.test)[-1] == "candidate.failed"


@pytest.mark.parametrize(("score", "reached"), [(100, "100.00"), (0, "0.00"), (40, "40.00"), (33, "33.00")])
def test_a_score_is_reached(tenant: Tenant, score: int, reached: str) -> None:
    token = an_invitation(tenant.test, CHOICE, NUMBER, TEXT)
    taken = did(tenant.test.post(f"/test/invites/{token}/take/", {"score": score}))
    assert (taken["status"], taken["score_percentage"]) == ("completed", reached)


def test_programs_are_written_that_pass_their_tests(tenant: Tenant) -> None:
    for code in (
        CODE,
        CODE
        | {
            "test_cases": [
                {"input": "it's 1\n", "expected_output": "1\n"},
                {"input": "", "expected_output": ""},
            ]
        },
        CODE | {"language": "bash", "test_cases": [{"input": "a 'b'\n", "expected_output": "$c\n"}]},
    ):
        token = an_invitation(tenant.test, code)
        taken = did(tenant.test.post(f"/test/invites/{token}/take/", {"outcome": "pass"}))
        assert (taken["score_percentage"], taken["passed"]) == ("100.00", True)


def test_who_fails_fails_and_who_leaves_is_timed_out_later(tenant: Tenant) -> None:
    api = tenant.test
    token = an_invitation(api, CHOICE, NUMBER)
    taken = did(api.post(f"/test/invites/{token}/take/", {"outcome": "fail"}))
    assert (taken["score_percentage"], taken["passed"]) == ("0.00", False)
    slug = api.assessment(cases=3, time_limit_minutes=30)["slug"]
    token = api.invitation(slug)["invite_token"]
    taken = did(api.post(f"/test/invites/{token}/take/", {"outcome": "abandon"}))
    assert (taken["status"], taken["score"], taken["passed"]) == ("started", None, None)
    did(api.post("/test/clock/advance/", {"seconds": 3600}))
    assert did(api.get(f"/invites/{token}/"))["status"] == "completed"


def test_minutes_pass_on_the_clock_of_the_test_mode(tenant: Tenant) -> None:
    token = an_invitation(tenant.test, CHOICE)
    did(tenant.test.post(f"/test/invites/{token}/take/", {"outcome": "pass", "minutes": 20}))
    result = did(tenant.test.get(f"/invites/{token}/result/"))
    assert 1200 <= result["time_spent_seconds"] < 1260
    assert did(tenant.test.get("/test/clock/"))["advanced_seconds"] == 1200


def test_an_answer_of_ones_own_stands_and_a_wrong_one_is_refused_as_the_candidate_would_be(
    tenant: Tenant,
) -> None:
    at = f"/test/invites/{an_invitation(tenant.test, CHOICE, TEXT)}/take/"
    own = {"outcome": "pass", "answers": [{"case_order": 1, "answer": "b"}]}
    assert did(tenant.test.post(at, own))["score_percentage"] == "50.00"
    refusal(tenant.test.post(at, own), 400, "VALIDATION_ERROR")  # it was taken
    at = f"/test/invites/{an_invitation(tenant.test, CHOICE)}/take/"
    wrong = {"outcome": "pass", "answers": [{"case_order": 1, "answer": "no such option"}]}
    refusal(tenant.test.post(at, wrong), 400, "VALIDATION_ERROR")
    for body in ({}, {"outcome": "pass", "score": 3}, {"score": 101}, {"outcome": "win"}):
        refusal(tenant.test.post(at, body), 400, "VALIDATION_ERROR")


# --- Applications


def a_job(api: Api) -> str:
    job = str(api.job()["slug"])
    field = {"field_type": "number", "label": "Years", "key": "years", "is_required": True}
    did(api.post(f"/jobs/{job}/fields/", field))
    did(
        api.post(
            f"/jobs/{job}/fields/", {"field_type": "boolean", "label": "May you work here?", "key": "permit"}
        )
    )
    rules = [{"field_key": "years", "operator": "gte", "value": 3, "on_fail": "hold"}]
    did(api.put(f"/jobs/{job}/knockout-rules/replace/", {"rules": rules}))
    wanted = [{"kind": "skill", "label": "Python", "values": ["Python"], "importance": "must"}]
    did(api.put(f"/jobs/{job}/requirements/replace/", {"requirements": wanted}))
    did(api.post(f"/jobs/{job}/publish/"))
    return job


def test_those_who_apply_are_screened_as_well_as_they_fit(tenant: Tenant) -> None:
    api = tenant.test
    made = did(api.post(f"/test/jobs/{a_job(api)}/applications/", {"count": 12, "seed": 3}))["applications"]
    assert [one["quality"] for one in made] == ["weak", "strong"] * 6
    for one in made:
        shown = did(api.get(f"/applications/{one['application_id']}/"))
        strong = one["quality"] == "strong"
        assert shown["screening"]["l1_passed"] is strong, shown
        if strong:
            assert float(shown["screening"]["l3_score"]) > 80, shown


def test_the_same_seed_makes_the_same_people_and_none_twice(tenant: Tenant, other: Tenant) -> None:
    jobs = [(api, a_job(api)) for api in (tenant.test, other.test)]
    body = {"count": 5, "seed": 9, "quality": "strong"}
    found = []
    for api, job in jobs:
        did(api.post(f"/test/jobs/{job}/applications/", body))
        again = did(api.post(f"/test/jobs/{job}/applications/", body))["applications"]
        assert not any(one["is_new"] for one in again)
        shown = [did(api.get(f"/applications/{one['application_id']}/")) for one in again]
        found.append([(one["full_name"], one["email"], one["screening"]["l3_score"]) for one in shown])
    assert found[0] == found[1]
    assert len({name for name, _, _ in found[0]}) > 1
    refusal(
        tenant.test.post(f"/test/jobs/{tenant.test.job()['slug']}/applications/", body),
        400,
        "VALIDATION_ERROR",
    )


def test_who_is_made_up_is_told_of_like_who_applies(tenant: Tenant, other: Tenant) -> None:
    theirs, mine = a_job(other.test), a_job(tenant.test)
    [made] = did(other.test.post(f"/test/jobs/{theirs}/applications/", {"count": 1, "quality": "strong"}))[
        "applications"
    ]
    # The same person applies by hand.
    person = did(other.test.get(f"/applications/{made['application_id']}/"))
    [cv] = person["attachments"]
    content = other.test.get(f"/applications/{made['application_id']}/attachments/{cv['id']}/").content
    answers = {
        one["field_key"]: one["value_boolean"]
        if one["field_type"] == "boolean"
        else float(one["value_number"])
        for one in person["answers"]
    }
    fields = {name: person[name] for name in ("email", "full_name", "phone")}
    fields |= {"job_slug": mine, "answers": json.dumps(answers)}
    files = {"cv": (cv["filename"], content, cv["content_type"])}
    did(tenant.test.request("POST", "/applications/create/", data=fields, files=files))
    did(tenant.test.post("/test/clock/advance/", {"seconds": 1}))
    assert facts(tenant.test) == facts(other.test)
    assert told(other.test)[-1] == "application.screened"


# --- Offers and interviews


@pytest.mark.parametrize("reply", ["accept", "decline"])
def test_an_offer_is_answered_as_its_candidate_would(tenant: Tenant, other: Tenant, reply: str) -> None:
    mine, theirs = (states.a_sent_offer(one.test) for one in (tenant, other))
    body = {"reason": "No."} if reply == "decline" else None
    token = mine["token"]
    did(candidate(tenant.test).post(f"/offers/{token}/{reply}/", body))
    sent = {"reply": reply} | (body or {})
    shown = did(other.test.post(f"/test/offers/{theirs['offer_id']}/reply/", sent))
    assert shown["status"] == {"accept": "accepted", "decline": "declined"}[reply]
    assert facts(tenant.test) == facts(other.test)
    at = f"/test/offers/{states.an_offer(other.test)['offer_id']}/reply/"
    refusal(other.test.post(at, sent), 400, "VALIDATION_ERROR")


def test_an_interview_is_played_like_a_real_one(tenant: Tenant, other: Tenant) -> None:
    mine, theirs = (states.an_interview(one.test) for one in (tenant, other))
    room = did(tenant.test.get(f"/interviews/{mine['room_id']}/"))
    side = candidate(tenant.test)
    sides = [url.rpartition("/")[2] for url in (room["candidate_url"], room["interviewer_url"])]
    for token in sides:
        did(side.post(f"/interviews/{token}/join/", {"name": "Ada", "consent_accepted": True}))
        did(side.post(f"/interviews/{token}/messages/", {"content": "Hello."}))
    did(side.post(f"/interviews/{sides[0]}/end/"))
    did(tenant.test.post("/test/clock/advance/", {"seconds": 1}))
    did(tenant.test.post(f"/interviews/{mine['room_id']}/outcome/", {"recommendation": "advance"}))
    at = f"/test/interviews/{theirs['room_id']}/play/"
    shown = did(other.test.post(at, {"recommendation": "advance"}))
    assert (shown["status"], shown["outcome"]["recommendation"]) == ("ended", "advance")
    assert facts(tenant.test) == facts(other.test)
    refusal(other.test.post(at), 400, "VALIDATION_ERROR")


# --- Events, and an end


def test_every_event_can_be_sent_as_it_is_documented(tenant: Tenant) -> None:
    examples = document.read("openapi")["x-events"]
    for type, event in examples.items():
        answer = tenant.test.post("/test/events/", {"type": type})
        if type == "webhook.test":
            refusal(answer, 400, "VALIDATION_ERROR")
        else:
            assert did(answer) == {"type": type, "data": event["example"]["data"] | {"simulated": True}}
    found = tenant.test.get("/events/", params={"page_size": 100}).json()["results"]
    assert [one["type"] for one in found] == [one for one in examples if one != "webhook.test"]
    assert tenant.live.get("/events/").json()["results"] == []
    refusal(tenant.test.post("/test/events/", {"type": "nothing.happened"}), 400, "VALIDATION_ERROR")


def test_an_empty_test_mode_is_left_and_live_data_stays(tenant: Tenant, other: Tenant) -> None:
    lists = (
        "/invites/",
        "/jobs/",
        "/applications/",
        "/candidates/",
        "/events/",
        "/webhooks/",
        "/offers/",
        "/interviews/",
    )
    everybody = (tenant.test, tenant.live, other.test)
    for api in everybody:
        for make in (states.a_submission, states.a_sent_offer, states.an_interview, states.a_webhook):
            make(api)
        states.an_enrollment(api)
        states.an_application(api, cv=("cv.txt", states.CV))

    def whole(api: Api) -> Any:
        return [did(api.get(at, params={"page_size": 100}))["results"] for at in lists]

    before = [whole(api) for api in everybody[1:]]
    did(tenant.test.post("/test/clock/advance/", {"seconds": 60}))
    assert did(tenant.test.post("/test/reset/"))["deleted_rows"] > 50
    assert whole(tenant.test) == [[] for _ in lists]
    assert [whole(api) for api in everybody[1:]] == before
    assert did(tenant.test.get("/test/clock/"))["advanced_seconds"] == 0
    states.a_submission(tenant.test)


def test_mails_that_were_written_as_files_go_with_the_rest(
    tenant: Tenant, other: Tenant, wired: Settings
) -> None:
    written = []
    for api in (tenant.test, other.test):
        api.invitation(api.assessment(cases=1)["slug"], email=(to := address()), send_email=True)
        did(api.post("/test/clock/advance/", {"seconds": 1}))
        [mail] = did(api.get("/test/mails/", params={"to": to}))["mails"]
        written.append(wired.mail_dir / "test" / f"{mail['id']}.eml")
    assert all(one.exists() for one in written)
    did(tenant.test.post("/test/reset/"))
    did(tenant.test.post("/test/clock/advance/", {"seconds": 1}))
    assert [one.exists() for one in written] == [False, True]


def test_the_test_world_is_for_test_keys_and_ones_own(tenant: Tenant, other: Tenant) -> None:
    offer, room = states.a_sent_offer(tenant.test), states.an_interview(tenant.test)
    asked = {
        f"/test/invites/{an_invitation(tenant.test, CHOICE)}/take/": {"outcome": "pass"},
        f"/test/jobs/{a_job(tenant.test)}/applications/": {"count": 1},
        f"/test/offers/{offer['offer_id']}/reply/": {"reply": "accept"},
        f"/test/interviews/{room['room_id']}/play/": {},
    }
    for at, body in asked.items():
        refusal(tenant.live.post(at, body), 403, "LIVE_KEY")
        refusal(other.test.post(at, body), 404, "NOT_FOUND")
    for at, body in {"/test/reset/": None, "/test/events/": {"type": "job.closed"}}.items():
        refusal(tenant.live.post(at, body), 403, "LIVE_KEY")
