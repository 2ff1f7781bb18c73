"""How a candidate's sitting goes: when it is open, what an answer may be, which cases are drawn."""

import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Protocol, TypeVar

from rules.errors import Invalid, InvitationExpired, SessionClosed
from rules.moves import Move
from rules.refusal import Refusal
from rules.words import say

# The moves of the invitation, which carries the sitting's state.
MOVES = {
    "start": Move({"pending"}, "started", stamp="started_at", event="assessment.started"),
    "finish": Move({"started"}, "completed", stamp="completed_at", event="assessment.completed"),
}

VIOLATION_TYPES = ("fullscreen", "copy_paste", "screen_share", "webcam", "focus_loss")

MOST_VIOLATIONS = 1_000  # of one session that are kept

MAX_ANSWER_BYTES = 64 * 1024


def status(stored: str, *, expires_at: datetime, deadline_at: datetime | None, moment: datetime) -> str:
    """Say what an invitation is at a moment, also where the schedule has not come by yet."""
    if stored == "pending" and expires_at <= moment:
        return "expired"
    if stored == "started" and deadline_at is not None and deadline_at <= moment:
        return "completed"
    return stored


def require_startable(status: str) -> None:
    """Refuse to start what has expired; a sitting that is started or completed is merely shown again."""
    if status == "expired":
        raise InvitationExpired(status=status)


def refusal(status: str) -> Refusal:
    """Return what answers, runs and signals outside a running session are refused with, each state in its words."""
    if status == "expired":
        return InvitationExpired(status=status)
    if status == "pending":
        return Invalid(say("The session has not been started yet."), status=status)
    return SessionClosed(status=status)


def time_allowed(time_limit_minutes: int | None, extra_time_percent: int) -> timedelta | None:
    """Return the candidate's own time: the limit and the extra part of it; None without a limit."""
    if time_limit_minutes is None:
        return None
    return timedelta(minutes=time_limit_minutes) * (100 + extra_time_percent) / 100


def own_time(
    time_limit_minutes: int | None,
    extra_time_percent: int,
    *,
    began: datetime | None,
    deadline: datetime | None,
) -> tuple[int | None, timedelta | None]:
    """Return the limit and the candidate's own time: of a session that began, what held when it did."""
    if began is None:
        return time_limit_minutes, time_allowed(time_limit_minutes, extra_time_percent)
    if deadline is None:
        return None, None
    allowed = deadline - began
    return round(allowed.total_seconds() * 100 / (100 + extra_time_percent) / 60), allowed


def deadline(
    started_at: datetime, time_limit_minutes: int | None, extra_time_percent: int
) -> datetime | None:
    """Return the moment after which nothing is accepted; None without a limit."""
    allowed = time_allowed(time_limit_minutes, extra_time_percent)
    return None if allowed is None else started_at + allowed


def moved_deadline(
    began: datetime, deadline: datetime, percents: tuple[int, int], *, moment: datetime
) -> datetime:
    """Return a running session's deadline with another extra time (`percents`: until now, from now on), or refuse.

    The limit is the one that held when it began. Time that was given is not taken back once it is being used.
    """
    before, after = percents
    moved = began + (deadline - began) * (100 + after) / (100 + before)
    if moved <= moment:
        raise Invalid.at(
            "/extra_time_percent", "The candidate has been at work for longer than that already."
        )
    return moved


def seconds_between(started_at: datetime, previous: datetime | None, moment: datetime) -> int:
    """Return the whole seconds of the sitting from one save to the next.

    Both ends are counted from the start, so that the parts of many quick saves add up to the whole.
    """
    since = 0 if previous is None else int((previous - started_at).total_seconds())
    return max(0, int((moment - started_at).total_seconds()) - since)


# --- Answers ------------------------------------------------------------------------------------------------


_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?\s*", re.ASCII | re.IGNORECASE)
MOST = 10**15


@dataclass(frozen=True)
class Question:
    """What decides whether an answer has the right shape."""

    case_type: str
    option_ids: Collection[str] = ()
    allow_multiple: bool = False


def answer(question: Question, value: Any) -> Any:
    """Return an answer as it is kept, or None where it clears the case; refuse one of the wrong shape."""
    if value is None or value == "" or (value == [] and question.case_type == "mcq"):
        return None
    return SHAPES[question.case_type](question, value)


def _choice(question: Question, value: Any) -> Any:
    chosen = value if isinstance(value, list) else [value]
    if any(not isinstance(one, str) or one not in question.option_ids for one in chosen):
        raise Invalid.at("/answer", say("must be the id of one of the case's options, or an array of them"))
    if len(chosen) > 1 and not question.allow_multiple:
        raise Invalid.at("/answer", say("must be a single option"))
    if len(set(chosen)) != len(chosen):
        raise Invalid.at("/answer", say("must not name an option twice"))
    return chosen if question.allow_multiple else chosen[0]


