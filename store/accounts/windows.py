"""The same windows counted in this process alone: what stands in for Redis while it does not answer."""

import threading
from collections import deque

MOST_KEYS = 10_000

_lock = threading.Lock()
_windows: dict[str, deque[int]] = {}  # the moments in ms of the last window's requests, oldest first


def forget() -> None:
    """Begin anew."""
    with _lock:
        _windows.clear()


def take(keys: list[str], numbers: list[int]) -> list[int]:
    """Count as the script in `limits` does: which refuses (0: none), then use and reset of each."""
    moment, refused = numbers[0], 0
    room: list[tuple[int, int]] = []
    with _lock:
        if len(_windows) > MOST_KEYS:
            _windows.clear()
        for place, key in enumerate(keys):
            limit, window = numbers[1 + 2 * place], numbers[2 + 2 * place]
            taken = _windows.setdefault(key, deque())
            while taken and taken[0] <= moment - window:
                taken.popleft()
            room.append((len(taken), (taken[0] if taken else moment) + window))
            if len(taken) >= limit and (not refused or room[place][1] > room[refused - 1][1]):
                refused = place + 1
        if not refused:
            for place, key in enumerate(keys):
                _windows[key].append(moment)
                room[place] = (room[place][0] + 1, room[place][1])
    return [refused, *(number for pair in room for number in pair)]
