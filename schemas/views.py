"""A page as an answer, and what says more than its body."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from rules import links
from rules.refusal import Refusal
from schemas.files import Stream


@dataclass(frozen=True)
class Redirect:
    """The way to a page that may be loaded again, after a form: a path of ours, or a company's own sign-in."""

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
    file: Stream | None = None  # what is no JSON, to be handed on

    @property
    def error(self) -> dict[str, Any] | None:
        """The refusal's code, message and details; None where the operation succeeded."""
        return self.body["error"] if self.status >= 400 else None

    @property
    def faults(self) -> dict[str, str]:
        """What is wrong with what was sent, by where."""
        details = (self.error or {}).get("details", {})
        return {one["pointer"]: one["message"] for one in details.get("fields", ())}


def refusing(refusal: Refusal) -> Called:
    """Say a refusal as an operation answers it."""
    details = {"documentation_url": links.error(refusal.code), **refusal.details}
    error = {"code": refusal.code, "message": refusal.args[0], "details": details}
    return Called(refusal.status, {"error": error})


class Call(Protocol):
    """Carries out an operation for who looks at a page, as if they had asked for it themselves."""

    def __call__(
        self,
        operation_id: str,
        *,
        csrf_token: str = "",
        query: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
        upload: tuple[str, bytes] | None = None,
        **path: Any,
    ) -> Called:
        """Ask; `csrf_token` is what the page's form showed, which every change by a session needs; `upload`, a file."""
        ...
