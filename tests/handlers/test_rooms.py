"""The room by plain requests: who may do what there, and what is kept of it."""

from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import UUID

import pytest
from pycrdt import Doc, Text
from sqlalchemy import delete

import gateways.sandbox
import store
from rules import rooms as limits
from rules.clock import now
from store.interviewing import documents, stream, tidying
from store.interviewing.rooms import InterviewQuestion
from store.interviewing.stream import Act
from tests import rooms
from tests.interviews import shown, staged
from tests.pipelines import MANUAL
from tests.pipelines import shown as enrollment
from tests.rooms import SUM, TALK

ONE = "0195a3c2-7b1e-7c44-9d0a-3f2b8e6a1c55"
# What adds to a room.
REQUESTS = [
    ("post", "join/", {}),
    ("post", "messages/", {"content": "x"}),
    ("put", "code/", {"code": "x"}),
    ("put", "whiteboard/", {"strokes": [{"colour": "ink", "width": 2, "points": [[1, 1]]}]}),
    ("post", "run/", {"code": "x", "language": "python"}),
    ("post", "violations/", {"violation_type": "focus_loss"}),
    ("post", "live/", {"updates": ["AQEBAAQBBGNvZGUFaGVsbG8A"]}),
]


def joined(http, *questions, **fields):
    room = rooms.prepare(*questions, **fields)
    for url in (room.url, room.inside):
        assert http.post(f"{url}join/", json={"consent_accepted": True}).status_code == 200
    return room


def refusal(answer):
    return answer.status_code, answer.json()["error"]["code"]


def test_the_candidate_sees_no_question_before_somebody_waits_and_never_what_answers_it(http):
    room = rooms.prepare()
    early = http.get(room.url).json()
    assert (early["role"], early["status"], early["questions"]) == ("candidate", "prepared", [])
    assert len(http.get(room.inside).json()["questions"]) == 2
    joined_room = http.post(f"{room.url}join/", json={}).json()
    assert [one["title"] for one in joined_room["questions"]] == [SUM["title"], TALK["title"]]
    texts = [
        http.get(room.url).text,
        http.get(f"{room.url}events/").text,
        http.get(f"{room.url}live/").text,
        http.get(f"/interview/{room.candidate}", headers={"Accept": "text/html"}).text,
    ]
    assert all("SECRET" not in text for text in texts)
    inside = http.get(room.inside).json()["questions"][0]
    assert (inside["solution"], inside["expected_answer"]) == (SUM["solution"], SUM["expected_answer"])
    assert inside["hints"] == SUM["hints"]


def test_it_waits_for_the_candidate_and_begins_with_both(http):
    room = rooms.prepare()
    assert http.post(f"{room.inside}join/", json={"name": "Grace"}).json()["status"] == "prepared"
    shown = http.post(f"{room.url}join/", json={"consent_accepted": True}).json()
    assert shown["status"] == "active"
    assert shown["deadline_at"] is not None
    assert room.told() == ["interview.started"]
    assert [one.actor_name for one in room.events("join")] == ["Grace", "Amina Diallo"]


def test_where_the_ai_is_alone_it_begins_with_the_candidate(http):
    room = rooms.prepare(interviewer_mode="ai_only", human_can_join=False)
    shown = http.post(f"{room.url}join/", json={}).json()
    assert (shown["status"], shown["consent"]["ai"]) == ("active", True)
    assert refusal(http.get(room.inside)) == (404, "NOT_FOUND")


def test_consent_is_kept_with_its_time_and_text_and_null_where_it_is_not_given(http):
    without, given = rooms.prepare(), rooms.prepare()
    http.post(f"{without.url}join/", json={})
    assert (without.row().consent_at, without.row().consent_text) == (None, None)
    text = http.get(given.url).json()["consent"]["text"]
    http.post(f"{given.url}join/", json={"consent_accepted": True})
    assert given.row().consent_text == text
    first = given.row().consent_at
    http.post(f"{given.url}join/", json={"consent_accepted": True})
    assert given.row().consent_at == first


