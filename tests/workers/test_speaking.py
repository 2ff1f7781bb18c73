"""AIs that interview: marked, in order, one turn at a time, broken off where they are, and never led astray."""

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

import store
from gateways import interviewers, models
from rules import speaking as rules
from store.interviewing import speaking as turns
from store.interviewing import stream
from store.interviewing.stream import Act
from store.outbox import OutboxItem
from tests import rooms
from tests.injections import ATTEMPTS, judged
from tests.providers import Provider, provider
from tests.rooms import SUM, TALK, Prepared
from workers import analyses, speaking, summaries
from workers.jobs import JOBS

ABOUT = {
    "job_description": "We build bridges.",
    "resume_text": "Ten years of bridges.",
    "target_role": "Engineer",
}


@pytest.fixture
def server() -> Iterator[Provider]:
    """A model that says what the candidate orders."""
    one = provider()
    one.forget()
    use(one)
    yield one
    models.configure(base_url="", model="", api_key="")


def use(server: Provider, model: str = "obey") -> None:
    models.configure(base_url=server.url, model=model, api_key="a-key-of-ours")


def room(http: TestClient, *questions: dict[str, Any], mode: str = "ai_only", **fields: Any) -> Prepared:
    """A room in use."""
    made = rooms.prepare(*(questions or (SUM, TALK)), interviewer_mode=mode, **ABOUT, **fields)
    assert http.post(f"{made.url}join/", json={"consent_accepted": True}).status_code == 200
    if mode == "hybrid":
        assert http.post(f"{made.inside}join/", json={}).status_code == 200
    return made


def asked(made: Prepared, job: str = "speak") -> list[dict[str, Any]]:
    with store.transaction() as session:
        found = session.scalars(
            select(OutboxItem.arguments).where(OutboxItem.job == job).order_by(OutboxItem.id)
        )
        return [one for one in found if one["interview_id"] == str(made.id)]


def speak(made: Prepared) -> None:
    speaking.speak(UUID(int=0), {"interview_id": str(made.id)})


def answer(http: TestClient, made: Prepared, text: str, *, inside: bool = False) -> None:
    at = made.inside if inside else made.url
    assert http.post(f"{at}messages/", json={"content": text}).status_code == 201


def says(text: str, *, done: bool = False) -> str:
    return f"<<{json.dumps({'say': json.dumps({'say': text, 'done': done})})}>>"


def by_ai(made: Prepared) -> list[dict[str, Any]]:
    return [one.data for one in made.events("message") if one.actor == "ai"]


def active(made: Prepared) -> str:
    return next(one.data["title"] for one in reversed(made.events("question")))


@pytest.mark.parametrize("livemode", [True, False])
def test_without_a_model_and_in_test_mode_the_questions_are_asked_in_order_and_the_room_says_so(
    http: TestClient, server: Provider, livemode: bool
) -> None:
    if livemode:
        models.configure(base_url="", model="", api_key="")
    made = room(http, livemode=livemode)
    assert len(asked(made)) == 1
    speak(made)
    for text in ("A bridge.", "Another one.", "Nothing more."):
        answer(http, made, text)
        speak(made)
    first, second, last = (one["content"] for one in by_ai(made))
    assert rules.WITHOUT in first
    assert (SUM["title"] in first, TALK["body"] in second, rules.LAST in last) == (True, True, True)
    assert {one.actor_name for one in made.events("message") if one.actor == "ai"} == {rules.NAME}
    assert [one.data["title"] for one in made.events("question")] == [SUM["title"], TALK["title"]]
    assert "SECRET" not in first + second + last
    assert list(server.seen()) == []
    shown = http.get(made.url).json()["questions"]
    assert [one["is_active"] for one in shown] == [False, True]


def test_it_reacts_to_answers_and_goes_on_when_a_question_is_done(http: TestClient, server: Provider) -> None:
    made = room(http)
    speak(made)
    answer(http, made, f"I would split the line. {says('And then?')}")
    speak(made)
    answer(http, made, f"Sum it. {says('I see.', done=True)}")
    speak(made)
    greeting, reaction, following = by_ai(made)
    assert rules.WITHOUT not in greeting["content"]
    assert (reaction["content"], reaction["source"]) == ("And then?", "model")
    assert following["content"].startswith("I see.")
    assert TALK["body"] in following["content"]
    assert active(made) == TALK["title"]


def test_a_turn_runs_once_however_often_and_one_at_a_time(http: TestClient, server: Provider) -> None:
    made = room(http)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: speak(made), range(4)))
    assert len(by_ai(made)) == 1
    answer(http, made, says("And then?"))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: speak(made), range(4)))
    speak(made)
    assert len(by_ai(made)) == 2
    assert len(list(server.seen())) == 1
    with store.transaction() as session:  # somebody is at it
        answer_number = len(asked(made))
    answer(http, made, says("Go on."))
    assert len(asked(made)) == answer_number + 1
    with store.transaction() as session:
        taken = turns.take(session, made.id)
    assert taken is not None
    speak(made)
    assert len(by_ai(made)) == 2
    answer(http, made, "One more thing.")
    before = len(asked(made))
    with store.transaction() as session:
        turns.keep(session, taken, "Go on.", source="model", goes_on=False)
    assert len(asked(made)) == before + 1  # what was said meanwhile is heard too


