"""What is decided of interviews, without a database."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from rules import interviews as rules
from rules.errors import Invalid, SessionClosed

NOW = datetime(2026, 11, 25, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize("name", rules.MOVES)
@pytest.mark.parametrize("status", rules.STATUSES)
def test_a_move_is_made_from_its_sources_alone(name: str, status: str) -> None:
    if status in rules.MOVES[name].sources:
        assert rules.move(name, status).target in rules.STATUSES
    else:
        with pytest.raises(Invalid):
            rules.move(name, status)


@pytest.mark.parametrize(
    ("status", "mode", "sides", "found"),
    [
        ("prepared", "human_only", (True, False), ["wait"]),
        ("scheduled", "human_only", (True, True), ["wait", "start"]),
        ("prepared", "human_only", (False, True), []),
        ("waiting", "hybrid", (True, False), []),
        ("waiting", "hybrid", (True, True), ["start"]),
        ("scheduled", "ai_only", (True, False), ["wait", "start"]),
        ("active", "human_only", (True, True), []),
    ],
)
def test_a_room_begins_when_those_it_needs_are_there(
    status: str, mode: str, sides: tuple[bool, bool], found: list[str]
) -> None:
    assert rules.joined(status, mode, candidate=sides[0], interviewer=sides[1]) == found


@pytest.mark.parametrize("status", sorted(rules.CLOSED))
def test_nobody_joins_a_room_that_is_closed(status: str) -> None:
    with pytest.raises(SessionClosed):
        rules.joined(status, "human_only", candidate=True, interviewer=True)


def test_a_room_is_what_is_given_then_what_its_template_says_then_what_is_usual() -> None:
    template = {"time_limit_minutes": 30, "difficulty": "mid"}
    found = rules.settings({"difficulty": "senior", "title": "No setting"}, template)
    assert (found["time_limit_minutes"], found["difficulty"], found["active_language"]) == (
        30,
        "senior",
        "python",
    )
    assert "title" not in found
    assert rules.settings({"interviewer_mode": "ai_only"})["human_can_join"] is False
    assert rules.settings({"interviewer_mode": "ai_only", "interviewers": ["one"]})["human_can_join"] is True


@pytest.mark.parametrize(
    ("found", "email", "enrolled_as", "match"),
    [
        (None, "a@example.com", None, "unlinked"),
        ("a session", "a@example.com", None, "linked"),
        ("a session", "a@example.com", "A@example.com", "linked"),
        ("a session", "a@example.com", "b@example.com", "mismatch"),
    ],
)
def test_how_sure_it_is_who_the_candidate_is(
    found: str | None, email: str, enrolled_as: str | None, match: str
) -> None:
    assert rules.identity(found, email=email, enrolled_as=enrolled_as) == match


def test_offsets_are_counted_from_whatever_came_first() -> None:
    def at(seconds: float) -> Any:
        return SimpleNamespace(at=NOW + timedelta(seconds=seconds))

    begun, ended = NOW, NOW + timedelta(seconds=9)
    assert rules.offsets([], None, None) == ([], 0)
    assert rules.offsets([at(-1), at(2.5)], begun, ended) == ([0, 3500], 10_000)
    assert rules.offsets([at(1)], begun, None) == ([1000], 1000)


@given(minutes=st.integers(0, 2**31 - 1), status=st.sampled_from(rules.STATUSES), timed=st.booleans())
def test_whatever_falls_due_has_a_move_that_its_status_allows(minutes: int, status: str, timed: bool) -> None:
    scheduled_at = NOW if timed else None
    if status in ("prepared", "scheduled"):
        scheduled_at = NOW if status == "scheduled" else None
    due = rules.due_at(
        status, created_at=NOW, scheduled_at=scheduled_at, started_at=NOW, time_limit_minutes=minutes
    )
    if due is None:
        assert status in rules.CLOSED or (status == "active" and minutes == 0)
    else:
        found = rules.move(rules.due_move(status, scheduled_at), status)
        later = due + timedelta(seconds=1)
        assert rules.status(status, due_at=due, scheduled_at=scheduled_at, now=later) == found.target
        assert rules.status(status, due_at=due, scheduled_at=scheduled_at, now=NOW - timedelta(1)) == status


class Room(RuleBasedStateMachine):
    """A room against a model: what the contract says of its ways, written once more as plain branches."""

    @initialize(timed=st.booleans(), mode=st.sampled_from(rules.MODES))
    def prepare(self, timed: bool, mode: str) -> None:
        self.timed, self.mode = timed, mode
        self.status = "scheduled" if timed else "prepared"
        self.model = self.status
        self.here = {"candidate": False, "interviewer": False}

    def go(self, name: str, expected: str | None) -> None:
        try:
            found = rules.move(name, self.status).target
        except Invalid:
            found = None
        assert found == expected, (name, self.status)
        self.status = self.model = found or self.status

    @precondition(lambda self: self.model not in ("ended", "expired", "no_show"))
    @rule(side=st.sampled_from(rules.SIDES))
    def join(self, side: str) -> None:
        self.here[side] = True
        for name in rules.joined(self.status, self.mode, **self.here):
            self.status = rules.move(name, self.status).target
        if self.here["candidate"] and self.model != "active":
            both = self.here["interviewer"] or self.mode == "ai_only"
            self.model = "active" if both else "waiting"
        assert self.status == self.model

    @rule()
    def reschedule(self) -> None:
        open_ = self.model in ("prepared", "scheduled", "waiting")
        self.go("schedule", "scheduled" if open_ else None)
        if open_:
            self.timed, self.here = True, {"candidate": False, "interviewer": False}

    @rule()
    def cancel(self) -> None:
        self.go("cancel", "expired" if self.model in ("prepared", "scheduled", "waiting") else None)

    @rule()
    def end(self) -> None:
        self.go("end", "ended" if self.model in ("waiting", "active") else None)

    @precondition(lambda self: self.model not in ("ended", "expired", "no_show"))
    @rule()
    def time_passes(self) -> None:
        name = rules.due_move(self.status, NOW if self.timed else None)
        late = "no_show" if self.timed else "expired"
        self.go(name, "ended" if self.model == "active" else late)


test_a_room_goes_the_ways_of_the_model = Room.TestCase


def test_no_event_of_a_replay_is_after_the_end_or_before_the_one_before_it() -> None:
    began = datetime(2026, 3, 1, 9, tzinfo=UTC)
    moments = [began + timedelta(seconds=after) for after in (0, 5, 4, 61, 60)]
    events = [SimpleNamespace(at=moment) for moment in moments]
    ended = began + timedelta(seconds=60)
    assert rules.offsets(events, began, ended) == ([0, 5_000, 5_000, 60_000, 60_000], 60_000)
    assert rules.offsets(events, began, None) == ([0, 5_000, 5_000, 61_000, 61_000], 61_000)
