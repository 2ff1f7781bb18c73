"""Where one field decides what another may be, or a value has to name what exists, the one is made to fit the other.

No schema of OpenAPI 3.0 says these things without taking the fields apart into variants that generated clients would
have to choose among. Each rule changes what the service would refuse for them, and leaves the rest as it was made up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from rules.clock import iso, now
from tests.contract import people
from tests.contract.deeds import DEEDS
from tests.contract.makers import (
    LOGO,
    a_candidate,
    a_case,
    a_case_of_the_catalogue,
    a_meeting,
    a_member,
    a_number_question,
    a_pipeline,
    a_program,
    a_squad,
    an_address,
    an_application,
    an_assessment,
    an_enrollment,
    an_interview_template,
    an_open_job,
    shared,
)
from tests.contract.people import Ids

Body = dict[str, Any]
MULTIPART = "multipart/form-data"
SORTS = ("skill", "years", "tool", "title", "education", "custom")  # of requirements


@dataclass(frozen=True)
class Request:
    """What a rule may look at beside the body."""

    path: Ids  # its parameters
    media_type: str | None
    real: Callable[[Any], bool]  # whether an earlier step's answer held this text
    operation: str = ""
    session: str = ""  # the token of a member's, who asks


def a_whole_list(body: Body, name: str, request: Request, one: Any) -> None:
    """Schemathesis sends no part at all for an empty array, and the array is required."""
    if request.media_type == MULTIPART and body.get(name) == []:
        body[name] = [one]


def an_address_of_somebody(body: Body, request: Request) -> None:
    """A blank email is refused as MISSING_EMAIL, which the requirement tells from a request that breaks its schema."""
    if not body["email"].strip():
        body["email"] = "ada@example.com"


def a_moment_to_come(body: Body, request: Request) -> None:
    """Links expire within a year."""
    if "expires_at" in body:
        body["expires_at"] = iso(now() + timedelta(days=30))


def name_one(body: Body, request: Request, slug: str, id: str, make: Callable[[], Ids]) -> None:
    """What has two names has to exist and be the same under both; a link gave its slug."""
    if request.real(body.get(slug)):
        body.pop(id, None)
    elif body.get(slug) is not None or body.get(id) is not None:
        made = shared(make)
        body |= {name: made[name] for name in (slug, id) if name in body}


def a_linked_job(body: Body, request: Request) -> None:
    """What a job is linked to exists, and is the same by both of its names."""
    name_one(body, request, "assessment_slug", "assessment_id", an_assessment)
    name_one(body, request, "pipeline_slug", "pipeline_id", a_pipeline)
    its_squad(body)


def its_squad(body: Body) -> None:
    names = [name for name in ("team_id", "squad_id") if name in body]
    if any(body[name] is not None for name in names):
        body |= dict.fromkeys(names, shared(a_squad)["team_id"])


def a_question(body: Body, request: Request) -> None:
    """Only a choice has options, each of them once."""
    kind = body.setdefault("field_type", "short_text") if body.get("options") else body.get("field_type", "")
    if kind.endswith("select"):
        given = {one["value"]: one for one in body.get("options", [])}
        body["options"] = list(given.values()) or [{"value": "yes", "label": "Yes"}]
    elif "options" in body:
        body["options"] = []


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def a_knockout(body: Body, request: Request) -> None:
    """A rule is about a question of the job, and its value is of the question's type; every operator fits a number."""
    a_whole_list(body, "rules", request, {"field_key": "years", "operator": "truthy"})
    key = a_number_question(request.path["key"]) if body["rules"] else ""
    for rule in body["rules"]:
        rule["field_key"], value = key, rule.get("value")
        if rule["operator"] in ("in", "not_in"):
            rule["value"] = [one for one in value if is_number(one)] if isinstance(value, list) else []
            rule["value"] = rule["value"] or [3]
        elif rule["operator"] not in ("truthy", "falsy") and not is_number(value):
            rule["value"] = 3


