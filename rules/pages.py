"""One page of a list."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Page:
    """Rows in order, with the cursors of the pages on either side (None at an end)."""

    results: Sequence[Any]
    next: str | None = None
    previous: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)  # what the list says beside its rows

    def map(self, show: Callable[[Any], Any]) -> "Page":
        """Return the same page with each row as `show` shows it."""
        return replace(self, results=[show(row) for row in self.results])

    def beside(self, **more: Any) -> "Page":
        """Return the same page with what the list says beside its rows."""
        return replace(self, more=more)
