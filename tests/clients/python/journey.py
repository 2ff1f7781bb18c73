"""The main journey through the generated client; prints what came of it as JSON."""

import json
import os
import time
from io import BytesIO
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx
from hiring_client import AuthenticatedClient
from hiring_client.api.applications import create_application, list_applications, upload_attachment
from hiring_client.api.assessments import (
    attach_cases,
    create_assessment,
    list_assessments,
    replace_cases,
    update_assessment,
)
from hiring_client.api.cases import list_platform_cases
from hiring_client.api.invitations import create_invitation, get_invitation, get_result
from hiring_client.api.jobs import create_job, publish_job
from hiring_client.api.organisation import get_organisation
from hiring_client.api.webhooks import create_webhook, list_webhooks
from hiring_client.models import (
    ApplicationCreate,
    ApplicationCreateMultipart,
    AssessmentCreate,
    AssessmentUpdate,
    AttachmentUpload,
    CasesAttach,
    CasesReplace,
    CaseToAttach,
    InvitationCreate,
    JobCreate,
    ListApplicationsOrdering,
    ListPlatformCasesCaseType,
    Refusal,
    Result,
    ResultPending,
    WebhookEndpointCreate,
)
from hiring_client.types import UNSET, File

Answer = TypeVar("Answer")
BASE_URL = os.environ["BASE_URL"]
PATIENCE = 60  # seconds for grading
CODE = ListPlatformCasesCaseType.CODING if os.environ.get("PROGRAMS") else ListPlatformCasesCaseType.MCQ
KINDS = (ListPlatformCasesCaseType.MCQ, CODE)  # of the cases that are taken
client = AuthenticatedClient(
    base_url=f"{BASE_URL}/api/v1/public", token=os.environ["API_KEY"], raise_on_unexpected_status=True
)


def fine(answer: Answer | Refusal | None) -> Answer:
    """Return what was asked for; the client is typed well enough to tell it from a refusal."""
    assert answer is not None
    assert not isinstance(answer, Refusal), answer
    return answer


def take(token: str) -> None:
    """Play the candidate, who has no client but a browser."""
    with httpx.Client(base_url=f"{BASE_URL}/api/v1/candidate/invites/{token}/") as candidate:
        session = candidate.post("start/").raise_for_status().json()
        for case in session["cases"]:
            is_code = case["case_type"] == "coding"
            answer = {"answer": case["starter_code"] if is_code else case["options"][0]["id"]}
            candidate.put(f"answers/{case['assessment_case_id']}/", json=answer).raise_for_status()
        candidate.post("submit/").raise_for_status()


def graded(token: str) -> Result:
    """Wait for the result."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        result = get_result.sync(token, client=client)
        if isinstance(result, Result) and result.passed is not None:
            return result
        assert isinstance(result, (Result, ResultPending)), result
        time.sleep(0.1)
    raise TimeoutError(token)


def pages(job: str) -> list[str]:
    """Read the applications one by one, from page to page."""
    found, cursor = [], None
    while True:
        page = fine(
            list_applications.sync(
                client=client,
                job_slug=job,
                ordering=ListApplicationsOrdering("submitted_at"),
                page_size=1,
                cursor=cursor if cursor else UNSET,
            )
        )
        found += [one.email for one in page.results]
        if page.next_ is None:
            return found
        [cursor] = parse_qs(urlsplit(page.next_).query)["cursor"]


def main() -> None:
    plan = fine(get_organisation.sync(client=client)).plan

    made = fine(create_assessment.sync(client=client, body=AssessmentCreate(title="Generated in Python")))
    cases = [
        fine(list_platform_cases.sync(client=client, case_type=kind, page_size=2)).results[place]
        for place, kind in enumerate(KINDS)
    ]
    wanted = [CaseToAttach(case_id=case.id) for case in cases]
    attached = fine(attach_cases.sync(made.slug, client=client, body=CasesAttach(cases=wanted)))
    replaced = fine(replace_cases.sync(made.slug, client=client, body=CasesReplace(cases=wanted[::-1])))
    active = fine(update_assessment.sync(made.slug, client=client, body=AssessmentUpdate(status="active")))

    person = InvitationCreate(email="amina@example.com", name="Amina Diallo", external_id="python-1")
    invited = fine(create_invitation.sync(made.slug, client=client, body=person, idempotency_key="python-1"))
    again = create_invitation.sync_detailed(made.slug, client=client, body=person, idempotency_key="python-1")
    fine(again.parsed)
    take(invited.invite_token)
    result = graded(invited.invite_token)

    job = fine(create_job.sync(client=client, body=JobCreate(title="Engineer")))
    opened = fine(publish_job.sync(job.slug, client=client))
    cv = File(BytesIO(b"Ada Lovelace\nSkills: Python"), "cv.txt", "text/plain")
    ada = ApplicationCreateMultipart(
        email="ada@example.com", full_name="Ada Lovelace", job_slug=job.slug, cv=cv
    )
    applied = fine(create_application.sync(client=client, body=ada))
    grace = ApplicationCreate(email="grace@example.com", full_name="Grace Hopper", job_slug=job.slug)
    other = fine(create_application.sync(client=client, body=grace))
    letter = File(BytesIO(b"Dear all"), "letter.txt", "text/plain")
    added = fine(upload_attachment.sync(other.id, client=client, body=AttachmentUpload(file=letter)))

    hook = WebhookEndpointCreate(url=f"{BASE_URL}/hooks", events=["candidate.passed"])
    registered = fine(create_webhook.sync(client=client, body=hook))
    refused = get_invitation.sync("unknown", client=client)
    assert isinstance(refused, Refusal)
    spoilt = create_assessment.sync(client=client, body=AssessmentCreate(title=""))
    assert isinstance(spoilt, Refusal)
    assert spoilt.error.details.fields
    print(
        json.dumps(
            {
                "plan": plan,
                "attached": len(attached),
                "replaced": [
                    one.id == case.case_id for one, case in zip(replaced, wanted[::-1], strict=True)
                ],
                "job": opened.status,
                "applied": [[one.kind, one.filename] for one in applied.attachments],
                "added": added.filename,
                "pages": sorted(pages(job.slug)),
                "status": active.status,
                "replayed": again.headers.get("Idempotent-Replayed"),
                "result": result.status,
                "cases": [case.case_order for case in result.cases],
                "secret": registered.secret_key[:6],
                "webhooks": [one.url for one in fine(list_webhooks.sync(client=client)).results],
                "assessments": [one.slug for one in fine(list_assessments.sync(client=client)).results],
                "refused": refused.error.code,
                "spoilt": [spoilt.error.code, spoilt.error.details.fields[0].pointer],
                "help": refused.error.details.documentation_url,
            }
        )
    )


if __name__ == "__main__":
    main()
