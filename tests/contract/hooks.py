"""Real ids, addresses and cursors for Schemathesis: what it makes up would lead nowhere.

A case that is meant to be accepted gets the id of something that exists; what an operation ends or changes is made
for that one call. Where one field decides what another must be, which no schema of OpenAPI 3.0 says, the other is
made to fit. Cases that are meant to be refused stay as they are, and steps that follow a link keep their ids.
"""

import json
import os
import uuid
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import urlencode

import httpx
import schemathesis
from schemathesis import Case, HookContext
from schemathesis.core.failures import AcceptedNegativeData
from sqlalchemy import select

import store
from app import settings, wiring
from store.fanout import fan_out
from store.invitations import Invitation
from store.sessions import CandidateSession
from tests.documents import documents, operations
from workers.grading import grade

Ids = dict[str, str]
PUBLIC = "/api/v1/public"

http = httpx.Client(
    base_url=os.environ["CONTRACT_URL"],
    headers={"Authorization": f"Bearer {os.environ['CONTRACT_KEY']}"},
    timeout=60,
)
wiring.configure(settings.read())


def call(method: str, path: str, body: Any = None, base: str = PUBLIC) -> Any:
    response = http.request(method, base + path, json=body)
    response.raise_for_status()
    return response.json() if response.content else None


def a_case(**fields: Any) -> Ids:
    return {
        "id": call("POST", "/cases/create/", {"title": "In your words", "case_type": "text", **fields})["id"]
    }


def a_program() -> Ids:
    return a_case(case_type="coding", language="python", test_cases=[{"input": "1", "expected_output": "1"}])


def a_draft(make: Callable[[], Ids] = a_case, **fields: Any) -> Ids:
    cases = [{"case_id": make()["id"], "source": "org"} for _ in range(2)]
    body = {"title": "Backend engineer", "cases": cases, "assignment_size": 1, **fields}
    return {"slug": call("POST", "/assessments/create/", body)["slug"]}


def an_assessment(make: Callable[[], Ids] = a_case) -> Ids:
    made = a_draft(make)
    call("PATCH", f"/assessments/{made['slug']}/update/", {"status": "active"})
    return made


def a_place() -> Ids:
    made = a_draft()
    rows = call("GET", f"/assessments/{made['slug']}/cases/")["results"]
    return {**made, "assessment_case_id": rows[0]["assessment_case_id"]}


def a_programming_assessment() -> Ids:
    return an_assessment(a_program)


def an_invitation(to: Callable[[], Ids] = an_assessment) -> Ids:
    body = {"email": f"{uuid.uuid4().hex}@example.com"}
    made = call("POST", f"/assessments/{shared(to)['slug']}/invites/", body)
    return {"token": made["invite_token"]}


def a_programming_sitting() -> Ids:
    return a_sitting(a_programming_assessment)


def a_sitting(of: Callable[[], Ids] = an_assessment) -> Ids:
    made = an_invitation(of)
    state = call("POST", f"/invites/{made['token']}/start/", base="/api/v1/candidate")
    return {**made, "assessment_case_id": state["cases"][0]["assessment_case_id"]}


def a_submission() -> Ids:
    """A session that is over and graded, as far as a program can: its texts wait for a reviewer."""
    made = a_sitting()
    answers = f"/invites/{made['token']}/answers/{made['assessment_case_id']}/"
    call("PUT", answers, {"answer": "It depends."}, base="/api/v1/candidate")
    call("POST", f"/invites/{made['token']}/submit/", base="/api/v1/candidate")
    with store.transaction() as session:
        sitting = session.scalars(
            select(CandidateSession).join(Invitation).where(Invitation.token == made["token"])
        ).one()
    grade(uuid.uuid4(), {"session_id": str(sitting.id)})
    return made


def a_webhook() -> Ids:
    url = f"{os.environ['HOOK_URL']}/{uuid.uuid4().hex}"
    return {"id": call("POST", "/webhooks/create/", {"url": url, "events": ["*"]})["id"]}


def a_verified_webhook() -> Ids:
    made = a_webhook()
    call("POST", f"/webhooks/{made['id']}/test/")
    return made