def a_requirement(body: Body, request: Request) -> None:
    """A requirement has one of two forms and says what to look for; no two have one key."""
    a_whole_list(body, "requirements", request, {"kind": "skill", "label": "Python"})
    taken: set[str] = set()
    for number, one in enumerate(body["requirements"]):
        sort = one["kind"]
        if sort in ("must", "should"):
            if one.get("importance"):
                one["importance"] = sort
            sort = one["field"] = SORTS[number % len(SORTS)]
        elif one.get("field"):
            one["field"] = a_number_question(request.path["key"])
        said = (one.get("label", ""), one.get("key", ""), *one.get("values", []))
        if not any(text.strip() for text in said):
            one["label"] = "Python"
        if one.get("key") in taken:
            del one["key"]
        taken.add(one.get("key", ""))


def its_answers(body: Body, request: Request, job: str) -> None:
    """Answers are to questions of the job; files are parts of a multipart body, and of types that can be read."""
    if body.get("answers"):
        number = next((one for one in body["answers"].values() if is_number(one)), 3)
        body["answers"] = {a_number_question(job): round(number, 6) if abs(number) < 10**12 else 3}
    for name in ("cv", "cover_letter"):
        if name in body and request.media_type == MULTIPART:
            body[name] = "Ada Lovelace, engineer"
        else:
            body.pop(name, None)


def a_person(body: Body, request: Request) -> None:
    """The job is open."""
    name_one(body, request, "job_slug", "job_id", an_open_job)
    its_answers(body, request, body.get("job_slug") or body["job_id"])


def a_stranger(body: Body, request: Request) -> None:
    """The job stands in the path."""
    its_answers(body, request, request.path["job_slug"])


def a_visitor(body: Body, request: Request) -> None:
    """The page takes any text so that it can say what is wrong with it beside the field; here nothing is."""
    body |= {"email": "ada@example.com", "full_name": "Ada Lovelace"}
    body["phone"] = body.get("phone", "")[:40]
    a_stranger(body, request)


def a_correction(body: Body, request: Request) -> None:
    """The job is the one that everybody applies for."""
    its_answers(body, request, shared(an_open_job)["key"])


def a_change_on_a_page(body: Body, request: Request) -> None:
    """As a visitor's, of what was sent already."""
    body["full_name"] = "Ada Lovelace"
    body["phone"] = body.get("phone", "")[:40]
    a_correction(body, request)


def a_review(body: Body, request: Request) -> None:
    """Two cases wait, each for at most 10 points."""
    reviews = {min(one["case_order"], 2) or 1: one for one in body["cases"]}
    body["cases"] = [
        {**one, "case_order": order, "score": one["score"] if float(one["score"]) <= 10 else 7.5}
        for order, one in reviews.items()
    ]


def its_place(place: Body, request: Request) -> None:
    if request.real(place["case_id"]):
        return
    mine = place.get("source") == "org"
    place["case_id"] = shared(a_case if mine else a_case_of_the_catalogue)["id"]


def a_set(body: Body, request: Request) -> None:
    """The cases exist where `source` says they are."""
    a_whole_list(body, "cases", request, {"case_id": "", "source": "org"})
    for place in body.get("cases", [body] if "case_id" in body else []):
        its_place(place, request)


def a_pool(body: Body, request: Request) -> None:
    """The squad and the cases exist."""
    its_squad(body)
    for place in body.get("cases", []):
        its_place(place, request)


def a_process(body: Body, request: Request) -> None:
    """Only an assessment's stage names an assessment, which exists; a new stage has no id, and no two one place."""
    its_squad(body)
    a_whole_list(body, "stages", request, {"stage_type": "manual_review"})
    for number, stage in enumerate(body.get("stages", [])):
        for name in ("id", "interview_template_id"):
            stage.pop(name, None)
        if "order" in stage:
            stage["order"] = number
        if stage["stage_type"] == "assessment":
            if stage.get("assessment_id") is None:
                stage["assessment_slug"] = stage.get("assessment_slug") or "made up"
            name_one(stage, request, "assessment_slug", "assessment_id", an_assessment)
        else:
            for name in ("assessment_slug", "assessment_id", "pass_score_override"):
                stage.pop(name, None)


