"""From an assessment to a result: an assessment, a candidate, a score, signed webhooks."""

import click

from app.cli.demo.playing import Api, Received, expect, listening, say
from app.cli.demo.target import Target

CASES = (
    (
        {
            "title": "Revalidating a cached answer",
            "case_type": "mcq",
            "question": "Which header lets a client ask whether its cached copy is still good?",
            "options": [
                {"id": "etag", "text": "`ETag`", "is_correct": True},
                {"id": "ranges", "text": "`Accept-Ranges`"},
                {"id": "vary", "text": "`Vary`"},
            ],
        },
        "etag",
    ),
    (
        {
            "title": "Two in a row",
            "case_type": "numeric",
            "question": "A test fails by chance once in ten runs. How likely is it to fail twice running, in percent?",
            "answer_number": 1,
            "tolerance": "0.01",
        },
        1,
    ),
    (
        {
            "title": "Add up the lines",
            "case_type": "coding",
            "language": "python",
            "question": "Read whole numbers, one a line, and print their sum.",
            "starter_code": "import sys\n",
            "test_cases": [
                {"input": "1\n2\n3\n", "expected_output": "6\n"},
                {"input": "", "expected_output": "0\n", "hidden": True},
            ],
        },
        "import sys\nprint(sum(int(line) for line in sys.stdin if line.strip()))\n",
    ),
)


def play(target: Target, hook_url: str, received: Received) -> None:
    """Play it in test mode, where nothing is used up."""
    api = Api(target.base_url, target.test_key)
    organisation = api("GET", "/org/")
    say("organisation", f"{organisation['name']}, {organisation['plan']} plan, test mode: nothing is used up")

    with listening(api, hook_url, received):
        made = api("POST", "/assessments/create/", {"title": "Demo assessment", "time_limit_minutes": 30})
        slug = made["slug"]
        say("assessment", f"{slug} is a {made['status']}")
        cases = [api("POST", "/cases/create/", case) for case, _ in CASES]
        places = [{"case_id": case["id"], "source": "org"} for case in cases]
        attached = api("POST", f"/assessments/{slug}/cases/attach/", {"cases": places})
        say("cases", ", ".join(f"{row['title']} ({row['case_type']})" for row in attached))
        active = api("PATCH", f"/assessments/{slug}/update/", {"status": "active"})
        say("activated", f"{slug} is {active['status']}")

        person = {
            "email": "ada@example.com",
            "name": "Ada Lovelace",
            "external_id": "demo-1",
            "send_email": True,
        }
        invited = api("POST", f"/assessments/{slug}/invites/", person)
        say("invited", f"{person['name']} at {invited['invite_url']}")
        expect(received, "invitation.created")

        token = invited["invite_token"]
        _sit(Api(target.base_url, None, f"/api/v1/candidate/invites/{token}"))
        for event in ("assessment.started", "assessment.completed", "candidate.passed"):
            expect(received, event)

        result = api("GET", f"/invites/{token}/result/")
        for case in result["cases"]:
            say("graded", f"{case['case_title']}: {case['score']} of {case['max_score']} ({case['status']})")
        passed = {True: "passed", False: "failed", None: "waiting for review"}[result["passed"]]
        click.echo()
        click.secho(
            f"Score {result['score']} of {result['max_score']} ({result['score_percentage']} %): {passed}. "
            f"{received.verified} signatures verified.",
            bold=True,
        )


def _sit(candidate: Api) -> None:
    session = candidate("POST", "/start/")
    say("candidate", f"started, until {session['deadline_at']}")
    answers = {case["title"]: answer for case, answer in CASES}
    for case in session["cases"]:
        candidate("PUT", f"/answers/{case['assessment_case_id']}/", {"answer": answers[case["title"]]})
        say("candidate", f"answered {case['title']}")
    candidate("POST", "/submit/")
    say("candidate", "submitted")