def a_delivery() -> Ids:
    made = a_verified_webhook()
    an_invitation()
    with store.transaction() as session:
        fan_out(session, limit=100_000)
    rows = call("GET", f"/webhooks/{made['id']}/deliveries/")["results"]
    return {**made, "delivery_id": rows[0]["id"]}


def a_job() -> Ids:
    return {"key": call("POST", "/jobs/create/", {"title": "Backend engineer"})["slug"]}


def a_field() -> Ids:
    made = a_job()
    body = {"label": "Years of Python", "field_type": "number", "key": "years"}
    return {**made, "field_id": call("POST", f"/jobs/{made['key']}/fields/", body)["id"]}


def an_address_of_somebody(body: Any) -> None:
    """An empty email is refused as MISSING_EMAIL, which no schema can tell from another text."""
    if not body["email"].strip():
        body["email"] = f"{uuid.uuid4().hex}@example.com"


def a_squad(body: Any) -> None:
    """There are no squads and no pipelines, so nothing is of one."""
    for name in ("team_id", "squad_id", "pipeline_id", "pipeline_slug", "assessment_id", "assessment_slug"):
        body.pop(name, None)


def an_open_job() -> Ids:
    made = a_job()
    call("POST", f"/jobs/{made['key']}/publish/")
    return made


def a_career() -> Ids:
    """What the world sees: an organisation by its slug, and an open job of the live mode."""
    return {"org_slug": call("GET", "/org/")["slug"], "job_slug": an_open_job()["key"]}


def an_application() -> Ids:
    made = shared(an_open_job)
    person = {
        "job_slug": made["key"],
        "email": f"{uuid.uuid4().hex}@example.com",
        "full_name": "Ada Lovelace",
    }
    return {"application_id": call("POST", "/applications/create/", person)["id"]}


def an_application_after(step: str) -> Callable[[], Ids]:
    def make() -> Ids:
        made = an_application()
        call("POST", f"/applications/{made['application_id']}/{step}/", {})
        return made

    return make


def an_attachment() -> Ids:
    made = shared(an_open_job)
    person = {
        "job_slug": made["key"],
        "email": f"{uuid.uuid4().hex}@example.com",
        "full_name": "Ada Lovelace",
    }
    files = {"cv": ("cv.txt", b"Ada Lovelace, engineer", "text/plain")}
    found = http.post(f"{PUBLIC}/applications/create/", data=person, files=files)
    found.raise_for_status()
    shown = found.json()
    return {"application_id": shown["id"], "attachment_id": shown["attachments"][0]["id"]}


def a_person(body: Any) -> None:
    """Somebody new, for a job that is open and asks nothing; files come in multipart bodies alone."""
    for name in ("job_id", "cv", "cover_letter", "answers"):
        body.pop(name, None)
    body |= {"job_slug": shared(an_open_job)["key"], "email": f"{uuid.uuid4().hex}@example.com"}


def a_stranger(body: Any) -> None:
    """Somebody who has a name and an address, and answers nothing that is not asked."""
    for name in ("cv", "cover_letter", "answers"):
        body.pop(name, None)
    body |= {"email": f"{uuid.uuid4().hex}@example.com", "full_name": "Ada Lovelace", "phone": "1"}


def a_question(body: Any) -> None:
    """Only a choice has options; which is the job's own business."""
    if "field_type" in body or "options" in body:
        body["field_type"] = "short_text"
        body.pop("options", None)


def a_knockout(body: Any) -> None:
    """A rule about the question that the job asks."""
    body["rules"] = body["rules"] or [{"on_fail": "reject"}]
    for rule in body["rules"]:
        rule |= {"field_key": "years", "operator": "gte", "value": 3}


def a_requirement(body: Any) -> None:
    """A kind in one field, its importance in another."""
    body["requirements"] = body["requirements"] or [{"label": "Python"}]
    for number, one in enumerate(body["requirements"]):
        one |= {"kind": "skill", "importance": "must", "key": f"skill-{number}"}
        one.pop("field", None)


def a_review(body: Any) -> None:
    """Only the first case waits, for at most 10 points."""
    body["cases"] = [{**body["cases"][0], "case_order": 1, "score": "7.50"}]


