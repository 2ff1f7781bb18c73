"""Who may start and stop the servers of a data folder: kernel locks, which vanish with their holder."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(path: Path, *, shared: bool = False, wait: bool = True) -> Iterator[int]:
    """Hold a lock; without `wait` raise BlockingIOError when somebody else has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)
        yield descriptor
    finally:
        os.close(descriptor)
