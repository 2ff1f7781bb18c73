from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from rules import sessions
from rules.errors import Invalid, InvitationExpired, SessionClosed
from rules.sessions import Question

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MCQ = Question("mcq", ("a", "b", "c"))
MANY = Question("mcq", ("a", "b", "c"), allow_multiple=True)


@dataclass(frozen=True)
class Card:
    id: int
    difficulty: str


POOL = [Card(number, ("easy", "medium", "hard")[number % 3]) for number in range(30)]


@pytest.mark.parametrize(
    ("stored", "expires", "deadline", "shown"),
    [
        ("pending", 1, None, "pending"),
        ("pending", 0, None, "expired"),
        ("started", -1, None, "started"),
        ("started", -1, 1, "started"),
        ("started", -1, 0, "completed"),
        ("completed", -1, -1, "completed"),
        ("expired", 1, None, "expired"),
    ],
)
def test_the_state_follows_the_clock_before_the_schedule_comes_by(stored, expires, deadline, shown):
    deadline_at = None if deadline is None else NOON + timedelta(seconds=deadline)
    expires_at = NOON + timedelta(seconds=expires)
    assert sessions.status(stored, expires_at=expires_at, deadline_at=deadline_at, moment=NOON) == shown


@pytest.mark.parametrize(
    ("limit", "extra", "minutes"), [(60, 0, 60), (60, 25, 75), (45, 50, 67.5), (60, 100, 120)]
)
def test_extra_time_is_a_part_of_the_limit(limit, extra, minutes):
    assert sessions.deadline(NOON, limit, extra) == NOON + timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("before", "after", "minutes"), [(0, 50, 90), (50, 0, 60), (25, 100, 120), (25, 25, 75)]
)
def test_a_deadline_moves_with_the_extra_time(before, after, minutes):
    deadline = NOON + timedelta(minutes=60) * (100 + before) / 100
    moved = sessions.moved_deadline(NOON, deadline, (before, after), moment=NOON + timedelta(minutes=59))
    assert moved == NOON + timedelta(minutes=minutes)


def test_time_that_is_being_used_is_not_taken_back():
    with pytest.raises(Invalid) as refused:
        sessions.moved_deadline(
            NOON, NOON + timedelta(minutes=90), (50, 0), moment=NOON + timedelta(minutes=60)
        )
    assert refused.value.details["fields"][0]["pointer"] == "/extra_time_percent"


def test_without_a_limit_there_is_no_deadline():
    assert sessions.deadline(NOON, None, 50) is None


@pytest.mark.parametrize(
    ("status", "refusal"),
    [("pending", Invalid), ("expired", InvitationExpired), ("completed", SessionClosed)],
)
def test_each_state_refuses_answers_in_its_own_words(status, refusal):
    assert type(sessions.refusal(status)) is refusal


def test_before_the_start_the_refusal_names_the_state():
    assert sessions.refusal("pending").details == {"status": "pending"}


@pytest.mark.parametrize(
    ("question", "given", "kept"),
    [
        (MCQ, "a", "a"),
        (MCQ, ["a"], "a"),
        (MANY, "a", ["a"]),
        (MANY, ["c", "a"], ["c", "a"]),
        (Question("numeric"), 3, 3),
        (Question("numeric"), 3.50, 3.5),
        (Question("numeric"), "3.25", 3.25),
        (Question("numeric"), 0, 0),
        (Question("numeric"), -(10**15), -(10**15)),
        (Question("numeric"), " 1.5e3 ", 1500),
        (Question("text"), " as typed ", " as typed "),
        (Question("coding"), "print(1)\n", "print(1)\n"),
    ],
)
def test_an_answer_of_the_right_shape_is_kept(question, given, kept):
    assert sessions.answer(question, given) == kept