def a_set(body: Any) -> None:
    """Cases that exist; a form cannot say that there are none."""
    case_id = shared(a_case)["id"]
    if "case_id" in body:
        body |= {"case_id": case_id, "source": "org"}
    for place in body.get("cases", []):
        place |= {"case_id": case_id, "source": "org"}
    if body.get("cases") == []:
        body["cases"] = [{"case_id": case_id, "source": "org"}]


def a_pool(body: Any) -> None:
    """A draw has a size, the cases exist, and there are no squads yet."""
    body.pop("team_id", None)
    for place in body.get("cases", []):
        place |= {"case_id": shared(a_case)["id"], "source": "org"}
    if body.get("pool_mode"):
        body["assignment_size"] = body.get("assignment_size") or 1


def a_content(body: Any) -> None:
    """What each type of case needs."""
    kind = body.get("case_type")
    if kind == "mcq":
        given = body.get("options") or []
        body["options"] = [
            {"id": str(n), "text": "an option", "is_correct": n == 0} for n in range(max(2, len(given)))
        ]
    if kind == "numeric":
        body["answer_number"] = body.get("answer_number") or 0
        body.pop("tolerance", None)
    if kind == "coding":
        body["language"] = body.get("language") or "python"
        body["test_cases"] = [*(body.get("test_cases") or []), {"input": "1", "weight": 1}][-100:]


def an_address(body: Any) -> None:
    """An endpoint that answers; one with a new address has to be tested before it can be switched on."""
    if "url" in body:
        body["url"] = f"{os.environ['HOOK_URL']}/{uuid.uuid4().hex}"
        body.pop("is_active", None)


def a_signal(body: Any) -> None:
    """The case is one of the session's."""
    if body.get("case_order"):
        body["case_order"] = 1


def a_text(body: Any) -> None:
    """The case asks for a text."""
    if not isinstance(body["answer"], str):
        body["answer"] = json.dumps(body["answer"])


RULES: dict[str, Callable[[Any], None]] = {
    "review_result": a_review,
    "save_answer": a_text,
    "create_invitation": an_address_of_somebody,
    "create_job": a_squad,
    "update_job": a_squad,
    "create_field": a_question,
    "update_field": a_question,
    "replace_knockouts": a_knockout,
    "replace_requirements": a_requirement,
    "create_application": a_person,
    "apply_for_job": a_stranger,
    "apply_on_page": a_stranger,
    "report_violation": a_signal,
    "attach_cases": a_set,
    "replace_cases": a_set,
    "create_assessment": a_pool,
    "update_assessment": a_pool,
    "create_case": a_content,
    "update_case": a_content,
    "create_webhook": an_address,
    "update_webhook": an_address,
}


@cache
def shared(make: Callable[[], Ids]) -> Ids:
    """Return the one that operations share which leave it as it is."""
    return make()


# What stands in the path of an operation; by default what its parameters are named for, shared.
FRESH: dict[str, Callable[[], Ids]] = {
    "update_assessment": a_draft,
    "attach_cases": a_draft,
    "replace_cases": a_draft,
    "remove_case": a_place,
    "cancel_invitation": an_invitation,
    "remind_invitation": an_invitation,
    "review_result": a_submission,
    "delete_case": a_case,
    "update_job": a_job,
    "publish_job": a_job,
    "close_job": an_open_job,
    "create_field": a_job,
    "update_field": a_field,
    "delete_field": a_field,
    "replace_knockouts": a_field,
    "replace_requirements": a_field,
    "advance_application": an_application,
    "reject_application": an_application,
    "hold_application": an_application,
    "withdraw_application": an_application,
    "unhold_application": an_application_after("hold"),
    "hire_application": an_application_after("advance"),
    "download_attachment": an_attachment,
    "update_case": a_case,
    "delete_webhook": a_webhook,
    "update_webhook": a_verified_webhook,
    "retry_delivery": a_delivery,
    "start_session": an_invitation,
    "save_answer": a_sitting,
    "run_code": a_programming_sitting,
    "report_violation": a_sitting,
    "submit_session": a_sitting,
}
SHARED: dict[tuple[str, str], Callable[[], Ids]] = {
    ("assessments", "slug"): an_assessment,
    ("invites", "token"): a_submission,
    ("take", "token"): an_invitation,
    ("cases", "id"): a_case,
    ("webhooks", "id"): a_verified_webhook,
    ("jobs", "key"): a_job,
    ("api", "org_slug"): a_career,
    ("careers", "org_slug"): a_career,
    ("applications", "application_id"): an_application,
}


