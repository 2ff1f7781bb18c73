"""A room against a model, through the app: whatever happens there, it is where the contract's words have it.

And its replay is what both sides saw, who asked again and again for what came after the last thing that they knew.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from starlette.testclient import TestClient

import gateways.sandbox
from rules.clock import now
from tests import api, interviews, rooms
from tests.api import address

SIDES = st.sampled_from(("candidate", "interviewer"))
AHEAD, CLOSED = ("prepared", "scheduled", "waiting"), ("ended", "expired", "no_show")
IN_USE = ("waiting", "active")
QUESTIONS = [{"title": "One", "starter_code": "# one\n"}, {"title": "Two"}]
ALONE = {"job_description": "We build hiring tools.", "resume_text": "Ten years of Python."}


class Room(RuleBasedStateMachine):
    """One interview: what is asked of it, and what the model says of that."""

    http: TestClient

    @initialize(
        timed=st.booleans(),
        mode=st.sampled_from(("human_only", "ai_only", "hybrid")),
        minutes=st.sampled_from((60, 0)),
        last=st.sampled_from(("time_is_up", "somebody_is_late", "ends", "is_cancelled", "looks_away")),
    )
    def prepare(self, timed: bool, mode: str, minutes: int, last: str) -> None:
        self.last = last  # what happens in the end, if nothing has closed the room before
        self.tenant = api.tenant(self.http)
        fields: dict[str, Any] = {"scheduled_at": interviews.later()} if timed else {}
        made = interviews.make(
            self.tenant.live, candidate_email=address(), interviewer_mode=mode, human_can_join=True,
            time_limit_minutes=minutes, questions=QUESTIONS, **ALONE, **fields,
        )  # fmt: skip
        self.id, self.mode, self.minutes, self.timed = made["id"], mode, minutes, timed
        self.questions = [one["id"] for one in made["questions"]]
        inside = made["interviewer_url"].rpartition("/")[2]
        self.room = rooms.Prepared(UUID(self.id), made["candidate_token"], inside)
        self.urls = {"candidate": self.room.url, "interviewer": self.room.inside}
        self.seen: dict[str, list[dict[str, Any]]] = {"candidate": [], "interviewer": []}
        # The model.
        self.status = "scheduled" if timed else "prepared"
        self.told = ["interview.scheduled"] if timed else []
        self.here: set[str] = set()
        self.began = False
        self.happened: list[tuple[str, str]] = []
        self.asked, self.texts = 0, ["# one\n", ""]

    def act(self, side: str, path: str, body: dict[str, Any], method: str = "post", *, then: str = "") -> Any:
        """Ask for what is taken while the room is in use, and happens then."""
        answer = getattr(self.http, method)(f"{self.urls[side]}{path}/", json=body)
        if self.status in IN_USE:
            assert answer.status_code in (200, 201), answer.text
            if then:
                self.happened.append((then, side))
        else:
            assert answer.status_code == (409 if self.status in CLOSED else 400), answer.text
        return answer

    # --- Its way

    @rule(side=SIDES)
    def joins(self, side: str) -> None:
        answer = self.http.post(f"{self.urls[side]}join/", json={})
        if self.status in CLOSED:
            assert answer.status_code == 409
            return
        self.here.add(side)
        self.happened.append(("join", side))
        if "candidate" in self.here and self.status != "active":
            self.status = "waiting"
            if self.mode == "ai_only" or "interviewer" in self.here:
                self.status, self.began = "active", True
                self.told.append("interview.started")
        assert answer.json()["status"] == self.status

    @precondition(lambda self: self.status in AHEAD)
    @rule()
    def meet(self) -> None:
        self.joins("interviewer")
        self.joins("candidate")

    @rule()
    def reschedules(self) -> None:
        moment = interviews.later(days=4)
        answer = interviews.act(self.tenant.live, self.id, "reschedule", scheduled_at=moment)
        assert answer.status_code == (200 if self.status in AHEAD else 400)
        if self.status in AHEAD:
            self.status, self.timed, self.here = "scheduled", True, set()
            self.told.append("interview.scheduled")

    @precondition(lambda self: len(self.happened) > 5)
    @rule()
    def is_cancelled(self) -> None:
        answer = interviews.act(self.tenant.live, self.id, "cancel")
        assert answer.status_code == (200 if self.status in AHEAD else 400)
        if self.status in AHEAD:
            self.status = "expired"
            self.told.append("interview.cancelled")

    @precondition(lambda self: len(self.happened) > 5)
    @rule(side=SIDES)
    def ends(self, side: str = "candidate") -> None:
        answer = self.http.post(f"{self.urls[side]}end/")
        if self.status in IN_USE:
            self.status = "ended"
            self.happened.append(("end", side))
            self.told.append("interview.completed")
        expected = {"ended": 200, "expired": 409, "no_show": 409}
        assert answer.status_code == expected.get(self.status, 400)

    @precondition(lambda self: len(self.happened) > 5)
    @rule(schedule_comes=st.booleans(), side=SIDES)
    def time_passes(self, schedule_comes: bool, side: str) -> None:
        """Its moment passes; then the schedule comes by, or somebody who finds it so."""
        if self.status in CLOSED or (self.status == "active" and not self.minutes):
            return
        self.room.change(due_at=now() - timedelta(milliseconds=1))
        if schedule_comes:
            interviews.run()
        else:
            assert self.http.post(f"{self.urls[side]}join/", json={}).status_code == 409
        if self.status == "active":
            self.status = "ended"
            self.happened.append(("end", "system"))
            self.told.append("interview.completed")
        else:
            self.status = "no_show" if self.timed else "expired"
            self.told.append("interview.no_show")

    def time_is_up(self) -> None:
        self.time_passes(schedule_comes=True, side="candidate")

    def somebody_is_late(self) -> None:
        self.time_passes(schedule_comes=False, side="interviewer")

    # --- What happens there

    @rule(side=SIDES, words=st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1))
    def says(self, side: str, words: str) -> None:
        if words.strip():
            self.act(side, "messages", {"content": words}, then="message")

    @rule(side=SIDES, code=st.sampled_from(("# one\n", "print(1)\n", "print(2)\n", "# ß 🦉\n")))
    def writes(self, side: str, code: str) -> None:
        changes = self.texts[self.asked] != code
        self.act(side, "code", {"code": code}, "put", then="code" if changes else "")
        if self.status in IN_USE:
            self.texts[self.asked] = code

    @rule(side=SIDES)
    def runs(self, side: str) -> None:
        self.act(side, "run", {"code": "print(1)", "language": "python"}, then="run")

    @rule(chosen=st.sampled_from((0, 1)))
    def chooses(self, chosen: int) -> None:
        self.act("interviewer", "question", {"question_id": self.questions[chosen]}, then="question")
        if self.status in IN_USE:
            self.asked = chosen

    @rule()
    def looks_away(self) -> None:
        self.act("candidate", "violations", {"violation_type": "focus_loss"}, then="violation")

    @rule(side=SIDES)
    def looks(self, side: str) -> None:
        """Ask for what came after the last thing that this side knows."""
        known = self.seen[side]
        while True:
            after = known[-1]["number"] if known else 0
            found = self.http.get(f"{self.urls[side]}events/", params={"after": after}).json()
            known += found["events"]
            if not found["has_more"]:
                return

    # --- What is so

    @invariant()
    def it_is_where_the_model_has_it(self) -> None:
        if not hasattr(self, "id"):
            return
        shown = interviews.shown(self.tenant.live, self.id)
        assert shown["status"] == self.status
        assert (shown["started_at"] is not None) == self.began
        assert (shown["ended_at"] is not None) == (self.status == "ended")
        assert (shown["scheduled_at"] is not None) == self.timed
        assert (shown["candidate_joined_at"] is not None) == ("candidate" in self.here)
        assert (shown["interviewer_joined_at"] is not None) == ("interviewer" in self.here)
        assert [one["current_code"] for one in shown["questions"]] == self.texts

    def teardown(self) -> None:
        if not hasattr(self, "id"):
            return
        getattr(self, self.last)()
        self.it_is_where_the_model_has_it()
        self.looks("candidate")
        self.looks("interviewer")
        assert self.room.told() == self.told
        replay = self.tenant.live.get(f"/interviews/{self.id}/replay/").json()
        told = [(one["kind"], one["actor"]) for one in replay["events"]]
        assert told == self.happened
        offsets = [one["offset_ms"] for one in replay["events"]]
        assert offsets == sorted(offsets)
        assert all(0 <= one <= replay["duration_ms"] for one in offsets)
        seen = {
            side: [(one["kind"], one["actor"], one["data"]) for one in found]
            for side, found in self.seen.items()
        }
        played = [(one["kind"], one["actor"], one["data"]) for one in replay["events"]]
        assert seen["interviewer"] == played
        assert seen["candidate"] == [one for one in played if one[0] != "violation"]


def test_whatever_happens_a_room_is_where_the_model_has_it_and_its_replay_is_what_was_seen(
    http: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The sandbox has tests of its own.
    monkeypatch.setattr(gateways.sandbox, "available", lambda _language: False)
    run_state_machine_as_test(
        type("OfThisRun", (Room,), {"http": http}),
        settings=settings(
            max_examples=30, stateful_step_count=18, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
