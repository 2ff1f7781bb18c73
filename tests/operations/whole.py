"""A state in which there is something of everything, so that whatever changes is shown somewhere."""

from tests.api import Api, address
from tests.operations.rows import Ids
from tests.operations.states import (
    a_mail_template,
    a_member,
    a_squad,
    a_webhook,
    an_interview_template,
    an_offer,
    post,
    title,
)


def a_whole_hire(api: Api) -> Ids:
    """One person with something of everything, all of it of one squad; `slug` is the assessment's."""
    squad, hook = a_squad(api), a_webhook(api)
    made = an_offer(api)
    person = {"email": made["person"], "name": "Ada"}
    stages = [{"stage_type": "assessment", "label": "Coding", "assessment_slug": made["slug"]}]
    road = post(api, "/pipelines/create/", {"title": title("Engineering"), "stages": stages})
    at_stage = post(api, f"/pipelines/{road['slug']}/enroll/", person)
    linked = {"assessment_id": made["assessment_id"], "team_id": squad["team_id"]}
    for path, links in (
        (f"/jobs/{made['key']}/update/", linked),
        (f"/pipelines/{road['slug']}/", {"team_id": squad["team_id"]}),
        (f"/assessments/{made['slug']}/update/", {"team_id": squad["team_id"]}),
    ):
        assert api.patch(path, links).status_code == 200
    room = {
        "title": title("Interview"),
        "candidate_email": made["person"],
        "questions": [{"title": "A page"}],
    }
    profile = api.get(f"/applications/{made['application_id']}/").json()["candidate_id"]
    post(api, f"/candidates/{profile}/notes/", {"body": "Would like to start in May."})
    [case, *_] = api.get(f"/assessments/{made['slug']}/cases/").json()["results"]
    again = {"job_slug": made["key"], "email": address(), "full_name": "Ada", "answers": '{"years": 5}'}
    twin = post(api, "/applications/create/", data=again)
    return {
        **made,
        **squad,
        **an_interview_template(api),
        **a_mail_template(api),
        **a_member(api),
        "webhook_id": hook["id"],
        "pipeline_id": road["id"],
        "pipeline_slug": road["slug"],
        "enrollment_id": at_stage["id"],
        "token": at_stage["invite_token"],
        "room_id": post(api, "/interviews/create/", room)["id"],
        "candidate_id": profile,
        "case_id": case["case_id"],
        "assessment_case_id": case["assessment_case_id"],
        "assessment_slug": made["slug"],
        "source_id": twin["candidate_id"],
    }
