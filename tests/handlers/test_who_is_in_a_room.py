"""Who takes part in a room by requests alone: there while they ask, gone a while after, back with the next request."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

import schemas.interviews
import store
from rules import rooms as limits
from store.interviewing import presence, visits
from tests import interviews, rooms
from tests.rooms import Prepared
from tests.waiting import BLOCKED, TRIES

CAME = [("join", "candidate"), ("join", "interviewer")]
LEFT = [*CAME, ("leave", "candidate")]
DRAWING = {"strokes": [{"colour": "ink", "width": 2, "points": [[1, 1]]}]}
# By what a candidate's program shows that it is there.
REQUESTS: dict[str, tuple[str, str, dict[str, Any] | None]] = {
    "who listens": ("GET", "events/?after=0", None),
    "who begins anew": ("GET", "live/", None),
    "who comes in": ("POST", "join/", {}),
    "who says something": ("POST", "messages/", {"content": "x"}),
    "who writes": ("PUT", "code/", {"code": "x = 1\n"}),
    "who draws": ("PUT", "whiteboard/", DRAWING),
    "who runs a program": ("POST", "run/", {"code": "print(1)", "language": "python"}),
    "who types": ("POST", "live/", {"updates": ["AQEBAAQBBGNvZGUFaGVsbG8A"]}),
}


@pytest.fixture
def room(http: TestClient) -> Prepared:
    """A room with a candidate's program and an interviewer's."""
    one = rooms.prepare()
    for url in (one.url, one.inside):
        assert http.post(f"{url}join/", json={}).status_code == 200
    return one


def pass_by(room: Prepared, side: str, part: float = 1.0) -> None:
    """Let so much of the time pass that requests give a side."""
    passed = "UPDATE interview_presences SET here_until = here_until - :time WHERE interview_id = :id AND side = :side"
    with store.transaction() as session:
        session.execute(text(passed), {"time": part * limits.ASKS, "id": room.id, "side": side})


def comings(room: Prepared) -> list[tuple[str, str]]:
    """Who came and went, as the schedule finds it by now."""
    interviews.run("presences")
    return [(one.kind, one.actor) for one in room.events("join", "leave")]


def ask(http: TestClient, room: Prepared, name: str) -> None:
    method, path, body = REQUESTS[name]
    assert http.request(method, f"{room.url}{path}", json=body).is_success


def test_who_asks_for_nothing_any_more_has_left_and_the_room_is_told_once(
    http: TestClient, room: Prepared
) -> None:
    assert comings(room) == CAME
    pass_by(room, "candidate")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(interviews.run, ["presences"] * 8))
    assert comings(room) == LEFT
    told = http.get(f"{room.inside}events/").json()["events"][-1]
    assert (told["kind"], told["actor_name"]) == ("leave", "Amina Diallo")


@pytest.mark.parametrize("name", REQUESTS)
def test_whoever_asks_goes_on_being_there(http: TestClient, room: Prepared, name: str) -> None:
    for _ in range(3):
        pass_by(room, "candidate", 0.9)
        ask(http, room, name)
    assert ("leave", "candidate") not in comings(room)


@pytest.mark.parametrize("name", REQUESTS)
def test_whoever_asks_again_is_back_and_that_is_told_before_what_they_do(
    http: TestClient, room: Prepared, name: str
) -> None:
    pass_by(room, "candidate")
    assert comings(room) == LEFT
    ask(http, room, name)
    ask(http, room, "who listens")
    assert comings(room) == [*LEFT, ("join", "candidate")]
    after = [one.kind for one in room.events()]
    assert "leave" not in after[after.index("leave") + 1 :]
    assert after[after.index("leave") + 1] == "join"


def test_many_requests_at_once_bring_a_side_back_once(http: TestClient, room: Prepared) -> None:
    pass_by(room, "candidate")
    assert comings(room) == LEFT
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: ask(http, room, name), ["who listens", "who says something"] * 8))
    assert comings(room) == [*LEFT, ("join", "candidate")]


def test_signals_of_integrity_and_a_look_are_no_presence(http: TestClient, room: Prepared) -> None:
    pass_by(room, "candidate", 0.9)
    assert http.post(f"{room.url}violations/", json={"violation_type": "focus_loss"}).is_success
    assert http.get(room.url).is_success
    pass_by(room, "candidate", 0.1)
    assert comings(room) == LEFT


def test_an_interviewer_who_waits_for_the_candidate_is_there_and_leaves_too(http: TestClient) -> None:
    room = rooms.prepare()
    http.post(f"{room.inside}join/", json={"name": "Grace"})
    pass_by(room, "interviewer", 0.9)
    http.get(f"{room.inside}events/")
    pass_by(room, "interviewer", 0.5)
    assert comings(room) == [("join", "interviewer")]
    pass_by(room, "interviewer", 0.5)
    assert comings(room) == [("join", "interviewer"), ("leave", "interviewer")]


def test_who_never_came_in_does_not_leave(http: TestClient) -> None:
    room = rooms.prepare()
    assert http.get(f"{room.url}events/").is_success
    pass_by(room, "candidate")
    assert comings(room) == []


def test_of_a_room_that_is_closed_nobody_leaves(http: TestClient, room: Prepared) -> None:
    assert http.post(f"{room.inside}end/").is_success
    assert http.get(f"{room.url}events/").is_success
    for side in ("candidate", "interviewer"):
        pass_by(room, side)
    assert comings(room) == CAME
    with store.transaction() as session:
        left = session.execute(
            text("SELECT FROM interview_presences WHERE interview_id = :id"), {"id": room.id}
        )
        assert left.first() is None


@pytest.fixture
def channel(room: Prepared) -> Callable[[str], None]:
    """Open or close the candidate's only channel."""
    side = (room.id, "candidate")

    def turn(to: str) -> None:
        with store.writing() as writing:
            if to == "open":
                presence.stay(writing, [side])
            else:
                presence.go(writing, side)

    return turn


