"""What a process keeps in its memory."""

import gc
from typing import TypeVar

Kind = TypeVar("Kind")


def every(kind: type[Kind]) -> list[Kind]:
    """Return all there is of a kind; with what is frozen, of which `gc.get_objects` does not tell."""
    gc.unfreeze()
    try:
        return [one for one in gc.get_objects() if type(one) is kind]
    finally:
        gc.freeze()