def _number(_question: Question, value: Any) -> int | float:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | str)
        or not _NUMBER.fullmatch(str(value))
    ):
        raise Invalid.at("/answer", say("must be a number"))
    number = Decimal(str(value))
    if abs(number) > MOST:  # beyond it, what is kept would not be what was written
        raise Invalid.at(
            "/answer", say("must be a number from %(least)s to %(most)s", least=-MOST, most=MOST)
        )
    return int(number) if number == number.to_integral_value() else float(number)


def _written(_question: Question, value: Any) -> str:
    if not isinstance(value, str):
        raise Invalid.at("/answer", say("must be a string"))
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise Invalid.at("/answer", say("must be well-formed Unicode")) from None
    if "\x00" in value:
        raise Invalid.at("/answer", say("must not contain the character U+0000"))
    if size > MAX_ANSWER_BYTES:
        raise Invalid.at("/answer", say("must be at most %(count)s kB", count=MAX_ANSWER_BYTES // 1024))
    return value


SHAPES: Mapping[str, Callable[[Question, Any], Any]] = {
    "mcq": _choice,
    "numeric": _number,
    "text": _written,
    "coding": _written,
}


def languages(content: Mapping[str, Any]) -> list[str]:
    """List the languages in which a case may be answered, the usual one first; none where it wants no code."""
    if content["case_type"] != "coding":
        return []
    usual = content["language"]
    return [usual, *(one for one in content.get("languages", ()) if one != usual)]


def language(content: Mapping[str, Any], given: Any) -> str:
    """Return the language that code is given in, or refuse one that its case does not offer."""
    if given not in (offered := languages(content)):
        raise Invalid.at(
            "/language",
            say("must be a language of the case: %(languages)s", languages=", ".join(offered))
            if offered
            else say("must not be there: the case has no language"),
        )
    return str(given)


def code(value: Any) -> str:
    """Return the code to run, or refuse what is not text of a fair size."""
    return _written(Question("coding"), value)


# --- The draw -----------------------------------------------------------------------------------------------


class Drawable(Protocol):
    """A case that can be drawn from a pool."""

    @property
    def id(self) -> Any: ...  # noqa: D102
    @property
    def difficulty(self) -> str: ...  # noqa: D102


Drawn = TypeVar("Drawn", bound=Drawable)


def draw(cases: Sequence[Drawn], *, size: int | None, strategy: str, seed: str) -> list[Drawn]:
    """Draw a candidate's own cases from a pool; the same seed draws the same, in the same order."""
    ranked = sorted(cases, key=lambda case: _rank(seed, case.id))
    return STRATEGIES[strategy](ranked, len(ranked) if size is None else size, seed)


def _rank(seed: str, key: Any) -> bytes:
    # A hash instead of a random generator: no state, and the same draw on every Python.
    return hashlib.sha256(f"{seed}:{key}".encode()).digest()


def _random(ranked: Sequence[Drawn], size: int, _seed: str) -> list[Drawn]:
    return list(ranked[:size])


def _balanced(ranked: Sequence[Drawn], size: int, seed: str) -> list[Drawn]:
    """Take one of each difficulty in turn; which difficulty comes first differs from seed to seed."""
    piles: dict[str, list[Drawn]] = {}
    for case in ranked:
        piles.setdefault(case.difficulty, []).append(case)
    turns = [piles[name] for name in sorted(piles, key=lambda name: _rank(seed, name))]
    drawn: list[Drawn] = []
    while len(drawn) < size and any(turns):
        drawn += [pile.pop(0) for pile in turns if pile]
    return drawn[:size]


STRATEGIES: Mapping[str, Callable[[Sequence[Any], int, str], list[Any]]] = {
    "random": _random,
    "balanced": _balanced,
}


# --- Integrity ----------------------------------------------------------------------------------------------


def count_violation(counts: Mapping[str, int], violation_type: str) -> dict[str, int]:
    """Return the counts with one more of a type."""
    return {**counts, violation_type: counts.get(violation_type, 0) + 1}


def keeps_violation(counts: Mapping[str, int]) -> bool:
    """Say whether one more signal is kept and told; beyond the first thousand they are counted alone."""
    return sum(counts.values()) < MOST_VIOLATIONS


def review_status(counts: Mapping[str, int], threshold: int | None) -> str | None:
    """Ask for a human look once all signals together reach the assessment's threshold."""
    return "needs_review" if threshold is not None and sum(counts.values()) >= threshold else None