def test_an_interviewer_gives_no_consent(http):
    room = rooms.prepare()
    http.post(f"{room.inside}join/", json={"consent_accepted": True})
    assert room.row().consent_at is None


def test_a_message_is_there_once_however_often_it_is_sent(http):
    room = joined(http)
    numbers = {
        http.post(f"{room.url}messages/", json={"content": " Hello ", "id": ONE}).json()["number"]
        for _ in range(3)
    }
    assert len(numbers) == 1
    assert room.said() == ["Hello"]


def test_a_message_says_something(http):
    room = joined(http)
    assert refusal(http.post(f"{room.url}messages/", json={"content": "  "})) == (400, "VALIDATION_ERROR")


def test_before_anybody_joined_nothing_is_said(http):
    room = rooms.prepare()
    answer = http.post(f"{room.url}messages/", json={"content": "Hello"})
    assert refusal(answer) == (400, "VALIDATION_ERROR")
    assert answer.json()["error"]["details"]["status"] == "prepared"


def test_events_come_in_order_and_after_a_number(http):
    room = joined(http)
    numbers = [http.post(f"{room.url}messages/", json={"content": f"{n}"}).json()["number"] for n in range(5)]
    shown = http.get(f"{room.url}events/", params={"after": numbers[1]}).json()
    assert [one["data"]["content"] for one in shown["events"]] == ["2", "3", "4"]
    assert (shown["last_number"], shown["has_more"]) == (numbers[-1], False)
    assert http.get(f"{room.url}events/", params={"after": numbers[-1]}).json()["events"] == []


def test_more_events_than_go_into_one_answer_are_asked_for_again(http, monkeypatch):
    room = joined(http)
    acts = [Act(room.id, "message", "candidate", "Amina", {"content": str(n)}) for n in range(450)]
    with store.writing() as writing:
        stream.keep(writing, acts)
    found, after, more = [], 0, True
    while more:
        shown = http.get(f"{room.url}events/", params={"after": after}).json()
        found += [one["data"]["content"] for one in shown["events"] if one["kind"] == "message"]
        after, more = shown["last_number"], shown["has_more"]
    assert found == [str(n) for n in range(450)]


def test_what_is_said_in_a_room_moves_it_and_what_is_typed_does_not(http):
    room = joined(http)

    def moved(*acts):
        before = room.row().updated_at
        with store.writing() as writing:
            assert all(one.number for one in stream.keep(writing, acts))
        return room.row().updated_at > before

    typed = Act(room.id, stream.UPDATE, "candidate", update=b"x")
    assert not moved(typed)
    assert moved(Act(room.id, "message", "candidate", "Amina", {"content": "Hello"}), typed)


def test_code_that_is_saved_keeps_what_others_typed(http):
    room = joined(http)
    name = documents.name_of(UUID(room.questions[0]))
    mine = Doc()
    for update in room.updates():
        mine.apply_update(update)
    text = mine.get(name, type=Text)
    before = mine.get_state()
    text += "# typed meanwhile\n"
    update = b64encode(mine.get_update(before)).decode()
    code = SUM["starter_code"].replace("numbers", "values")
    assert http.put(f"{room.url}code/", json={"code": code}).status_code == 200
    assert http.post(f"{room.url}live/", json={"updates": [update]}).status_code == 200
    shown = http.get(room.url).json()["questions"][0]
    assert shown["current_code"] == code + "# typed meanwhile\n"


@pytest.mark.parametrize("code", ["", "é", "😀 = 1\n", "print('a😀b')\n" * 3, "x" * 100_000])
def test_any_text_can_be_saved(http, code):
    room = joined(http)
    for one in (code, "b😀c", code):
        http.put(f"{room.url}code/", json={"code": one, "language": "go"})
        assert http.get(room.url).json()["questions"][0]["current_code"] == one
    assert http.get(room.url).json()["active_language"] == "go"


