"""What an interview's stream says of how it went."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules import analysis
from rules.analysis import READ, analyse, shares

BEGAN = datetime(2026, 3, 1, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Happened:
    kind: str
    actor: str = "candidate"
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    id: str
    question_type: str = "technical"
    expected_answer: str = ""


def said(content: str, actor: str = "candidate", **more: Any) -> Happened:
    return Happened("message", actor, {"content": content, **more})


def ran(outcome: str, stdout: str = "", actor: str = "candidate") -> Happened:
    return Happened("run", actor, {"outcome": outcome, "stdout": stdout})


def turned(id: str) -> Happened:
    return Happened("question", "interviewer", {"question_id": id})


def found(events: list[Happened], *questions: Asked) -> analysis.Analysis:
    return analyse(events, questions, BEGAN, BEGAN + timedelta(minutes=30))


def test_talk_is_shared_by_words_and_what_was_cut_off_counts_for_nothing() -> None:
    events = [said("one two three"), said("four", "interviewer"), said("a b c d", "ai", cancelled=True)]
    signals = found(events).signals
    assert signals["talk_share"] == {"candidate": "0.75", "interviewer": "0.25"}
    assert signals["messages"] == 2
    assert signals["duration_seconds"] == 1800


def test_nothing_said_is_nobodys_share_and_no_score() -> None:
    silent = found([])
    assert silent.signals["talk_share"] == {}
    assert (silent.scores, silent.overall_score) == ({}, None)
    assert analyse([], [], None, BEGAN).signals["duration_seconds"] is None


def test_the_room_looks_at_its_first_question_until_it_is_told_of_another() -> None:
    events = [said("Hello"), turned("two"), said("Go on", "interviewer"), turned("three"), typed("three")]
    questions = found(events, Asked("one"), Asked("two"), Asked("three"), Asked("four")).signals["questions"]
    assert questions == {"count": 4, "asked": 3, "answered": 2}


@pytest.mark.parametrize(
    ("event", "score"),
    [
        (said("I think it is the  ETag, isn't it?"), "100.00"),
        (said("the  eTag"), "100.00"),
        (said("the etag", "interviewer"), "0.00"),
        (said("their etags"), "0.00"),
        (ran("ok", "The ETag\n"), "100.00"),
        (ran("ok", "the etag", "interviewer"), "0.00"),
    ],
)
def test_an_expected_answer_scores_where_the_candidate_gives_it(event: Happened, score: str) -> None:
    expected = Asked("one", expected_answer=" the ETag")
    assert found([event], expected).scores == {"one": score}


def test_a_coding_question_scores_by_how_its_last_program_ended() -> None:
    coding = Asked("one", "coding")
    assert found([ran("ok"), ran("timeout")], coding).scores == {"one": "0.00"}
    assert found([ran("timeout"), ran("ok")], coding).scores == {"one": "100.00"}
    assert found([said("Well")], coding).scores == {"one": "0.00"}
    mixed = found(
        [ran("ok"), turned("two"), said("no")], coding, Asked("two", "coding"), Asked("three", "coding")
    )
    assert mixed.scores == {"one": "100.00", "two": "0.00"}
    assert mixed.overall_score == Decimal(50)
    assert mixed.signals["code_runs"] == mixed.signals["code_runs_ended_well"] == 1


def typed(id: str, actor: str = "candidate") -> Happened:
    return Happened("code", actor, {"question_id": id, "code": "print(1)", "language": "python"})


def test_code_that_was_typed_and_never_run_is_an_answer_that_has_not_ended_well() -> None:
    coding = Asked("one", "coding")
    assert found([typed("one")], coding).scores == {"one": "0.00"}
    assert found([typed("one")], coding).signals["questions"]["answered"] == 1
    assert found([typed("one", "interviewer")], coding).signals["questions"]["answered"] == 0
    language = Happened("code", "candidate", {"question_id": "one", "language": "go"})
    assert found([language], coding).signals["questions"]["answered"] == 0


def test_code_belongs_to_the_question_it_was_typed_for_wherever_the_room_looks_by_then() -> None:
    questions = [Asked("one", "coding"), Asked("two", "coding"), Asked("three", "coding")]
    made = found([turned("two"), turned("three"), typed("two")], *questions)
    assert made.signals["questions"] == {"count": 3, "asked": 2, "answered": 1}


def test_a_coding_question_that_was_never_asked_has_no_score() -> None:
    questions = [Asked("one", "coding"), Asked("two", "coding"), Asked("three", "coding")]
    greeted = [said("Hello", "interviewer"), turned("two"), ran("ok"), typed("three", "interviewer")]
    assert found(greeted, *questions).scores == {"two": "100.00"}
    assert found([], *questions).scores == {}
    assert found([said("Hello", "interviewer")], *questions).scores == {"one": "0.00"}


def test_signals_of_integrity_are_counted_by_kind() -> None:
    events = [
        Happened("violation", data={"violation_type": kind}) for kind in ("webcam", "focus_loss", "webcam")
    ]
    assert found(events).signals["violations"] == {"focus_loss": 1, "webcam": 2}


@given(st.dictionaries(st.sampled_from(analysis.SPEAKERS), st.integers(0, 10**9)))
def test_shares_add_up_to_one_and_are_as_large_as_the_counts_say(counts: dict[str, int]) -> None:
    written = {name: Decimal(one) for name, one in shares(counts).items()}
    whole = sum(counts.values())
    assert sum(written.values()) == (1 if whole else 0)
    for name, one in written.items():
        assert abs(one - Decimal(counts[name]) / whole) < Decimal("0.01")


IDS = ["one", "two", "three"]
EVENTS = st.lists(
    st.builds(
        Happened,
        st.sampled_from([*READ, "join", "whiteboard"]),
        st.sampled_from(["candidate", "interviewer", "ai", "system"]),
        st.fixed_dictionaries(
            {},
            optional={
                "content": st.text(),
                "question_id": st.sampled_from([*IDS, "gone"]),
                "outcome": st.sampled_from(["ok", "timeout", None]),
                "stdout": st.text(),
                "violation_type": st.sampled_from(["webcam", "focus_loss"]),
                "cancelled": st.booleans(),
            },
        ),
    )
)
QUESTIONS = st.lists(
    st.builds(Asked, st.sampled_from(IDS), st.sampled_from(["coding", "technical"]), st.text(max_size=3)),
    unique_by=lambda one: one.id,
)


@given(EVENTS, QUESTIONS)
def test_whatever_happens_figures_fit_together(events: list[Happened], questions: list[Asked]) -> None:
    made = analyse(events, questions, BEGAN, BEGAN)
    assert made == analyse(iter(events), questions, BEGAN, BEGAN)
    scores = [Decimal(one) for one in made.scores.values()]
    assert made.scores.keys() <= {one.id for one in questions}
    assert all(0 <= one <= 100 for one in scores)
    assert (made.overall_score is None) == (not scores)
    if made.overall_score is not None:
        assert min(scores) <= made.overall_score <= max(scores)
    told = made.signals["questions"]
    assert 0 <= told["answered"] <= told["asked"] <= told["count"] == len(questions)
    assert len(scores) <= told["asked"]
    assert made.signals["code_runs_ended_well"] <= made.signals["code_runs"]
    assert sum(made.signals["violations"].values()) == sum(one.kind == "violation" for one in events)
    for kind in ("join", "whiteboard"):
        rest = [one for one in events if one.kind != kind]
        if rest == events:
            continue
        less = analyse(rest, questions, BEGAN, BEGAN).signals
        assert (less["messages"], less["code_runs"]) == (made.signals["messages"], made.signals["code_runs"])