def a_content(body: Body, request: Request) -> None:
    """What each type of case needs to be answered and graded; a check is a function."""
    kind = body.get("case_type")
    if kind == "mcq":
        spare = [{"id": f"spare {number}", "text": "An option"} for number in range(2)]
        options = {one["id"]: one for one in [*body.get("options", []), *spare]}
        body["options"] = list(options.values())[:50]
        body["options"][0]["is_correct"] = True
        if sum(one.get("is_correct", False) for one in body["options"]) > 1:
            body["allow_multiple"] = True
    if kind == "numeric" and body.get("answer_number") is None:
        body["answer_number"] = 0
    if "languages" in body:
        body["languages"] = ["python", "go"] if body["languages"] and kind == "coding" else []
    if kind == "coding":
        body["language"] = "python" if body.get("languages") else body.get("language") or "python"
        body["test_cases"] = [*body.get("test_cases", []), {"input": "1", "weight": 1}][-100:]
    for test in body.get("test_cases", []):
        if test.get("check"):
            test["check"] = "def check(input, output, expected_output):\n    return output == input\n"


def an_endpoint(body: Body, request: Request) -> None:
    """The address answers; an endpoint with a new one has to be tested before it can be switched on."""
    if "url" in body:
        body["url"] = an_address()
        if body.get("is_active"):
            del body["is_active"]


def a_signal(body: Body, request: Request) -> None:
    """The case is one of the session's four."""
    if body.get("case_order"):
        body["case_order"] = min(body["case_order"], 4)


def a_question_asked(body: Body, request: Request) -> None:
    """It is one of the room's."""
    if "question_id" in body:
        body["question_id"] = shared(a_meeting)["question_id"]


def a_drawing(body: Body, request: Request) -> None:
    """A whiteboard may be empty; a form says so with no part at all."""
    a_whole_list(body, "strokes", request, {"colour": "ink", "width": 2, "points": [[1, 1]]})


def an_edit(body: Body, request: Request) -> None:
    """Changes of a document are what its library writes."""
    if "updates" in body:
        body["updates"] = ["AQEBAAQBBGNvZGUFaGVsbG8A"] * min(len(body["updates"]), 2)
    for one in body.get("voice", []):  # each kind of signal needs others of its fields
        one |= {"kind": "here", "mic": True, "muted": False, "asks": False}


def an_answer(body: Body, request: Request) -> None:
    """A choice is among the case's options (hooks.py picks the case by the answer); a form says nothing in one way."""
    if isinstance(body["answer"], list) and body["answer"]:
        body["answer"] = ["a", "b"][: len(body["answer"])]
    if body["answer"] in (None, []) and request.media_type != "application/json":
        body["answer"] = ""
    body.pop("language", None)  # which is the case's own


def a_try(body: Body, request: Request) -> None:
    """The case is in one language."""
    if "language" in body:
        body["language"] = "python"


def printed(text: str) -> str:
    """Leave of a text what every font has."""
    return "".join(one for one in text if one.isascii() and one.isprintable())


def a_letter(body: Body, request: Request) -> None:
    """The application exists, what is to be printed can be, and a text leaves room for what makes it safe to show."""
    if "application_id" in body and not request.real(body["application_id"]):
        body["application_id"] = shared(an_application)["application_id"]
    for name in ("title", "body_html", "compensation_text"):
        if name in body:
            body[name] = printed(body[name])[:5_000]


def a_letterhead(body: Body, request: Request) -> None:
    """The organisation's name stands on the letters that other operations have printed."""
    if "name" in body:
        body["name"] = printed(body["name"]).strip() or "Northwind"


def a_short_reason(body: Body, request: Request) -> None:
    """The page shows a longer one again, so that it can be shortened."""
    body["reason"] = body.get("reason", "")[:2_000]


def a_full_name(body: Body, request: Request) -> None:
    """The page asks again for one that is blank or too long."""
    body["name"] = " ".join(body.get("name", "").split())[:200] or "Grace"