def test_a_room_without_questions_has_an_editor_too(http):
    room = joined(http)
    with store.transaction() as session:
        session.execute(delete(InterviewQuestion))
    http.put(f"{room.url}code/", json={"code": "print(1)"})
    assert http.get(room.url).json()["code"] == "print(1)"
    assert [one.data["code"] for one in room.events("code")] == ["print(1)"]


def test_interviewers_alone_choose_the_question(http):
    room = joined(http)
    choice = {"question_id": room.questions[1]}
    assert refusal(http.post(f"{room.url}question/", json=choice)) == (404, "NOT_FOUND")
    assert http.post(f"{room.inside}question/", json=choice).status_code == 200
    assert [one["is_active"] for one in http.get(room.url).json()["questions"]] == [False, True]


def test_a_question_of_another_room_is_none(http):
    room, other = joined(http), rooms.prepare()
    choice = {"question_id": other.questions[0]}
    assert refusal(http.post(f"{room.inside}question/", json=choice)) == (404, "NOT_FOUND")
    saved = http.put(f"{room.url}code/", json={"code": "x", **choice})
    assert refusal(saved) == (404, "NOT_FOUND")


def test_a_drawing_is_of_both_kinds(http):
    room = joined(http)
    strokes = [{"colour": "red", "width": 2, "points": [[1, 2], [3.5, 4]]}]
    http.put(f"{room.url}whiteboard/", json={"strokes": strokes})
    assert http.get(room.inside).json()["whiteboard"] == {"strokes": strokes}
    assert room.row().whiteboard_snapshot == {"strokes": strokes}
    http.put(f"{room.url}whiteboard/", json={"strokes": []})
    assert http.get(room.inside).json()["whiteboard"] == {"strokes": []}


def test_running_code_tells_the_room(http):
    room = joined(http)
    program = {"code": "print(int(input()) + 1)", "language": "python", "input": "41"}
    answer = http.post(f"{room.url}run/", json=program).json()
    if not gateways.sandbox.available("python"):
        assert not answer["available"]
        return
    assert (answer["outcome"], answer["stdout"]) == ("ok", "42\n")
    [told] = room.events("run")
    assert told.data["stdout"] == "42\n"


def test_a_language_that_is_not_here_is_said_so(http, monkeypatch):
    monkeypatch.setattr(gateways.sandbox, "available", lambda language: False)
    room = joined(http)
    answer = http.post(f"{room.url}run/", json={"code": "x", "language": "go"}).json()
    assert (answer["available"], answer["outcome"]) == (False, None)


def test_a_signal_is_for_interviewers(http):
    room = joined(http)
    http.post(f"{room.url}violations/", json={"violation_type": "focus_loss"})
    kinds = [one["kind"] for one in http.get(f"{room.inside}events/").json()["events"]]
    assert "violation" in kinds
    assert "violation" not in http.get(f"{room.url}events/").text


def test_the_end_keeps_the_code_and_closes_everything(http):
    room = joined(http)
    mine = Doc()
    text = mine.get(f"code:{room.questions[0]}", type=Text)
    text += "typed live\n"
    http.post(f"{room.url}live/", json={"updates": [b64encode(mine.get_update()).decode()]})
    ended = http.post(f"{room.inside}end/").json()
    assert ended == http.post(f"{room.url}end/").json()
    assert ended["status"] == "ended"
    assert "typed live\n" in [one.data["code"] for one in room.events("code")][-1]
    assert [one.kind for one in room.events()][-1] == "end"
    assert room.told() == ["interview.started", "interview.completed"]
    for method, path, body in REQUESTS:
        assert refusal(getattr(http, method)(f"{room.url}{path}", json=body)) == (409, "SESSION_CLOSED")
    stream = http.get(f"{room.url}live/", headers={"Accept": "text/event-stream"})
    assert refusal(stream) == (409, "SESSION_CLOSED")
    other = http.post(f"{room.inside}question/", json={"question_id": room.questions[1]})
    assert refusal(other) == (409, "SESSION_CLOSED")