@pytest.mark.parametrize(
    ("question", "given"),
    [
        (MCQ, "d"),
        (MCQ, ["a", "b"]),
        (MCQ, 1),
        (MCQ, {"id": "a"}),
        (MANY, ["a", "a"]),
        (MANY, ["a", "d"]),
        (MANY, [["a"]]),
        (Question("numeric"), "three"),
        (Question("numeric"), True),
        (Question("numeric"), float("inf")),
        (Question("numeric"), "NaN"),
        (Question("numeric"), "1e999"),
        (Question("numeric"), 10**15 + 1),
        (Question("numeric"), -1e22),
        (Question("numeric"), 2**64),
        (Question("numeric"), "1_000"),
        (Question("numeric"), "١٠٠٠"),
        (Question("numeric"), [1]),
        (Question("text"), 5),
        (Question("text"), "a\x00b"),
        (Question("text"), "a\ud800b"),
        (Question("text"), "é" * (32 * 1024 + 1)),
        (Question("coding"), ["print(1)"]),
        (Question("numeric"), []),
        (Question("text"), []),
    ],
)
def test_an_answer_of_the_wrong_shape_is_refused_where_it_stands(question, given):
    with pytest.raises(Invalid) as caught:
        sessions.answer(question, given)
    assert [fault["pointer"] for fault in caught.value.details["fields"]] == ["/answer"]


@pytest.mark.parametrize("case_type", sessions.SHAPES)
@pytest.mark.parametrize("nothing", [None, ""])
def test_every_case_can_be_cleared(case_type, nothing):
    assert sessions.answer(Question(case_type), nothing) is None


def test_no_option_clears_a_choice():
    assert sessions.answer(Question("mcq"), []) is None


def test_an_answer_may_be_as_large_as_the_limit():
    assert sessions.answer(Question("text"), "x" * sessions.MAX_ANSWER_BYTES)


@pytest.mark.parametrize("strategy", sessions.STRATEGIES)
def test_the_same_seed_draws_the_same_cases_in_the_same_order(strategy):
    first = sessions.draw(POOL, size=7, strategy=strategy, seed="one")
    assert first == sessions.draw(list(reversed(POOL)), size=7, strategy=strategy, seed="one")
    assert first != sessions.draw(POOL, size=7, strategy=strategy, seed="two")
    assert len(set(first)) == 7


@pytest.mark.parametrize("strategy", sessions.STRATEGIES)
@pytest.mark.parametrize("size", [None, 30, 99])
def test_a_pool_smaller_than_the_assignment_is_drawn_whole(strategy, size):
    assert set(sessions.draw(POOL, size=size, strategy=strategy, seed="s")) == set(POOL)


@pytest.mark.parametrize("size", [3, 6, 7, 8])
def test_a_balanced_draw_spreads_over_the_difficulties_evenly(size):
    drawn = sessions.draw(POOL, size=size, strategy="balanced", seed="s")
    counts = Counter(card.difficulty for card in drawn)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_a_balanced_draw_goes_on_when_a_difficulty_runs_out():
    pool = [Card(0, "hard")] + [Card(number, "easy") for number in range(1, 9)]
    drawn = sessions.draw(pool, size=5, strategy="balanced", seed="s")
    assert Counter(card.difficulty for card in drawn) == {"hard": 1, "easy": 4}


def test_a_random_draw_gives_every_case_its_turn():
    seen = {
        card for seed in range(100) for card in sessions.draw(POOL, size=3, strategy="random", seed=str(seed))
    }
    assert seen == set(POOL)


def test_the_parts_of_many_quick_saves_add_up_to_the_whole():
    moments = [NOON + timedelta(milliseconds=700 * number) for number in range(1, 101)]
    previous, total = None, 0
    for moment in moments:
        total += sessions.seconds_between(NOON, previous, moment)
        previous = moment
    assert total == 70


def test_violations_ask_for_a_review_when_all_kinds_together_reach_the_threshold():
    counts = sessions.count_violation({"fullscreen": 1}, "focus_loss")
    assert counts == {"fullscreen": 1, "focus_loss": 1}
    assert sessions.review_status(counts, 3) is None
    assert sessions.review_status(sessions.count_violation(counts, "fullscreen"), 3) == "needs_review"
    assert sessions.review_status(counts, None) is None
