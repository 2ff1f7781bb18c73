"""A page as an answer."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Redirect:
    """The way to a page that may be loaded again, after a form: a path of ours."""

    location: str
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class View:
    """A template and its values, with the headers of the page."""

    template: str
    values: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 200