def test_when_time_is_up_it_ends_at_that_moment_whoever_looks(http):
    room = joined(http)
    over = now() - timedelta(minutes=1)
    room.change(due_at=over)
    assert http.get(room.url).json()["status"] == "ended"
    assert refusal(http.post(f"{room.url}messages/", json={"content": "x"})) == (409, "SESSION_CLOSED")
    assert (room.row().status, room.row().ended_at) == ("ended", over)
    assert room.said() == []


def test_a_room_that_was_cancelled_is_closed(http):
    room = rooms.prepare(status="expired", due_at=None)
    assert refusal(http.post(f"{room.url}join/", json={})) == (409, "SESSION_CLOSED")
    assert refusal(http.post(f"{room.url}end/")) == (409, "SESSION_CLOSED")


def test_nobody_ends_what_nobody_joined(http):
    room = rooms.prepare()
    assert refusal(http.post(f"{room.url}end/")) == (400, "VALIDATION_ERROR")


def test_a_link_of_nobody_leads_nowhere(http):
    for path in ("", "events/", "live/"):
        assert refusal(http.get(f"/api/v1/candidate/interviews/nobody/{path}")) == (404, "NOT_FOUND")
    page = http.get("/interview/nobody", headers={"Accept": "text/html"})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")


def test_a_shared_link_shows_what_happened_until_it_expires(http):
    room = joined(http)
    http.post(f"{room.url}messages/", json={"content": "Hello"})
    http.post(f"{room.url}violations/", json={"violation_type": "focus_loss"})
    shown = http.get(f"/api/v1/candidate/interviews/shared/{room.share()}/replay/").json()
    assert [one["kind"] for one in shown["events"]] == ["join", "join", "message"]
    offsets = [one["offset_ms"] for one in shown["events"]]
    assert offsets[0] == 0
    assert offsets == sorted(offsets)
    assert "SECRET" not in str(shown)
    late = room.share(expires_in=timedelta(seconds=-1))
    for path in (f"/api/v1/candidate/interviews/shared/{late}/replay/", f"/interview/shared/{late}"):
        assert http.get(path).status_code == 404


@pytest.mark.parametrize("update", ["", "AA", "!!!!", "////", "é"])
def test_what_is_no_update_is_refused_where_it_stands(http, update):
    room = joined(http)
    answer = http.post(f"{room.url}live/", json={"updates": ["AAA=", update]})
    assert refusal(answer) == (400, "VALIDATION_ERROR")
    assert len(room.updates()) == 1


def test_many_updates_become_few_and_nothing_of_them_is_lost(http, monkeypatch):
    monkeypatch.setattr(tidying, "MOST_UPDATES", 20)
    room = joined(http)
    mine = Doc()
    for update in room.updates():
        mine.apply_update(update)
    text = mine.get(f"code:{room.questions[0]}", type=Text)
    for n in range(50):
        before = mine.get_state()
        text += f"{n};"
        http.post(f"{room.url}live/", json={"updates": [b64encode(mine.get_update(before)).decode()]})
    with store.transaction() as session:
        tidying.tidy_by_id(session, room.id)
    assert len(room.updates()) == 1
    assert http.get(room.url).json()["questions"][0]["current_code"] == str(text)
    with store.reading() as reading:
        [new] = stream.news(reading, {room.id: 10}).values()
    again = Doc()
    again.apply_update(new.updates[0])
    assert str(again.get(f"code:{room.questions[0]}", type=Text)) == str(text)


