"""What an AI says next in a room: once to each answer, questions in their order, nothing where a person speaks."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from rules import speaking


@dataclass
class One:
    number: int
    kind: str
    actor: str
    data: dict[str, Any] = field(default_factory=dict)


@dataclass
class Asked:
    id: int
    title: str
    is_active: bool = False
    body: str = ""


def room(*told: str) -> list[One]:
    """`ai:0` is a message of the AI's that has heard that number; `question:ai` shows one."""
    events = []
    for number, one in enumerate(told, 1):
        kind, _, rest = one.partition(":")
        if kind == "question":
            events.append(One(number, "question", rest))
        elif kind == "ai":
            events.append(One(number, "message", "ai", {"heard": int(rest)}))
        else:
            events.append(One(number, "message", kind, {"cancelled": True} if rest else {}))
    return events


def questions(active: int = 0) -> list[Asked]:
    return [Asked(place, f"Question {place}", place == active) for place in range(3)]


def test_it_greets_and_asks_the_first_question_once() -> None:
    turn = speaking.turn([], questions())
    assert turn is not None
    assert (turn.greets, turn.following.title, turn.may_react) == (True, "Question 0", False)
    said = speaking.scripted(turn, heard_by_model=False)
    assert "I am an AI" in said
    assert speaking.WITHOUT in said
    assert speaking.WITHOUT not in speaking.scripted(turn, heard_by_model=True)
    assert speaking.turn(room("question:ai", "ai:0"), questions()) is None


def test_each_answer_is_spoken_to_once_whatever_came_meanwhile() -> None:
    turn = speaking.turn(room("question:ai", "ai:0", "candidate", "candidate"), questions())
    assert turn is not None
    assert (turn.heard, turn.current.title, turn.following.title) == (4, "Question 0", "Question 1")
    assert speaking.turn(room("question:ai", "ai:0", "candidate", "candidate", "ai:4"), questions()) is None
    # What was said while it spoke is heard next.
    assert (
        speaking.turn(room("question:ai", "ai:0", "candidate", "candidate", "ai:3"), questions()) is not None
    )


@pytest.mark.parametrize(
    ("told", "may_react"),
    [
        (("question:ai", "ai:0", "candidate"), True),
        (("question:ai", "ai:0", "candidate", "ai:3", "candidate"), True),
        (("question:ai", "ai:0", "candidate", "ai:3", "candidate", "ai:5", "candidate"), False),
        (("question:ai", "ai:0", "candidate", "question:ai", "ai:3", "candidate"), True),
    ],
)
def test_it_reacts_so_often_to_one_question_and_then_goes_on(told: tuple[str, ...], may_react: bool) -> None:
    turn = speaking.turn(room(*told), questions())
    assert turn is not None
    assert turn.may_react is may_react


def test_after_the_last_question_there_is_a_last_word_and_then_none() -> None:
    turn = speaking.turn(room("question:ai", "ai:0", "candidate"), questions(active=2))
    assert turn is not None
    assert turn.following is None
    assert speaking.LAST in speaking.scripted(turn, heard_by_model=False)
    over = room("question:ai", "ai:0", "candidate", "ai:3", "candidate")
    over[3].data["last"] = True
    assert speaking.turn(over, questions(active=2)) is None


@pytest.mark.parametrize(
    ("told", "speaks"),
    [
        (("question:ai", "ai:0", "interviewer", "candidate"), False),
        (("question:ai", "ai:0", "interviewer", "candidate", "question:interviewer", "candidate"), True),
        (("interviewer",), False),
        (("question:ai", "ai:0", "candidate", "ai-cancelled:x", "candidate"), True),
    ],
)
def test_where_an_interviewer_speaks_the_floor_is_theirs(told: tuple[str, ...], speaks: bool) -> None:
    assert (speaking.turn(room(*told), questions()) is not None) is speaks


def test_a_turn_that_was_overtaken_is_interrupted() -> None:
    assert speaking.is_interrupted("ended", [])
    assert speaking.is_interrupted("active", room("interviewer"))
    assert not speaking.is_interrupted("active", room("candidate", "question:interviewer"))
