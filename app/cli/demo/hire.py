"""From an application to somebody hired: CV, screening, pipeline, review, offer, signature."""

import re
import time
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from html import unescape
from pathlib import Path
from typing import Any

import click
import httpx
import pypdfium2

from app.cli.demo.playing import PATIENCE, Api, Received, expect, listening, say
from app.cli.demo.target import Target
from app.instance.trouble import Trouble

CASE = {
    "title": "Two in a row",
    "case_type": "numeric",
    "question": "A test fails by chance once in ten runs. How likely is it to fail twice running, in percent?",
    "answer_number": 1,
    "tolerance": "0.01",
}
CV = b"""Ada Lovelace
ada@example.com

Experience
Senior engineer, Analytical Engines, 2019 - present

Skills: Python, PostgreSQL
"""
LETTER = "<p>Dear Ada,</p><p>we would be glad to have you with us.</p>"
SCHEDULED_IN = timedelta(seconds=2)
EVENTS = (
    "application.submitted", "application.screened", "pipeline.enrolled", "invitation.created",
    "application.advanced", "assessment.started", "assessment.completed", "candidate.passed", "pipeline.advanced",
    "pipeline.completed", "offer.sent", "offer.accepted", "application.hired",
)  # fmt: skip


def play(target: Target, hook_url: str, received: Received) -> None:
    """Play it in live mode, for the careers site shows live jobs alone; its mail has to be files."""
    api = Api(target.base_url, target.live_key)
    _check_mail(api)
    email = f"ada-{time.time_ns()}@example.com"
    with listening(api, hook_url, received):
        job = _open_job(api)
        _apply(target, job["slug"], email)
        for event in ("application.submitted", "application.screened", "application.advanced"):
            application = expect(received, event)
        enrollment = expect(received, "pipeline.enrolled")
        invitation = expect(received, "invitation.created")

        _sit(Api(target.base_url, None, f"/api/v1/candidate/invites/{invitation['invite_token']}"))
        for event in ("assessment.started", "assessment.completed", "candidate.passed", "pipeline.advanced"):
            expect(received, event)
        moved = api("POST", f"/pipelines/enrollments/{enrollment['enrollment_id']}/advance/")
        say("reviewed", f"the enrollment is {moved['status']}")
        expect(received, "pipeline.completed")

        offer = _offer(api, application["application_id"])
        expect(received, "offer.sent")
        _read_letter(target.mail_dir, email)
        _sign(api("GET", f"/offers/{offer['id']}/")["respond_url"])
        for event in ("offer.accepted", "application.hired"):
            expect(received, event)
        hired = api("GET", f"/applications/{application['application_id']}/")
        _check_feed(api, email, hired["id"])
    click.echo()
    click.secho(
        f"{hired['full_name']} is {hired['status']}. {received.verified} signatures verified.", bold=True
    )


def _check_mail(api: Api) -> None:
    mail = next(one for one in api("GET", "/integrations/")["integrations"] if one["provider"] == "mail")
    if mail["kind"] != "files":
        raise Trouble(
            "This journey would send real mail here; play it on an instance of its own: --data ANOTHER."
        )


def _open_job(api: Api) -> dict[str, Any]:
    case = api("POST", "/cases/create/", CASE)
    assessment = api(
        "POST",
        "/assessments/create/",
        {
            "title": "Probability",
            "time_limit_minutes": 10,
            "cases": [{"case_id": case["id"], "source": "org"}],
        },
    )
    api("PATCH", f"/assessments/{assessment['slug']}/update/", {"status": "active"})
    stages = [
        {"stage_type": "assessment", "assessment_slug": assessment["slug"]},
        {"stage_type": "manual_review", "label": "The team reads"},
    ]
    pipeline = api("POST", "/pipelines/create/", {"title": "Engineering", "stages": stages})
    say("pipeline", " → ".join(stage["stage_type"] for stage in pipeline["stages"]))
    job = api(
        "POST",
        "/jobs/create/",
        {
            "title": "Backend engineer",
            "pipeline_slug": pipeline["slug"],
            "cv_required": True,
            "screen_auto_advance_enabled": True,
            "screen_auto_advance_l3_min": "50",
        },
    )
    wanted = [{"kind": "skill", "label": "Python", "importance": "must"}]
    api("PUT", f"/jobs/{job['slug']}/requirements/replace/", {"requirements": wanted})
    opened: dict[str, Any] = api("POST", f"/jobs/{job['slug']}/publish/")
    say("job", f"{opened['slug']} is {opened['status']}; who reaches 50 points advances by screening")
    return opened