@pytest.mark.parametrize("by", ["end", "interviewer"])
def test_a_turn_that_was_interrupted_is_kept_as_such(http: TestClient, server: Provider, by: str) -> None:
    made = room(http, mode="hybrid")
    speak(made)
    answer(http, made, says("And then?", done=True))
    with store.transaction() as session:
        taken = turns.take(session, made.id)
    assert taken is not None
    if by == "end":
        assert http.post(f"{made.url}end/", json={}).status_code == 200
    else:
        answer(http, made, "Let me ask something.", inside=True)
    for _ in range(2):
        with store.transaction() as session:
            turns.keep(session, taken, "And then?", source="model", goes_on=True)
    *_, last = by_ai(made)
    assert (last["content"], last["cancelled"], len(by_ai(made))) == ("And then?", True, 2)
    assert active(made) == SUM["title"]
    shown = http.get(f"{made.inside}events/").json()["events"]
    assert [one["data"].get("cancelled") for one in shown if one["actor"] == "ai" and one["kind"] == "message"] == [
        None, True,
    ]  # fmt: skip
    answer_is_theirs = len(by_ai(made))
    if by == "interviewer":
        answer(http, made, "Gladly.")
        speak(made)
        assert len(by_ai(made)) == answer_is_theirs


def test_what_is_said_through_the_live_channel_is_heard_too(http: TestClient, server: Provider) -> None:
    made, people = room(http), room(http, mode="hybrid")
    human = rooms.prepare(SUM)
    for url in (human.url, human.inside):
        http.post(f"{url}join/", json={"consent_accepted": True})
    acts = [Act(one.id, "message", "candidate", "Amina", {"content": "Hi"}) for one in (made, people, human)]
    before = [len(asked(one)) for one in (made, people, human)]
    with store.writing() as writing:
        stream.keep(writing, [*acts, Act(people.id, "message", "interviewer", "Bo", {"content": "Hi"})])
    assert [len(asked(one)) for one in (made, people, human)] == [before[0] + 1, before[1] + 1, 0]
    speak(human)
    assert by_ai(human) == []


@pytest.mark.parametrize("model", ["fails", "malformed", "echo", "says-nothing"])
def test_a_model_that_fails_leaves_the_questions(http: TestClient, server: Provider, model: str) -> None:
    use(server, model)
    made = room(http)
    speak(made)
    answer(http, made, "A bridge.")
    speak(made)
    assert by_ai(made)[-1]["source"] == "script"
    assert TALK["title"] in by_ai(made)[-1]["content"]


def test_who_speaks_has_a_queue_of_its_own() -> None:
    assert JOBS["speak"].run is speaking.speak
    assert JOBS["summarise"].run is summaries.summarise


def test_injections_in_answers_and_code_stay_data(
    http: TestClient, server: Provider, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes: Counter[str] = Counter()
    for text in ATTEMPTS.values():
        made = room(http)
        speak(made)
        answer(http, made, text[:2_000] + text[2_000:][-300:])
        http.put(f"{made.url}code/", json={"code": text})
        speak(made)
        said = by_ai(made)[-1]
        assert made.row().status == "active"
        assert made.row().recommendation is None
        assert {one.kind for one in made.events()} <= {"join", "message", "question", "code"}
        assert "SECRET" not in said["content"]
        outcomes[f"answered by the {said['source']}"] += 1
    transcripts = [one["body"] for one in server.seen()]
    assert len(transcripts) == len(ATTEMPTS) >= 20
    for one in transcripts:
        assert set(one) == {"model", "messages", "temperature", "max_tokens"}
        system, user = one["messages"]
        assert system == {"role": "system", "content": interviewers.ORDERS}
        data = json.loads(user["content"])
        assert set(data) == {"job", "resume", "question", "conversation", "code"}
        assert "SECRET" not in user["content"]
        assert [line["from"] for line in data["conversation"]] == ["ai", "candidate"]
    with capsys.disabled():
        judged(print, "interviews", len(ATTEMPTS), outcomes)


# --- In sum


def ended(http: TestClient, text: str) -> Prepared:
    made = room(http)
    answer(http, made, text)
    assert http.post(f"{made.url}end/", json={}).status_code == 200
    return made


def sums_up(text: str) -> str:
    return f"<<{json.dumps({'say': json.dumps({'summary': text})})}>>"


def analyse(made: Prepared) -> dict[str, Any] | None:
    analyses.analyse(UUID(int=0), {"interview_id": str(made.id)})
    for arguments in asked(made, "summarise"):
        summaries.summarise(UUID(int=0), arguments)
    return made.row().analysis


def test_a_model_sums_an_interview_up_and_measures_nothing(http: TestClient, server: Provider) -> None:
    made = ended(http, sums_up("Amina talked of bridges."))
    found = analyse(made)
    assert found is not None
    assert found["summary"] == "Amina talked of bridges."
    models.configure(base_url="", model="", api_key="")
    without = analyse(ended(http, sums_up("Amina talked of bridges.")))
    assert without is not None
    assert without["summary"] is None
    assert {**found["signals"], "duration_seconds": 0} == {**without["signals"], "duration_seconds": 0}
    assert list(found["scores"].values()) == list(without["scores"].values())
    assert made.told().count("interview.analysis_ready") == 1


@pytest.mark.parametrize("model", ["fails", "malformed", "echo", "strange-tool"])
def test_an_analysis_is_ready_without_a_summary(http: TestClient, server: Provider, model: str) -> None:
    use(server, model)
    made = ended(http, "A bridge.")
    found = analyse(made)
    assert found is not None
    assert (made.row().analysis_status, found["summary"]) == ("ready", None)


def test_a_summary_that_is_given_up_leaves_the_analysis(http: TestClient, server: Provider) -> None:
    made = ended(http, "A bridge.")
    with store.transaction() as session:
        summaries.given_up(session, {"interview_id": str(made.id)}, RuntimeError())
    [*_, plain] = asked(made, "analyse")
    analyses.analyse(UUID(int=0), plain)
    assert made.row().analysis_status == "ready"
    assert list(server.seen()) == []
