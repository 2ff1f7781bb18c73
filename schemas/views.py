"""A page as an answer, and what says more than its body."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


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


@dataclass(frozen=True)
class Called:
    """What an operation answered a page that called it: `error` where it refused, `faults` by their pointer."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def error(self) -> dict[str, Any] | None:
        """The refusal's code, message and details; None where the operation succeeded."""
        return self.body["error"] if self.status >= 400 else None

    @property
    def faults(self) -> dict[str, str]:
        """What is wrong with what was sent, by where."""
        details = (self.error or {}).get("details", {})
        return {one["pointer"]: one["message"] for one in details.get("fields", ())}


class Call(Protocol):
    """Carries out an operation for who looks at a page, as if they had asked for it themselves."""

    def __call__(
        self,
        operation_id: str,
        *,
        token: str = "",
        query: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
        at: Mapping[str, Any] = ...,
        **path: str,
    ) -> Called:
        """Ask; the path's parameters are in `at`, or by their names.

        `token` is what the page's form showed, which every change by a session needs.
        """
        ...
