"""Synchronous code on an event loop: where it waits, the loop goes on.

SQLAlchemy does the same (`sqlalchemy.util.greenlet_spawn`) with a greenlet for each call. Python gives each of these a
stack of its own from the system, which costs 11 µs of the 14 that such a call takes; so ours are used again.
"""

import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from greenlet import getcurrent, greenlet

Result = TypeVar("Result")
Ended = tuple[Any, BaseException | None]  # what a call returned, or raised


class _Greenlet(greenlet):
    """One that carries out call after call."""

    def run(self, call: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:
        """Carry out what comes, for as long as anything does; its parent is whoever runs the loop."""
        assert self.parent is not None
        while True:
            function, arguments = call
            ended: Ended
            try:
                ended = function(*arguments), None
            except BaseException as fault:
                ended = None, fault
            function = arguments = call = None  # type: ignore[assignment]  # nothing outlives its call
            call = self.parent.switch(ended)
            ended = None  # type: ignore[assignment]


_free: list[_Greenlet] = []


def is_current() -> bool:
    """Say whether this is carried out by `run`."""
    return type(getcurrent()) is _Greenlet


async def run(function: Callable[..., Result], *arguments: Any) -> Result:
    """Carry out a function that waits by `wait_for`; for the one thread that has an event loop."""
    main = getcurrent()
    mine = _free.pop() if _free and _free[-1].parent is main else _Greenlet(parent=main)
    mine.gr_context = main.gr_context
    asked = mine.switch((function, arguments))
    while type(asked) is not tuple:
        try:
            answer = await asked
        except BaseException:
            asked = mine.throw(*sys.exc_info())
        else:
            asked = mine.switch(answer)
    mine.gr_context = None
    _free.append(mine)
    result, fault = asked
    if fault is not None:
        try:
            raise fault
        finally:
            fault = None  # or it would hold its own frame
    returned: Result = result
    return returned


def wait_for(awaitable: Awaitable[Result]) -> Result:
    """Wait for what is awaited, in code that `run` carries out."""
    loop = getcurrent().parent
    assert loop is not None
    answer: Result = loop.switch(awaitable)
    return answer
