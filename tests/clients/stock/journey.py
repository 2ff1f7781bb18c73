"""The hiring journey through openapi-generator's Python client; prints what came of it as JSON."""

import json
import os
import time
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import httpx
import openapi_client as made
from openapi_client.exceptions import ApiException, BadRequestException, NotFoundException

BASE_URL = os.environ["BASE_URL"]
PATIENCE = 60  # seconds for grading
client = made.ApiClient(
    made.Configuration(host=f"{BASE_URL}/api/v1/public", access_token=os.environ["API_KEY"])
)
assessments, applications = made.AssessmentsApi(client), made.ApplicationsApi(client)
invitations, jobs = made.InvitationsApi(client), made.JobsApi(client)


def take(token: str) -> None:
    """Play the candidate, who has no client but a browser."""
    with httpx.Client(base_url=f"{BASE_URL}/api/v1/candidate/invites/{token}/") as candidate:
        session = candidate.post("start/").raise_for_status().json()
        for case in session["cases"]:
            answer = {"answer": case["options"][0]["id"]}
            candidate.put(f"answers/{case['assessment_case_id']}/", json=answer).raise_for_status()
        candidate.post("submit/").raise_for_status()


def graded(token: str) -> made.Result:
    """Wait for the result."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        result = invitations.get_result(token).actual_instance
        if isinstance(result, made.Result) and result.passed is not None:
            return result
        time.sleep(0.1)
    raise TimeoutError(token)


def pages(job: str) -> list[str]:
    """Read the applications one by one, from page to page."""
    found: list[str] = []
    cursor = None
    while True:
        page = applications.list_applications(
            job_slug=job, ordering="submitted_at", page_size=1, cursor=cursor
        )
        found += [one.email for one in page.results]
        if page.next is None:
            return found
        [cursor] = parse_qs(urlsplit(page.next).query)["cursor"]


def refusal(kind: type[ApiException], call: Callable[[], object]) -> made.Error:
    """Return the refusal that a call ends in, which the client tells from others by its class."""
    try:
        call()
    except kind as refused:
        told = refused.data
    return made.Error.model_validate(told)


def main() -> None:
    plan = made.OrganisationApi(client).get_organisation().plan
    body = made.AssessmentCreate(title="Generated in Python, too")
    first = assessments.create_assessment(body, idempotency_key="assessment-1")
    again = assessments.create_assessment_with_http_info(body, idempotency_key="assessment-1")
    headers = {name.lower(): said for name, said in (again.headers or {}).items()}
    cases = made.CasesApi(client).list_platform_cases(case_type="mcq", page_size=2).results
    wanted = [made.CaseToAttach(case_id=case.id) for case in cases]
    attached = assessments.attach_cases(first.slug, made.CasesAttach(cases=wanted))
    replaced = assessments.replace_cases(first.slug, made.CasesReplace(cases=wanted[::-1]))
    active = assessments.update_assessment(first.slug, made.AssessmentUpdate(status="active"))

    person = made.InvitationCreate(email="amina@example.com", name="Amina Diallo")
    invited = invitations.create_invitation(first.slug, person)
    take(invited.invite_token)
    result = graded(invited.invite_token)

    job = jobs.create_job(made.JobCreate(title="Engineer"))
    opened = jobs.publish_job(job.slug)
    ada = made.ApplicationCreate(email="ada@example.com", full_name="Ada Lovelace", job_slug=job.slug)
    applied = applications.create_application(ada)
    cv = applications.upload_attachment(applied.id, ("cv.txt", b"Ada Lovelace\nSkills: Python"), kind="cv")
    grace = made.ApplicationCreate(email="grace@example.com", full_name="Grace Hopper", job_slug=job.slug)
    applications.create_application(grace)
    refused = refusal(NotFoundException, lambda: invitations.get_invitation("unknown"))
    nameless = made.AssessmentCreate.model_construct(title="")
    spoilt = refusal(BadRequestException, lambda: assessments.create_assessment(nameless))
    [fault] = spoilt.error.details.fields or []
    print(
        json.dumps(
            {
                "plan": plan,
                "replayed": again.data.slug == first.slug and headers["idempotent-replayed"],
                "attached": len(attached),
                "replaced": [
                    one.id == case.case_id for one, case in zip(replaced, wanted[::-1], strict=True)
                ],
                "status": active.status,
                "result": result.status,
                "cases": [one.case_order for one in result.cases],
                "job": opened.status,
                "cv": [cv.kind, cv.filename],
                "pages": sorted(pages(job.slug)),
                "refused": refused.error.code,
                "spoilt": fault.pointer,
            }
        )
    )


if __name__ == "__main__":
    main()
