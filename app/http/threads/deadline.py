"""A limit for what a task of an event loop waits for."""

import asyncio
from typing import Any

from app.http.threads.hop import Late


class Deadline:
    """Raises Late in the block after so many seconds; `asyncio.timeout` for half as much, and for one block a task."""

    __slots__ = ("_before", "_is_late", "_task", "_timer")

    def __init__(self, seconds: float) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task, self._before, self._is_late = task, task.cancelling(), False
        self._timer = task.get_loop().call_later(seconds, self._end)

    def _end(self) -> None:
        self._is_late = True
        self._task.cancel()

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: type[BaseException] | None, *_fault: Any) -> None:
        self._timer.cancel()
        # What was awaited may have come in the same moment, and then it swallowed what would have ended the block.
        if self._is_late and self._task.uncancel() <= self._before and kind is asyncio.CancelledError:
            raise Late from None
