"""An interview: a room, two who meet there, code that is run, and what is made of it afterwards."""

from typing import Any

import click

from app.cli.demo.playing import Api, Received, expect, listening, say
from app.cli.demo.target import Target
from app.instance.trouble import Trouble

QUESTIONS = [
    {
        "title": "Revalidating a cached answer",
        "body": "Which header lets a client ask whether its cached copy is still good?",
        "expected_answer": "ETag",
    },
    {
        "title": "Add up the lines",
        "question_type": "coding",
        "body": "Read whole numbers, one a line, and print their sum.",
        "starter_code": "import sys\n",
    },
]
CODE = "import sys\nprint(sum(int(line) for line in sys.stdin if line.strip()))\n"
CRITERIA = [{"name": "Technical skill", "score": 4}, {"name": "Communication", "score": 5}]


def play(target: Target, hook_url: str, received: Received) -> None:
    """Play it in test mode, where nothing is used up."""
    api = Api(target.base_url, target.test_key)
    with listening(api, hook_url, received):
        person = {"candidate_email": "ada@example.com", "candidate_name": "Ada Lovelace"}
        room = api(
            "POST", "/interviews/create/", {"title": "Technical interview", "questions": QUESTIONS, **person}
        )
        say("room", f"{room['title']} is {room['status']}")
        candidate, interviewer = (
            Api(target.base_url, None, f"/api/v1/candidate/interviews/{token}")
            for token in (room["candidate_token"], room["interviewer_url"].rpartition("/")[2])
        )
        _join(candidate, "Ada Lovelace", room["candidate_url"])
        _join(interviewer, "Grace Hopper", room["interviewer_url"])
        expect(received, "interview.started")
        _talk(candidate, interviewer)
        _program(candidate, interviewer)
        ended = interviewer("POST", "/end/")
        say("ended", f"at {ended['ended_at']}")
        expect(received, "interview.completed")
        judged = {"recommendation": "advance", "comment": "Clear and quick.", "criteria": CRITERIA}
        outcome = interviewer("POST", "/outcome/", judged)
        say("judged", f"{outcome['recommendation']}: {outcome['comment']}")
        expect(received, "interview.analysis_ready")
        replay = api("GET", f"/interviews/{room['id']}/replay/")
        say("replay", " → ".join(one["kind"] for one in replay["events"]))
        found = _analysis(api, room)
    click.echo()
    click.secho(
        f"Score {found['overall_score']} of 100. {received.verified} signatures verified.",
        bold=True,
    )


def _join(side: Api, name: str, url: str) -> None:
    room = side("POST", "/join/", {"name": name, "consent_accepted": True})
    say("joined", f"{name} at {url}; the interview is {room['status']}")


def _talk(candidate: Api, interviewer: Api) -> None:
    interviewer("POST", "/messages/", {"content": "Welcome! Which header would you use?"})
    candidate("POST", "/messages/", {"content": "I would send the ETag back, in If-None-Match."})
    for one in candidate("GET", "/events/")["events"]:
        if one["kind"] == "message":
            say("message", f"{one['actor_name']}: {one['data']['content']}")


def _program(candidate: Api, interviewer: Api) -> None:
    asked = interviewer("GET", "/")["questions"][1]
    interviewer("POST", "/question/", {"question_id": asked["id"]})
    say("question", asked["title"])
    candidate("PUT", "/code/", {"code": CODE})
    ran = candidate("POST", "/run/", {"code": CODE, "language": "python", "input": "1\n2\n3\n"})
    if not ran["available"]:
        say("code", "typed; Python cannot be run here")
        return
    if ran["stdout"] != "6\n":
        raise Trouble(
            f"The program printed {ran['stdout']!r} and ended with {ran['outcome']}: {ran['stderr']}"
        )
    say("code", f"run: {ran['outcome']}, printed {ran['stdout'].strip()} after {ran['time_ms']} ms")


def _analysis(api: Api, room: dict[str, Any]) -> dict[str, Any]:
    found = dict(api("GET", f"/interviews/{room['id']}/analysis/"))
    if found["status"] != "ready":
        raise Trouble(f"The analysis is {found['status']}.")
    titles = {one["id"]: one["title"] for one in room["questions"]}
    for id, score in found["scores"].items():
        say("scored", f"{titles[id]}: {score}")
    signals = found["signals"]
    shares = ", ".join(f"{side} {share}" for side, share in signals["talk_share"].items())
    asked = signals["questions"]
    say("analysis", f"{asked['answered']} of {asked['asked']} questions answered; talk: {shares}")
    return found