def test_a_room_is_not_endless(http, monkeypatch):
    monkeypatch.setattr(limits, "MOST_NUMBERS", 3)
    room = joined(http)
    for method, path, body in REQUESTS:
        answer = getattr(http, method)(f"{room.url}{path}", json=body)
        assert refusal(answer) == (403, "LIMIT_REACHED"), path
    other = http.post(f"{room.inside}question/", json={"question_id": room.questions[1]})
    assert refusal(other) == (403, "LIMIT_REACHED")
    assert http.post(f"{room.url}end/").status_code == 200


def test_a_document_grows_no_further_than_it_may(http, monkeypatch):
    monkeypatch.setattr(limits, "MOST_DOCUMENT", 200)
    room = joined(http)
    assert http.put(f"{room.url}code/", json={"code": "x" * 300}).status_code == 200
    assert refusal(http.put(f"{room.url}code/", json={"code": "y"})) == (403, "LIMIT_REACHED")
    assert http.post(f"{room.url}messages/", json={"content": "Still here"}).status_code == 201


SCORES = [{"name": "Technical skill", "score": 4.5}, {"name": "Communication", "score": 3}]


def judge(http, room, **more):
    return http.post(f"{room.inside}outcome/", json={"recommendation": "advance", **more})


def cards(api, candidate_id):
    return api.get(f"/candidates/{candidate_id}/scorecards/").json()["results"]


def staged_room(tenant):
    """An interview of a pipeline's first stage, with another stage after it."""
    made, shown_room = staged(tenant.live, MANUAL)
    token = shown_room["interviewer_url"].rpartition("/")[2]
    room = rooms.Prepared(UUID(shown_room["id"]), shown_room["candidate_token"], token)
    return made, shown_room, room


def test_who_interviews_judges_from_the_room_and_the_enrollment_moves(http, tenant):
    made, shown_room, room = staged_room(tenant)
    for url in (room.inside, room.url):
        http.post(f"{url}join/", json={"name": "Grace"})
    said = judge(http, room, comment="Solid.", criteria=SCORES)
    assert said.status_code == 200, said.text
    after = enrollment(tenant.live, made["id"])
    assert (after["current_stage"], after["history"][-1]["actor"]) == (1, "interviewer")
    [card] = cards(tenant.live, shown_room["candidate_id"])
    assert (card["id"], card["interview_id"]) == (said.json()["scorecard_id"], shown_room["id"])
    assert (card["author_name"], card["total"], card["criteria"]) == ("Grace", "7.50", SCORES)
    outcome = shown(tenant.live, shown_room["id"])["outcome"]
    assert (outcome["recommendation"], outcome["comment"], outcome["by"]) == (
        "advance",
        "Solid.",
        "interviewer",
    )
    assert http.get(room.inside).json()["outcome"]["recommendation"] == "advance"
    assert "outcome" not in http.get(room.url).json()
    assert room.row().status == "active"


def test_judging_again_changes_ones_own_scorecard_and_leaves_others(http, tenant):
    _, shown_room, room = staged_room(tenant)
    first = judge(http, room, name="Grace", criteria=SCORES).json()["scorecard_id"]
    assert judge(http, room, name=" Grace ", criteria=SCORES[:1]).json()["scorecard_id"] == first
    assert judge(http, room, name="Alan", criteria=SCORES).json()["scorecard_id"] != first
    assert judge(http, room, name="Grace").json()["scorecard_id"] is None
    found = {one["author_name"]: one["total"] for one in cards(tenant.live, shown_room["candidate_id"])}
    assert found == {"Grace": "4.50", "Alan": "7.50"}


def test_two_that_judge_at_once_leave_one_scorecard_of_each(http, tenant):
    _, shown_room, room = staged_room(tenant)
    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(judge, http, room, name=name, criteria=SCORES) for name in ("Grace", "Alan") * 3]
        assert {one.result().status_code for one in asked} == {200}
    assert len(cards(tenant.live, shown_room["candidate_id"])) == 2


