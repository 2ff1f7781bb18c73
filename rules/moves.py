"""State tables: how a resource may move."""

from collections.abc import Mapping
from dataclasses import dataclass

from rules.errors import Invalid


@dataclass(frozen=True)
class Move:
    """One allowed transition: from any of `sources` to `target`, with what else it does."""

    sources: frozenset[str] | set[str]
    target: str
    stamp: str | None = None  # the timestamp field it sets
    event: str | None = None  # the event it emits


def take(moves: Mapping[str, Move], name: str, status: str) -> Move:
    """Return the named move, or refuse because the present status does not allow it."""
    move = moves[name]
    if status not in move.sources:
        raise Invalid(f"A resource that is {status} cannot {name.replace('_', ' ')}.", status=status)
    return move
