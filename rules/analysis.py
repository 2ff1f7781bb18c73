"""What an interview's stream says of how it went: measured, the same for the same stream, and judged by no model."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol

from rules import decimals

SPEAKERS = ("candidate", "interviewer", "ai")
READ = ("message", "question", "code", "run", "violation")  # kinds of the stream that say something here
DOING = ("message", "code", "run")  # those that somebody does on purpose
CODING = "coding"
MARKS = ".,;:!?\"'()"


class Event(Protocol):
    """One thing that happened in a room."""

    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def actor(self) -> str: ...  # noqa: D102
    @property
    def data(self) -> Mapping[str, Any]: ...  # noqa: D102


class Question(Protocol):
    """A question of the room, in the order in which they are asked."""

    @property
    def id(self) -> Any: ...  # noqa: D102
    @property
    def question_type(self) -> str: ...  # noqa: D102
    @property
    def expected_answer(self) -> str: ...  # noqa: D102


@dataclass
class _Turn:
    """What became of one question while the room looked at it."""

    asked: bool = False
    answered: bool = False
    met: bool = False  # what was expected was said, or written by a program
    ended_well: bool | None = None  # how the last program ended; None: none has run


@dataclass(frozen=True)
class Analysis:
    """Scores from 0 to 100 by the question's id, their mean, and what else was measured."""

    scores: dict[str, str]
    overall_score: Decimal | None
    signals: dict[str, Any] = field(default_factory=dict)

    def kept(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        overall = None if self.overall_score is None else decimals.written(self.overall_score)
        return {"scores": self.scores, "overall_score": overall, "signals": self.signals}


def analyse(
    events: Iterable[Event],
    questions: Sequence[Question],
    started_at: datetime | None,
    ended_at: datetime | None,
) -> Analysis:
    """Read a room's stream, in order.

    The room looks at its first question until it is told of another; that one was asked unless the room turned to
    another before the candidate did anything. Answered is what the candidate said something to, wrote code for, whether
    it was run or not, or ran a program for. Scored is what was asked and can be measured: a question with an expected
    answer, by whether the candidate or their program gave it; a coding one without, by how its last program ended.
    """
    turns = {str(one.id): _Turn() for one in questions}
    expected = {str(one.id): _plain(one.expected_answer) for one in questions}
    current = next(iter(turns), "")
    used = turned = False  # the room at all; to a question that was chosen
    words, violations = Counter[str](), Counter[str]()
    messages, runs, well = 0, 0, 0
    for event in events:
        mine = event.actor == "candidate"
        if event.kind == "question":
            current, turned = str(event.data.get("question_id", current)), True
        # What was typed is noted some seconds later, with the question that it is for.
        meant = str(event.data.get("question_id")) if event.kind == "code" else current
        turn = turns.get(meant, turns.get(current, _Turn()))
        turn.asked |= event.kind == "question" or (mine and event.kind in DOING)
        used |= event.kind in DOING
        if event.kind == "message" and not event.data.get("cancelled"):
            said = str(event.data.get("content", ""))
            messages += 1
            words[event.actor] += len(said.split())
            if mine:
                turn.answered = True
                turn.met |= _has(said, expected.get(current, ""))
        elif event.kind == "code" and mine and "code" in event.data:
            turn.answered = True
        elif event.kind == "run":
            ended_well = event.data.get("outcome") == "ok"
            runs, well = runs + 1, well + ended_well
            if mine:
                turn.answered, turn.ended_well = True, ended_well
                turn.met |= _has(str(event.data.get("stdout", "")), expected.get(current, ""))
        elif event.kind == "violation":
            violations[str(event.data.get("violation_type", "other"))] += 1
    if turns and used and not turned:
        turns[current].asked = True
    scores = {
        str(one.id): score for one in questions if (score := _score(one, turns[str(one.id)])) is not None
    }
    known = started_at is not None and ended_at is not None
    return Analysis(
        scores={id: decimals.written(score) for id, score in scores.items()},
        overall_score=decimals.cents(Fraction(sum(scores.values())) / len(scores)) if scores else None,
        signals={
            "duration_seconds": max(0, int((ended_at - started_at).total_seconds())) if known else None,  # type: ignore[operator]  # both are there
            "talk_share": shares({one: words[one] for one in SPEAKERS}),
            "messages": messages,
            "questions": {
                "count": len(turns),
                "asked": sum(turn.asked for turn in turns.values()),
                "answered": sum(turn.answered for turn in turns.values()),
            },
            "code_runs": runs,
            "code_runs_ended_well": well,
            "violations": dict(sorted(violations.items())),
        },
    )


def shares(counts: Mapping[str, int]) -> dict[str, str]:
    """Write each count as its share of all, in hundredths that add up to one; nothing where nothing was counted."""
    whole = sum(counts.values())
    if not whole:
        return {}
    parts = {name: divmod(count * 100, whole) for name, count in counts.items() if count}
    left = 100 - sum(hundredths for hundredths, _ in parts.values())
    # What rounding down left over goes where the most of it came from.
    raised = sorted(parts, key=lambda name: -parts[name][1])[:left]
    return {
        name: decimals.written(Decimal(hundredths + (name in raised)) / 100)
        for name, (hundredths, _) in parts.items()
    }


def _score(question: Question, turn: _Turn) -> Decimal | None:
    if not turn.asked:
        return None
    if _plain(question.expected_answer):
        return Decimal(100 if turn.met else 0)
    if question.question_type == CODING:
        return Decimal(100 if turn.ended_well else 0)
    return None


def _plain(text: str) -> str:
    """Write words alike: in one case, with single blanks, without the marks that sentences put around them."""
    return " ".join(filter(None, (word.strip(MARKS) for word in text.casefold().split())))


def _has(said: str, expected: str) -> bool:
    """Say whether an expected answer stands in what was said, as words of their own."""
    return bool(expected) and f" {expected} " in f" {_plain(said)} "
