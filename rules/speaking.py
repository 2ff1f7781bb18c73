"""What an AI that interviews says next: the frozen questions in their order, and something to the answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from rules import analysis
from rules.words import say

NAME = "AI interviewer"
MOST_REACTIONS = 2  # to the answers to one question, before the next one is asked
LONGEST_TURN = timedelta(minutes=1)  # then whoever took it has died
MOST_MESSAGES, LONGEST_CODE = 40, 8_000  # that a model is shown
LONGEST_ASKED = 2_500  # characters of a question in a message, which has 5,000

GREETING = say(
    "Hello, and welcome. I am an AI, and I ask the questions of this interview; take the time you need."
)
WITHOUT = say(
    "No language model listens here: your answers are kept, and the questions are asked in their order."
)
THANKS, LAST = (
    say("Thank you."),
    say("That was the last question. You can end the interview whenever you like."),
)
FIRST = say("Tell me about the experience that you bring for this role.")


class Event(analysis.Event, Protocol):
    """One thing that happened in a room, with its place in the order."""

    @property
    def number(self) -> int: ...  # noqa: D102


class Question(Protocol):
    """A frozen question."""

    @property
    def id(self) -> Any: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def body(self) -> str: ...  # noqa: D102
    @property
    def is_active(self) -> bool: ...  # noqa: D102


@dataclass(frozen=True)
class Turn:
    """What the AI is to say something to."""

    heard: int  # the number of the last thing that it knows of
    greets: bool  # nothing was said by it yet
    may_react: bool  # to this answer; else it goes on
    current: Question | None
    following: Question | None
    said: Sequence[Event] = field(default_factory=list)


def takes_part(interviewer_mode: str, status: str) -> bool:
    """Say whether an AI speaks in a room."""
    return interviewer_mode != "human_only" and status == "active"


def is_taken(since: datetime | None, now: datetime) -> bool:
    """Say whether somebody has the turn of speaking in hand."""
    return since is not None and now - since < LONGEST_TURN


def turn(events: Sequence[Event], questions: Sequence[Question]) -> Turn | None:
    """Say what the AI speaks to, by the room's messages and questions in order; None where it has nothing to say.

    Where an interviewer has spoken, the floor is theirs until they show the room a question.
    """
    mine = [one for one in events if one.actor == "ai" and one.kind == "message" and not cancelled(one)]
    messages = [one for one in events if one.kind == "message" and not cancelled(one)]
    heard = events[-1].number if events else 0
    if not _has_floor(events):
        return None
    if not mine:
        first = questions[0] if questions else None
        return Turn(heard, greets=True, may_react=False, current=None, following=first)
    answered = max(int(one.data.get("heard", one.number)) for one in mine)
    new = [one for one in messages if one.actor == "candidate" and one.number > answered]
    if not new or mine[-1].data.get("last"):
        return None
    place = next((place for place, one in enumerate(questions) if one.is_active), len(questions))
    shown = max((one.number for one in events if one.kind == "question"), default=0)
    reactions = sum(one.number > shown for one in mine) - 1  # the first of them asked it
    return Turn(
        heard,
        greets=False,
        may_react=reactions < MOST_REACTIONS,
        current=questions[place] if place < len(questions) else None,
        following=questions[place + 1] if place + 1 < len(questions) else None,
        said=messages[-MOST_MESSAGES:],
    )


def _has_floor(events: Sequence[Event]) -> bool:
    for one in reversed(events):
        if one.actor == "interviewer":
            return one.kind == "question"
        if one.actor == "ai" and one.kind == "message" and not cancelled(one):
            return True
    return True


def cancelled(event: Event) -> bool:
    """Say whether what was said was broken off."""
    return bool(event.data.get("cancelled"))


def is_interrupted(status: str, since: Sequence[Event]) -> bool:
    """Say whether a turn comes too late, by what has happened since it began."""
    return status != "active" or any(one.actor == "interviewer" and one.kind == "message" for one in since)


def asking(question: Question | None, tell: Callable[[str], str]) -> str:
    """Write a question as it was frozen; the last word where there is none, in the language that `tell` speaks."""
    if question is None:
        return tell(LAST)
    text = f"{question.title}\n\n{question.body}".strip()
    return text if len(text) <= LONGEST_ASKED else question.title  # the room shows the whole of it


def scripted(turn: Turn, tell: Callable[[str], str] = str, *, heard_by_model: bool) -> str:
    """Say what needs no model: the greeting, and the questions in their order."""
    if turn.greets:
        first = asking(turn.following, tell) if turn.following else tell(FIRST)
        return "\n\n".join([tell(GREETING), *([] if heard_by_model else [tell(WITHOUT)]), first])
    return f"{tell(THANKS)}\n\n{asking(turn.following, tell)}"