def ids(case: Case) -> Ids:
    operation = case.operation.definition.raw["operationId"]
    if operation in FRESH:
        return FRESH[operation]()
    words = case.operation.path.removeprefix("/api/v1/candidate").strip("/").split("/")
    if words[0] == "docs":
        return {"name": "quickstart", "code": "NOT_FOUND"}
    make = SHARED.get((words[0], next(word for word in words if word.startswith("{")).strip("{}")))
    return shared(make) if make else {}  # what has no maker yet is reported as missing test data


@cache
def cursor(path: str) -> str | None:
    """Return a cursor that the list of this path made; None where it has a single page."""
    answer = http.get(path, params={"page_size": 1})
    if not answer.headers["content-type"].startswith("application/json"):
        return None  # a page for people
    following = answer.json()["next"]
    return httpx.URL(following).params["cursor"] if following else None


@schemathesis.hook
def before_call(context: HookContext, case: Case, kwargs: dict[str, Any]) -> None:
    """Put what exists into a case that is meant to be accepted."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    linked = case.meta.phase.name.value == "stateful"
    fit = RULES.get(case.operation.definition.raw["operationId"])
    if fit and isinstance(case.body, dict):
        body = json.loads(json.dumps(case.body))
        fit(body)
        case.body = body
    if case.headers and "Idempotency-Key" in case.headers:
        # The same key for another request is refused: this one is of this request alone.
        case.headers["Idempotency-Key"] = case.headers["Idempotency-Key"][:200] + uuid.uuid4().hex
    if case.path_parameters and not linked:
        real = ids(case)
        case.path_parameters = {name: real.get(name, value) for name, value in case.path_parameters.items()}
    if case.query and "cursor" in case.query:
        following = cursor(httpx.URL(case.operation.base_url or "").path.rstrip("/") + case.formatted_path)
        # The cursor is of the list in its own order.
        query = {name: value for name, value in case.query.items() if name not in ("cursor", "ordering")}
        case.query = {**query, "cursor": following} if following else query


@schemathesis.serializer("application/x-www-form-urlencoded")
def form(context: schemathesis.SerializationContext, value: Any) -> Any:
    """Write a form as the document's description has it: arrays of objects and objects are one field of JSON."""
    if not isinstance(value, dict):
        return value if isinstance(value, (str, bytes)) else json.dumps(value).encode()
    operation = context.case.operation.definition.raw["operationId"]
    properties = body_schema(operation).get("properties", {})
    given = context.case.body if isinstance(context.case.body, dict) else value
    written = {
        name: json.dumps(one)
        if properties.get(name, {}).get("items", {}).get("type") == "object" or isinstance(one, dict)
        else one
        for name, one in given.items()
        if one is not None
    }
    return urlencode(written, doseq=True).encode()


@cache
def body_schema(operation_id: str) -> dict[str, Any]:
    found = next(op for name in documents() for op in operations(name).values() if op.id == operation_id)
    content = found.definition["requestBody"]["content"]
    schema: dict[str, Any] = next(iter(content.values()))["schema"]  # the same for every media type
    return schema


@schemathesis.hook
def filter_failure(context: HookContext, failure: Any, case: Case, response: Any) -> bool:
    """What a form cannot tell apart is no fault: an empty field and null, one text and an array of one text."""
    if not isinstance(failure, AcceptedNegativeData) or not isinstance(case.body, dict):
        return True
    if case.media_type not in ("multipart/form-data", "application/x-www-form-urlencoded"):
        return True
    properties = body_schema(case.operation.definition.raw["operationId"]).get("properties", {})
    return not any(
        (value == "" and may_be_null(properties.get(name, {})))
        or (properties.get(name, {}).get("type") == "array" and not isinstance(value, list))
        for name, value in case.body.items()
    )


def may_be_null(schema: dict[str, Any]) -> bool:
    return bool(schema.get("nullable")) or any(one.get("nullable") for one in schema.get("anyOf", []))
