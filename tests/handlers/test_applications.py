"""Applications through the API: made once, with answers and files, listed and downloaded."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import update

import store
from rules.clock import now
from store.hiring.jobs import Job
from tests import api as tenants
from tests.api import Api, Tenant, address
from tests.probes import faults, refusal

PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"
TEXT = b"Ada Lovelace\nada@example.com\nPython, PostgreSQL\n"
CHOICES = [{"value": "de", "label": "German"}, {"value": "en", "label": "English"}]


@pytest.fixture
def job(tenant: Tenant) -> str:
    return str(tenant.live.job(published=True)["slug"])


def ask(api: Api, job: str, key: str, field_type: str = "short_text", **field: Any) -> None:
    made = api.post(f"/jobs/{job}/fields/", {"key": key, "label": key, "field_type": field_type, **field})
    assert made.status_code == 201, made.text


def rules(api: Api, job: str, *rules: dict[str, Any]) -> None:
    assert api.put(f"/jobs/{job}/knockout-rules/replace/", {"rules": list(rules)}).status_code == 200


def send(api: Api, job: str, files: dict[str, Any] | None = None, **fields: Any) -> Any:
    form = {"job_slug": job, "email": address(), "full_name": "Ada Lovelace", **fields}
    return api.post("/applications/create/", data=form, files=files)


def told(api: Api, *types: str) -> list[dict[str, Any]]:
    found = api.get("/events/", params={"page_size": 100}).json()["results"]
    return [one for one in found if one["type"] in types]


def seen(api: Api, id: str) -> dict[str, Any]:
    return {name: one for name, one in api.get(f"/applications/{id}/").json().items() if name != "meta"}


# --- Creating


def test_an_application_is_kept_and_told_of(tenant: Tenant, job: str) -> None:
    answer = tenant.live.post(
        "/applications/create/",
        {
            "job_slug": job,
            "email": "Ada@Example.com",
            "full_name": " Ada Lovelace ",
            "phone": "+44 20",
            "external_id": "x1",
        },
    )
    assert answer.status_code == 201, answer.text
    made = answer.json()
    whole = tenant.live.get(f"/jobs/{job}/").json()
    assert made.items() >= {
        "email": "Ada@example.com", "full_name": "Ada Lovelace", "phone": "+44 20", "status": "submitted",
        "source": "public_api", "external_id": "x1", "invitation_id": None, "enrollment_id": None,
        "reject_reason": "",
        "livemode": True, "job_id": whole["id"], "job_slug": job, "answers": [], "attachments": [],
    }.items()  # fmt: skip
    assert made["screening"] == {
        "status": "pending", "l1_passed": True, "l3_score": None, "l3_breakdown": {}, "ai_brief": "",
        "ai_red_flags": [],
        "brief_error": "", "auto_advanced": False, "screened_at": None, "parse_error": "",
    }  # fmt: skip
    assert [(one["type"], one["from_status"], one["to_status"], one["actor"]) for one in made["events"]] == [
        ("submitted", None, "submitted", "public_api")
    ]
    assert seen(tenant.live, made["id"]) == made
    assert whole["application_count"] == 1
    [event] = told(tenant.live, "application.submitted", "application.knockout_failed")
    assert event["data"] == {
        "application_id": made["id"], "job_id": whole["id"], "job_slug": job, "email": "Ada@example.com",
        "full_name": "Ada Lovelace", "status": "submitted", "source": "public_api", "external_id": "x1",
        "team_id": None,
        "submitted_at": made["submitted_at"],
    }  # fmt: skip


def test_the_job_may_be_named_by_its_id(tenant: Tenant, job: str) -> None:
    id = tenant.live.get(f"/jobs/{job}/").json()["id"]
    person = {"email": address(), "full_name": "Ada"}
    assert tenant.live.post("/applications/create/", {"job_id": id, **person}).json()["job_slug"] == job
    found = faults(tenant.live.post("/applications/create/", person))
    assert found == {"": "At least one of job_id, job_slug is required."}
    for names in ({"job_id": str(uuid4())}, {"job_slug": "nothing"}):
        refusal(tenant.live.post("/applications/create/", {**names, **person}), 404, "NOT_FOUND")


@pytest.mark.parametrize("form", ["json", "data"])
def test_the_job_may_be_named_twice_but_only_as_one(tenant: Tenant, job: str, form: str) -> None:
    def apply(**names: str) -> Any:
        person = {"email": address(), "full_name": "Ada"}
        return tenant.live.post("/applications/create/", **{form: {**names, **person}})

    id, other = tenant.live.get(f"/jobs/{job}/").json()["id"], tenant.live.job(published=True)
    assert apply(job_id=id, job_slug=job).json()["job_id"] == id
    assert faults(apply(job_id=id, job_slug=other["slug"])) == {
        "/job_slug": "Names another job than `job_id` does."
    }
    for names in ({"job_id": id, "job_slug": "nothing"}, {"job_id": str(uuid4()), "job_slug": job}):
        refusal(apply(**names), 404, "NOT_FOUND")
    assert [one["job_id"] for one in tenant.live.get("/applications/").json()["results"]] == [id]


@pytest.mark.parametrize("form", ["json", "form", "multipart", "parts"])
def test_answers_come_in_every_form(tenant: Tenant, job: str, form: str) -> None:
    live = tenant.live
    ask(live, job, "name")
    ask(live, job, "years", "number")
    ask(live, job, "remote", "boolean")
    ask(live, job, "language", "single_select", options=CHOICES)
    ask(live, job, "languages", "multi_select", options=CHOICES)
    ask(live, job, "site", "url")
    answers = {
        "name": "Ada",
        "years": 5.5,
        "remote": True,
        "language": "de",
        "languages": ["de", "en"],
        "site": "https://a.example",
    }
    person = {"job_slug": job, "email": address(), "full_name": "Ada"}
    if form == "json":
        made = live.post("/applications/create/", {**person, "answers": answers})
    elif form == "parts":
        parts = {f"answers.{key}": value for key, value in answers.items()} | {
            "answers.remote": "on",
            "answers.years": "5.5",
        }
        made = live.post("/applications/create/", data={**person, **parts}, files={"cv": ("cv.txt", TEXT)})
    else:
        files = {"files": {"cv": ("cv.txt", TEXT)}} if form == "multipart" else {}
        made = live.post("/applications/create/", data={**person, "answers": json.dumps(answers)}, **files)
    assert made.status_code == 201, made.text
    rows = made.json()["answers"]
    assert [row["field_key"] for row in rows] == list(answers)
    assert [row["field_type"] for row in rows][1] == "number"
    assert (rows[0]["value_text"], rows[1]["value_number"], rows[2]["value_boolean"]) == ("Ada", "5.5", True)
    assert (rows[3]["value_text"], rows[4]["value_json"]) == ("de", ["de", "en"])
    assert (rows[0]["value_number"], rows[0]["value_boolean"], rows[0]["value_json"]) == (None, None, None)
    assert rows[1]["value_text"] == ""


def test_every_fault_of_answers_and_files_is_told_at_once(tenant: Tenant) -> None:
    job = tenant.live.job(published=True, cv_required=True)["slug"]
    ask(tenant.live, job, "years", "number", is_required=True)
    ask(tenant.live, job, "language", "single_select", options=CHOICES)
    ask(tenant.live, job, "gone", is_required=True, is_active=False)
    person = {"job_slug": job, "email": address(), "full_name": "Ada"}
    answers = {"language": "fr", "langauge": "de"}
    found = faults(tenant.live.post("/applications/create/", {**person, "answers": answers}))
    assert set(found) == {"/cv", "/answers/years", "/answers/language", "/answers/langauge"}
    found = faults(
        tenant.live.post("/applications/create/", {**person, "cv": "text", "cover_letter": "text"})
    )
    assert set(found) == {"/cv", "/cover_letter"}  # no files at all
    files = {"cv": ("cv.pdf", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), "cover_letter": ("a.txt", b"")}
    found = faults(
        tenant.live.post("/applications/create/", data={**person, "answers.years": "x"}, files=files)
    )
    assert set(found) == {"/cv", "/cover_letter", "/answers/years"}
    assert "picture" in found["/cv"]
    assert tenant.live.get("/applications/").json()["results"] == []


@pytest.mark.parametrize(("fields", "pointer"), [
    ({"email": "nobody"}, "/email"), ({"email": ""}, "/email"), ({"full_name": " "}, "/full_name"),
    ({"full_name": "\u00a0\u3000"}, "/full_name"), ({"full_name": "x" * 201}, "/full_name"),
    ({"phone": "1" * 41}, "/phone"), ({"external_id": "x" * 256}, "/external_id"),
    ({"answers": []}, "/answers"), ({"status": "hired"}, "/status"), ({"source": "agency"}, "/source"),
])  # fmt: skip
def test_a_bad_field_is_refused_in_its_place(tenant: Tenant, job: str, fields: dict, pointer: str) -> None:
    person = {"job_slug": job, "email": address(), "full_name": "Ada"}
    assert pointer in faults(tenant.live.post("/applications/create/", {**person, **fields}))


@pytest.mark.parametrize("status", ["draft", "closed"])
def test_a_job_that_is_not_open_takes_no_application(tenant: Tenant, status: str) -> None:
    job = tenant.live.job(published=status == "closed")["slug"]
    if status == "closed":
        tenant.live.post(f"/jobs/{job}/close/")
    answer = tenant.live.post(
        "/applications/create/", {"job_slug": job, "email": address(), "full_name": "Ada"}
    )
    assert refusal(answer, 400, "VALIDATION_ERROR")["details"]["status"] == status


def test_a_job_that_has_expired_takes_no_application(tenant: Tenant, job: str) -> None:
    with store.transaction() as session:
        session.execute(
            update(Job)
            .where(Job.slug == job, Job.organisation_id == tenant.organisation.id)
            .values(expires_at=now())
        )
    answer = tenant.live.post(
        "/applications/create/", {"job_slug": job, "email": address(), "full_name": "Ada"}
    )
    assert refusal(answer, 400, "VALIDATION_ERROR")["details"]["status"] == "closed"


def test_the_same_person_has_one_application_for_a_job(tenant: Tenant, other: Tenant, job: str) -> None:
    first = tenant.live.application(job, "ada@example.com")
    again = tenant.live.post(
        "/applications/create/", {"job_slug": job, "email": "ADA@example.com", "full_name": "B"}
    )
    assert (again.status_code, again.json()) == (200, first)
    second_job = tenant.live.job(published=True)["slug"]
    second = tenant.live.application(second_job, "ada@example.com")
    assert second["candidate_id"] == first["candidate_id"]
    stranger = other.live.application(other.live.job(published=True)["slug"], "ada@example.com")
    assert stranger["candidate_id"] != first["candidate_id"]
    tenant.live.post(f"/applications/{first['id']}/withdraw/")
    third = tenant.live.application(job, "ada@example.com")
    assert third["id"] != first["id"]
    assert len(told(tenant.live, "application.submitted")) == 3


def test_one_person_many_times_at_once_makes_one_application(tenant: Tenant, job: str) -> None:
    person = {"job_slug": job, "email": "ada@example.com", "full_name": "Ada"}
    with ThreadPoolExecutor(10) as pool:
        answers = list(
            pool.map(
                lambda _: tenant.live.post(
                    "/applications/create/", data=person, files={"cv": ("cv.txt", TEXT)}
                ),
                range(10),
            )
        )
    assert sorted(one.status_code for one in answers) == [200] * 9 + [201]
    assert len({one.json()["id"] for one in answers}) == 1
    assert all(len(one.json()["attachments"]) == 1 for one in answers)
    assert len(told(tenant.live, "application.submitted")) == 1
    assert tenant.live.get(f"/jobs/{job}/").json()["application_count"] == 1


def test_many_people_at_once_are_all_counted(tenant: Tenant, job: str) -> None:
    with ThreadPoolExecutor(10) as pool:
        list(pool.map(lambda _: tenant.live.application(job), range(20)))
    assert tenant.live.get(f"/jobs/{job}/").json()["application_count"] == 20


# --- Files


@pytest.mark.parametrize(("name", "content", "kind"), [
    ("cv.exe", PDF, "application/pdf"), ("../../cv.pdf", PDF, "application/pdf"), ("cv.pdf", TEXT, "text/plain"),
    ("Lebenslauf Ünal.txt", "Öl".encode(), "text/plain"), ("", TEXT, "text/plain"),
    ('a"b\r\n.txt', TEXT, "text/plain"),
])  # fmt: skip
def test_a_file_is_typed_by_its_content_and_saved_not_shown(
    tenant: Tenant, job: str, name: str, content: bytes, kind: str
) -> None:
    boundary = "limit"
    parts = {"job_slug": job, "email": address(), "full_name": "Ada"}
    body = b"".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in parts.items()
    )
    quoted = name.replace('"', "%22").replace("\r\n", "%0D%0A")
    body += f'--{boundary}\r\nContent-Disposition: form-data; name="cv"; filename="{quoted}"\r\n\r\n'.encode()
    body += content + f"\r\n--{boundary}--\r\n".encode()
    made = tenant.live.post(
        "/applications/create/",
        content=body,
        headers={"Content-Type": f"multipart/form-data; boundary={boundary}"},
    ).json()
    [file] = made["attachments"]
    assert (file["kind"], file["content_type"], file["size_bytes"]) == ("cv", kind, len(content))
    assert "/" not in file["filename"]
    assert file["filename"]
    got = tenant.live.get(f"/applications/{made['id']}/attachments/{file['id']}/")
    assert got.content == content
    assert got.headers["content-type"].startswith(kind)
    assert got.headers["content-disposition"].startswith("attachment; filename=")
    assert got.headers["x-content-type-options"] == "nosniff"
    missing = f"/applications/{made['id']}/attachments/{uuid4()}/"
    refusal(tenant.live.get(missing), 404, "NOT_FOUND")


def test_a_file_may_weigh_ten_mebibytes(tenant: Tenant, job: str) -> None:
    whole, over = b"x" * (10 << 20), b"x" * ((10 << 20) + 1)
    assert send(tenant.live, job, {"cv": ("cv.txt", whole)}).status_code == 201
    for files, limit in (
        ({"cv": ("cv.txt", over)}, 10 << 20),
        ({"cover_letter": ("l.txt", over)}, 10 << 20),
        ({"cv": ("cv.txt", whole), "cover_letter": ("l.txt", whole)}, (10 << 20) + (64 << 10)),
    ):
        refused = refusal(send(tenant.live, job, files), 413, "BODY_TOO_LARGE")
        assert refused["details"]["limit_bytes"] == limit


def test_a_form_without_a_chosen_file_has_none(tenant: Tenant, job: str) -> None:
    form = {"job_slug": job, "email": address(), "full_name": "Ada"}
    body = "".join(
        f'--b\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in form.items()
    )
    body += '--b\r\nContent-Disposition: form-data; name="cv"; filename=""\r\n\r\n\r\n--b--\r\n'
    made = tenant.live.post(
        "/applications/create/",
        content=body.encode(),
        headers={"Content-Type": "multipart/form-data; boundary=b"},
    )
    assert (made.status_code, made.json()["attachments"]) == (201, [])


# --- Knockouts


@pytest.mark.parametrize(("years", "on_fail", "status", "event"), [
    (3, "reject", "submitted", None), (2, "reject", "knockout_failed", "application.knockout_failed"),
    (None, "reject", "knockout_failed", "application.knockout_failed"), (2, "hold", "on_hold", "application.held"),
])  # fmt: skip
def test_knockouts_are_measured_on_arrival(
    tenant: Tenant, job: str, years: int | None, on_fail: str, status: str, event: str | None
) -> None:
    ask(tenant.live, job, "years", "number")
    rules(tenant.live, job, {"field_key": "years", "operator": "gte", "value": 3, "on_fail": on_fail})
    made = tenant.live.application(job, answers={} if years is None else {"years": years})
    assert (made["status"], made["screening"]["l1_passed"]) == (status, event is None)
    found = told(tenant.live, "application.submitted", "application.knockout_failed", "application.held")
    types = ["application.submitted", *([event] if event else [])]
    assert [one["type"] for one in found] == types
    assert [one["data"]["status"] for one in found] == ["submitted", status][: len(types)]
    result = tenant.live.get(f"/applications/{made['id']}/screening/").json()
    failed = {"field_key": "years", "operator": "gte", "value": 3, "on_fail": on_fail}
    assert result["knockout"] == (failed if event else None)
    assert len(made["events"]) == len(types)
    if status == "on_hold":
        assert tenant.live.post(f"/applications/{made['id']}/unhold/").json()["status"] == "submitted"


# --- Lists


def listed(api: Api, **query: Any) -> list[str]:
    return [one["id"] for one in api.get("/applications/", params=query).json()["results"]]


def test_lists_are_filtered(tenant: Tenant, job: str) -> None:
    second = tenant.live.job(published=True)
    one, two = tenant.live.application(job, "ada@example.com"), tenant.live.application(job)
    three = tenant.live.application(second["slug"], "ada@example.com")
    tenant.live.post(f"/applications/{two['id']}/reject/", {})
    newest = [three["id"], two["id"], one["id"]]
    assert listed(tenant.live) == listed(tenant.live, ordering="-submitted_at") == newest
    assert listed(tenant.live, ordering="submitted_at") == newest[::-1]
    assert listed(tenant.live, job_slug=job) == newest[1:]
    assert listed(tenant.live, job_id=second["id"]) == [three["id"]]
    assert (
        listed(tenant.live, job_id=second["id"], job_slug=job)
        == listed(tenant.live, job_slug="nothing")
        == []
    )
    assert listed(tenant.live, status="rejected") == [two["id"]]
    assert listed(tenant.live, email="ADA@example.com") == [three["id"], one["id"]]
    assert listed(tenant.live, team_id="null", email="ada@example.com", job_slug=job) == [one["id"]]
    item = tenant.live.get("/applications/").json()["results"][0]
    assert not {"answers", "attachments", "events"} & set(item)
    assert "/query/ordering" in faults(tenant.live.get("/applications/?ordering=email"))


def test_lists_are_filtered_by_the_squad_of_the_job(tenant: Tenant, job: str) -> None:
    second = tenant.live.job(published=True)
    one, two = tenant.live.application(job), tenant.live.application(second["slug"])
    squad, nobody = tenant.live.squad()["id"], str(uuid4())
    tenant.live.patch(f"/jobs/{second['slug']}/update/", {"team_id": squad})
    assert listed(tenant.live, team_id=squad) == [two["id"]]
    assert listed(tenant.live, team_id="null") == [one["id"]]
    assert listed(tenant.live, team_id=nobody) == []
    assert listed(tenant.live, team_id=squad, job_slug=second["slug"], ordering="submitted_at") == [two["id"]]
    assert listed(tenant.live, team_id="null", job_slug=job) == [one["id"]]
    for query in ({"team_id": squad, "job_slug": job}, {"team_id": "null", "job_id": second["id"]}):
        assert listed(tenant.live, **query) == []
    jobs = [tenant.live.get("/jobs/", params={"team_id": key}).json()["results"] for key in (squad, "null")]
    assert [[one["slug"] for one in found] for found in jobs] == [[second["slug"]], [job]]


def test_team_filters_of_applications_need_the_growth_plan(http):
    starter = tenants.tenant(http, plan="starter").live
    refused = starter.get("/applications/", params={"team_id": "null"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "PLAN_REQUIRED")