def a_look(body: Body, request: Request) -> None:
    """A colour that stands out on light and dark pages; consent is asked for where there is a notice."""
    body.pop("consent_required", None)
    if body.get("colour") is not None:
        body["colour"] = "#1f5eff"


def a_picture(body: Body, request: Request) -> None:
    """Bytes that are made up are none."""
    if "logo" in body:
        body["logo"] = LOGO


def a_file(body: Body, request: Request) -> None:
    """Bytes that are made up are of no kind."""
    if "file" in body:
        body["file"] = b"Ada Lovelace"


def a_part(body: Body, request: Request) -> None:
    """The first part of a camera's track."""
    body |= {"kind": "webcam", "media_type": "video/webm"}
    if "content" in body:
        body["content"] = b"a video"


def a_duplicate(body: Body, request: Request) -> None:
    """The other profile exists."""
    if "source_id" in body and not request.real(body["source_id"]):
        body["source_id"] = a_candidate()["candidate_id"]


def a_judgement(body: Body, request: Request) -> None:
    """What it is about exists, and is the candidate's; a form says a number as a text, which is not rounded."""
    if request.media_type != "application/json" and is_number(body.get("total")):
        body["total"] = round(body["total"], 2)
    for name, make in {"application_id": a_candidate, "assessment_id": an_assessment}.items():
        if body.get(name) is not None and not request.real(body[name]):
            body[name] = shared(make)[name]


def a_colleague(body: Body, request: Request) -> None:
    """Whoever joins a squad is a member of the organisation."""
    if "user_id" in body and not request.real(body["user_id"]):
        body["user_id"] = a_member()["user_id"]


def a_talk(body: Body, request: Request) -> None:
    """What is named exists, and there is what its kind needs."""
    if body.get("interviewers"):
        body["interviewers"] = [shared(a_member)["user_id"]]
    if body.get("coding_case_ids") or body.get("interview_type") in ("coding", "mixed"):
        body["coding_case_ids"] = [shared(a_program)["id"]]
    if body.get("human_can_join") is False:
        del body["human_can_join"]
    if request.media_type != "application/json" and isinstance(body.get("integrity_config"), list):
        body["integrity_config"] = {}  # of what may be anything, Schemathesis sends a list as repeated fields


def a_time(body: Body, request: Request) -> None:
    """It is to come."""
    if body.get("scheduled_at") is not None:
        body["scheduled_at"] = iso(now() + timedelta(days=30))


def a_room(body: Body, request: Request) -> None:
    """The same of a room, whose AI knows the job and the candidate."""
    a_talk(body, request)
    a_time(body, request)
    if body.get("template_id") is not None and not request.real(body["template_id"]):
        body["template_id"] = shared(an_interview_template)["template_id"]
    if body.get("pipeline_enrollment_id") is not None and not request.real(body["pipeline_enrollment_id"]):
        body["pipeline_enrollment_id"] = shared(an_enrollment)["enrollment_id"]
    if body.get("interviewer_mode") == "ai_only":
        body["job_description"] = "We build hiring tools."
        for one in body.get("candidates", [body]):
            one["resume_text"] = "Ten years of Python."


def a_conversation(body: Body, request: Request) -> None:
    """What a message has depends on its role."""
    for place, one in enumerate(body["messages"]):
        if one["role"] != "assistant":
            one.pop("tool_calls", None)
        if one["role"] == "tool":
            one.setdefault("tool_call_id", f"call_{place}")
        else:
            one.pop("tool_call_id", None)
        if one.get("content") is None and not one.get("tool_calls"):
            one["content"] = "Hello"


def a_new_key(body: Body, request: Request) -> None:
    """Networks are networks, and it does not end before it begins."""
    if body.get("cidrs"):
        body["cidrs"] = ["203.0.113.0/24"]
    if body.get("expires_at") is not None:
        a_moment_to_come(body, request)


def somebody_new(body: Body, request: Request) -> None:
    """Nobody is invited twice, nor mailed to more than now and then."""
    body["email"] = people.an_email()


def a_proof(body: Body, request: Request) -> None:
    """The code, or the link, is one that was mailed."""
    mailed = people.a_sign_in()
    named = ("token",) if "token" in body else ("email", "code")
    body.clear()
    body |= {name: mailed[name] for name in named}


