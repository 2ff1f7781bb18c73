"""A page as an answer, and what says more than its body."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Redirect:
    """The way to a page that may be loaded again, after a form: a path of ours."""

    location: str
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class View:
    """A template and its values, with the headers of the page.

    It is in the first of the wanted languages that there is, else in one that the browser asks for, else in the other.
    """

    template: str
    values: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 200
    wanted: Sequence[str | None] = ()
    otherwise: str | None = None


@dataclass(frozen=True)
class Told:
    """JSON, or nothing, with headers of its own."""

    body: dict[str, Any] | None
    headers: dict[str, str]