def test_an_interview_of_nobody_known_is_judged_without_a_scorecard(http):
    room = joined(http)
    http.post(f"{room.inside}end/")
    said = judge(http, room, criteria=SCORES)
    assert (said.status_code, said.json()["scorecard_id"]) == (200, None)


def test_a_candidate_judges_nobody_and_what_was_cancelled_has_no_outcome(http):
    room = joined(http)
    assert refusal(http.post(f"{room.url}outcome/", json={"recommendation": "advance"})) == (404, "NOT_FOUND")
    assert room.row().recommendation is None
    room.change(status="expired", session_metadata={"cancelled_at": "2026-11-22T08:15:00.000Z"})
    assert refusal(judge(http, room, criteria=SCORES)) == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    "criteria", [[{"name": "", "score": 1}], [{"name": "x", "score": 101}], [{"name": "x"}], SCORES * 11]
)
def test_what_is_no_judgement_is_refused(http, criteria):
    assert refusal(judge(http, joined(http), criteria=criteria)) == (400, "VALIDATION_ERROR")


# --- Who typed


def typist(room):
    """Somebody who types live: a copy of the document, and what sends a change of it."""
    doc = Doc()
    for update in room.updates():
        doc.apply_update(update)
    text = doc.get(f"code:{room.questions[0]}", type=Text)

    def type_at_end(http, url, words):
        before = doc.get_state()
        text.insert(len(text), words)
        update = b64encode(doc.get_update(before)).decode()
        assert http.post(f"{url}live/", json={"updates": [update]}).status_code == 200

    return type_at_end


def noted(room):
    with store.transaction() as session:
        tidying.tidy_by_id(session, room.id)
    return [(one.actor, one.data["code"].removeprefix(SUM["starter_code"])) for one in room.events("code")]


def test_what_is_typed_live_is_noted_for_who_typed_it(http):
    room = joined(http)
    types = typist(room)
    types(http, room.url, "a")
    assert noted(room) == [("candidate", "a")]
    types(http, room.inside, "b")
    types(http, room.url, "c")
    types(http, room.inside, "d")
    assert noted(room) == [("candidate", "a"), ("candidate", "abc"), ("interviewer", "abcd")]
    assert len(noted(room)) == 3
    http.put(f"{room.inside}code/", json={"code": "all new"})
    assert [one.actor for one in room.events("code")][-1] == "interviewer"


def test_a_drawing_is_noted_for_who_drew_it_and_once_where_it_was_cleared(http):
    room = joined(http)
    stroke = {"colour": "ink", "width": 2, "points": [[1, 1]]}
    http.put(f"{room.inside}whiteboard/", json={"strokes": [stroke]})
    http.put(f"{room.url}whiteboard/", json={"strokes": []})
    noted(room)
    drawn = [(one.actor, len(one.data["strokes"])) for one in room.events("whiteboard")]
    assert drawn == [("interviewer", 1), ("candidate", 0)]


def test_nothing_of_a_replay_is_after_the_end(http, tenant):
    _, shown_room, room = staged_room(tenant)
    for url in (room.inside, room.url):
        http.post(f"{url}join/", json={})
    doc = Doc()
    doc.get("code", type=Text).insert(0, "typed live")
    update = b64encode(doc.get_update()).decode()
    http.post(f"{room.url}live/", json={"updates": [update]})
    http.post(f"{room.inside}end/")
    replay = tenant.live.get(f"/interviews/{shown_room['id']}/replay/").json()
    assert [one["kind"] for one in replay["events"]][-2:] == ["code", "end"]
    assert [one["actor"] for one in replay["events"]][-2:] == ["candidate", "interviewer"]
    offsets = [one["offset_ms"] for one in replay["events"]]
    assert offsets == sorted(offsets)
    assert offsets[-1] == replay["duration_ms"]
    ended = room.row().ended_at
    assert all(one.at <= ended for one in room.events())
