"""Threads of which nobody has more than a share: what asks for more of them waits for its own."""

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Result = TypeVar("Result")
Task = tuple["Future[Result]", Callable[[], Result]]


class SharedThreads(Generic[Result]):
    """Calls functions for owners, each of which has at most `share` of them under way."""

    def __init__(self, count: int, *, share: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=name)
        self._share = share
        self._lock = threading.Lock()
        self._taken: Counter[Hashable] = Counter()
        self._waiting: defaultdict[Hashable, deque[Task[Result]]] = defaultdict(deque)

    def submit(self, owner: Hashable, function: Callable[[], Result]) -> "Future[Result]":
        """Have a function called; until it has been begun its future can be cancelled."""
        task: Task[Result] = (Future(), function)
        with self._lock:
            if self._taken[owner] >= self._share:
                self._waiting[owner].append(task)
                return task[0]
            self._taken[owner] += 1
        self._pool.submit(self._call, owner, task)
        return task[0]

    def _call(self, owner: Hashable, task: Task[Result]) -> None:
        future, function = task
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(function())
            except BaseException as fault:
                future.set_exception(fault)
        if following := self._following(owner):
            self._pool.submit(self._call, owner, following)  # behind what others have asked for meanwhile

    def _following(self, owner: Hashable) -> Task[Result] | None:
        with self._lock:
            if waiting := self._waiting.get(owner):
                return waiting.popleft()
            self._waiting.pop(owner, None)
            self._taken[owner] -= 1
            if not self._taken[owner]:
                del self._taken[owner]
            return None