def _apply(target: Target, job_slug: str, email: str) -> None:
    path = f"/api/v1/careers/{target.organisation}/jobs/{job_slug}/apply/"
    person = {"email": email, "full_name": "Ada Lovelace"}
    answer = httpx.post(
        target.base_url + path,
        data=person,
        files={"cv": ("cv.txt", CV, "text/plain")},
        timeout=30,
        trust_env=False,
    )
    if answer.status_code != 201:
        raise Trouble(f"POST {path} answered {answer.status_code}: {answer.text}")
    say("applied", f"Ada Lovelace, with a CV, at {target.base_url}/careers/{target.organisation}/{job_slug}/")


def _sit(candidate: Api) -> None:
    session = candidate("POST", "/start/")
    for case in session["cases"]:
        candidate("PUT", f"/answers/{case['assessment_case_id']}/", {"answer": 1})
    candidate("POST", "/submit/")
    say("candidate", "started, answered and submitted")


def _offer(api: Api, application_id: str) -> dict[str, Any]:
    moment = datetime.now(UTC) + SCHEDULED_IN
    offer: dict[str, Any] = api(
        "POST",
        "/offers/",
        {
            "application_id": application_id,
            "title": "Offer: Backend engineer",
            "body_html": LETTER,
            "compensation_text": "€ 80,000 a year",
            "start_date": (moment + timedelta(days=60)).date().isoformat(),
            "scheduled_send_at": moment.isoformat(),
        },
    )
    say("offer", f"{offer['status']} for {offer['scheduled_send_at']}")
    return offer


def _read_letter(folder: Path, email: str) -> None:
    """Read the letter back out of the mail."""
    ending = time.monotonic() + PATIENCE
    while (mail := _mail(folder, email)) is None:
        if time.monotonic() > ending:
            raise Trouble(f"No mail with a letter for {email} came to {folder}.")
        time.sleep(0.2)
    [attached] = [one for one in mail.iter_attachments() if one.get_content_type() == "application/pdf"]
    document = pypdfium2.PdfDocument(attached.get_content())
    text = " ".join(page.get_textpage().get_text_range() for page in document)
    missing = [words for words in ("Ada Lovelace", "glad to have you", "80,000") if words not in text]
    if missing:
        raise Trouble(f"The letter does not say {', '.join(missing)}.")
    say(
        "letter",
        f"{attached.get_filename()} of {len(attached.get_content()):,} bytes, in the mail to {email}",
    )


def _mail(folder: Path, email: str) -> EmailMessage | None:
    for path in folder.glob("*.eml"):
        message = message_from_bytes(path.read_bytes(), policy=default)
        if email in str(message["To"]) and any(message.iter_attachments()):
            return message
    return None


def _sign(respond_url: str) -> None:
    """Accept as a person does, without scripts: by the page's link and the form that it leads to."""
    with httpx.Client(timeout=30, trust_env=False, follow_redirects=True) as browser:
        page = browser.get(respond_url)
        page = browser.get(page.url.join(_found(r'href="(\?answer=accept)"', page)))
        page = browser.post(
            page.url.join(_found(r'<form method="post" action="([^"]*)"', page)), data={"answer": "accept"}
        )
        _found(r'data-state="(accepted)"', page)
    say("signed", f"accepted at {respond_url}")


def _found(pattern: str, page: httpx.Response) -> str:
    found = re.search(pattern, page.text)
    if not page.is_success or not found:
        raise Trouble(f"{page.url} answered {page.status_code}, and not what it should.")
    return unescape(found[1])


def _check_feed(api: Api, email: str, application_id: str) -> None:
    """Look whether every event is in the feed, in order."""
    told: list[str] = []
    after = 0
    while page := api("GET", f"/events/?after={after}&page_size=100")["results"]:
        after = page[-1]["sequence"]
        told += [
            one["type"]
            for one in page
            if email in one["data"].values() or application_id in one["data"].values()
        ]
    if told != list(EVENTS):
        raise Trouble(f"The feed tells {', '.join(told)}.")
    say("feed", " → ".join(told))