def a_confirmation(body: Body, request: Request) -> None:
    """The code is one that was mailed to who asks."""
    body["code"] = people.a_code(request.session)


def a_sign_in_form(body: Body, request: Request) -> None:
    """A code is one that was mailed; without one, a mail is asked for."""
    mailed = people.a_sign_in()
    body["email"] = mailed["email"]
    if body.get("code"):
        body["code"] = mailed["code"]


def a_candidate_who_is_played(body: Body, request: Request) -> None:
    """Answers are to the two texts that are asked for."""
    body["answers"] = [
        {"case_order": number + 1, "answer": "It depends."}
        for number, _ in enumerate(body.get("answers", [])[:2])
    ]


def a_few(body: Body, request: Request) -> None:
    """Hundreds of people would take minutes."""
    body["count"] = min(body["count"], 3)


def an_event_that_happens(body: Body, request: Request) -> None:
    """A ping is sent by another operation."""
    if body["type"] == "webhook.test":
        body["type"] = "offer.accepted"


def a_form_of_the_area(body: Body, request: Request) -> None:
    """It was made for the session, and asks for something that its page has; more fields than it needs do no harm."""
    actions = DEEDS[request.operation]
    action = list(actions)[len(body["action"]) % len(actions)]
    fields = {**body.get("fields", {}), **actions[action](request.session, request.path)}
    body.pop("file", None)  # what stands in it is in a field as well
    body |= {
        "csrf_token": people.headers(request.session)["X-CSRF-Token"],
        "action": action,
        "fields": fields,
    }


FITS: dict[str, Callable[[Body, Request], None]] = {
    "create_key": a_new_key,
    "update_key": a_new_key,
    "invite_member": somebody_new,
    "sign_in_by_mail": somebody_new,
    "sign_in_by_code": a_proof,
    "sign_in_on_page": a_sign_in_form,
    "confirm_identity": a_confirmation,
    **dict.fromkeys(DEEDS, a_form_of_the_area),
    "take_test_invitation": a_candidate_who_is_played,
    "make_test_applications": a_few,
    "send_test_event": an_event_that_happens,
    "ask_assistant": a_conversation,
    "review_result": a_review,
    "save_answer": an_answer,
    "save_recording_chunk": a_part,
    "run_code": a_try,
    "create_invitation": an_address_of_somebody,
    "update_invitation": a_moment_to_come,
    "enroll_candidate": an_address_of_somebody,
    "create_job": a_linked_job,
    "update_job": a_linked_job,
    "create_field": a_question,
    "update_field": a_question,
    "replace_knockouts": a_knockout,
    "replace_requirements": a_requirement,
    "create_application": a_person,
    "apply_for_job": a_stranger,
    "apply_on_page": a_visitor,
    "correct_own_application": a_correction,
    "change_on_application_page": a_change_on_a_page,
    "report_violation": a_signal,
    "attach_cases": a_set,
    "replace_cases": a_set,
    "create_assessment": a_pool,
    "update_assessment": a_pool,
    "create_pipeline": a_process,
    "update_organisation": a_letterhead,
    "update_settings": a_look,
    "upload_logo": a_picture,
    "upload_attachment": a_file,
    "merge_candidates": a_duplicate,
    "create_scorecard": a_judgement,
    "add_squad_member": a_colleague,
    "update_pipeline": a_process,
    "create_offer": a_letter,
    "update_offer": a_letter,
    "answer_on_offer_page": a_short_reason,
    "join_on_page": a_full_name,
    "create_case": a_content,
    "update_case": a_content,
    "create_interview": a_room,
    "bulk_interview": a_room,
    "reschedule_interview": a_time,
    "create_interview_template": a_talk,
    "update_interview_template": a_talk,
    "show_room_question": a_question_asked,
    "save_room_code": a_question_asked,
    "save_whiteboard": a_drawing,
    "send_live_changes": an_edit,
    "create_webhook": an_endpoint,
    "update_webhook": an_endpoint,
}