def remaining(room: Prepared) -> float:
    with store.transaction() as session:
        asked = text(
            "SELECT extract(epoch FROM here_until - now()) FROM interview_presences"
            " WHERE interview_id = :id AND side = 'candidate'"
        )
        return float(session.scalar(asked, {"id": room.id}))


def test_a_page_that_is_closed_has_left_as_soon_as_ever_whatever_it_asked_for(
    http: TestClient, room: Prepared, channel: Callable[[str], None]
) -> None:
    channel("open")
    assert remaining(room) <= limits.HERE.total_seconds()
    ask(http, room, "who runs a program")
    assert remaining(room) <= limits.HERE.total_seconds()
    channel("closed")
    assert remaining(room) <= limits.GRACE.total_seconds()


def test_a_program_that_goes_on_asking_keeps_its_side_there_after_the_last_channel(
    http: TestClient, room: Prepared, channel: Callable[[str], None]
) -> None:
    channel("open")
    channel("closed")
    ask(http, room, "who listens")
    assert remaining(room) > limits.ASKS.total_seconds() - limits.GRACE.total_seconds()


def test_who_asks_while_the_schedule_looks_has_not_left_and_they_wait_in_no_circle(
    room: Prepared,
) -> None:
    pass_by(room, "candidate")
    with ThreadPoolExecutor(1) as pool:
        with store.transaction() as session:
            visit = visits.hold(session, room.candidate, schemas.interviews)
            looking = pool.submit(interviews.run, "presences")
            assert any(session.scalar(BLOCKED) for _ in range(TRIES)), "nothing waits"
            session.execute(
                text("SET LOCAL lock_timeout = '100ms'")
            )  # who waits for us would give up after longer
            visits.stay(session, visit)
        looking.result()
    assert comings(room) == CAME


def test_a_room_in_which_nothing_more_fits_is_read_by_who_comes_back(
    http: TestClient, room: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    pass_by(room, "candidate")
    assert comings(room) == LEFT
    monkeypatch.setattr(limits, "MOST_NUMBERS", 1)
    ask(http, room, "who listens")
