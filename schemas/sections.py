"""A page of the area as data: what it shows, what its forms do, and how their fields are read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Fields = Mapping[str, Any]


def text(given: Any) -> str:
    """Read a text, of several lines where it has them."""
    return given if isinstance(given, str) else ""


def line(given: Any) -> str:
    """Read a text without what stands around it."""
    return text(given).strip()


def many(given: Any) -> list[str]:
    """Read what is ticked or chosen, any number of them."""
    return [one for one in (given if isinstance(given, list) else [given]) if isinstance(one, str) and one]


def lines(given: Any) -> list[str]:
    """Read words that stand in lines, or with commas between them."""
    return [one.strip() for one in text(given).replace(",", "\n").splitlines() if one.strip()]


def whole(given: Any) -> Any:
    """Read a whole number; what is none stays as it is, for the operation to refuse."""
    return int(given) if text(given).isdecimal() and len(given) < 10 else given


def whole_or_none(given: Any) -> Any:
    """Read a whole number, or none where it is empty."""
    return whole(given) if line(given) else None


def is_true(given: Any) -> bool:
    """Read a box that is ticked or not."""
    return bool(given == "true")


def optional(given: Any) -> str | None:
    """Read a text that is null where it is empty."""
    return line(given) or None


def moment(given: Any) -> str | None:
    """Read a day, as the moment at which it begins, or a moment."""
    if not line(given):
        return None
    if "T" not in given:
        return f"{given}T00:00:00Z"
    return given if given.endswith("Z") else f"{given}Z"


@dataclass(frozen=True)
class Action:
    """What a form does: an operation, and how it reads its fields; those of the path are texts."""

    operation: str
    body: Mapping[str, Callable[[Any], Any]] | None = None
    path: tuple[str, ...] = ()
    shows: bool = False  # the answer holds what is shown once: it stands on the page itself
    done: str = ""  # what is said once it has succeeded
    leads_to: str = ""  # another page than the form's, `{name}` standing for what the answer has
    in_part: bool = False  # what the form does not have, or has empty, stays as it is
    inside: str = ""  # the one field of the body that holds all of them
    query: tuple[str, ...] = ()  # fields of the operation's query
    gathers: Callable[[Fields], dict[str, Any]] = lambda _fields: {}  # what several fields make together

    def asked(self, fields: Fields) -> dict[str, Any] | None:
        """Return the operation's body."""
        if self.body is None:
            return None
        given = {name: read(fields.get(name)) for name, read in self.body.items()} | self.gathers(fields)
        if self.inside:
            return {self.inside: given}
        if not self.in_part:
            return given
        return {name: value for name, value in given.items() if name in fields and value is not None}


@dataclass(frozen=True)
class Section:
    """One page: what it needs of a role, what it reads, and what its forms do."""

    title: str
    path: str
    template: str
    reads: Mapping[str, str] = field(default_factory=dict)  # operations by the names of their answers
    asks: str = ""  # which of them takes what the page's address asks for
    needs: str = ""
    actions: Mapping[str, Action] = field(default_factory=dict)
    is_listed: bool = True  # in the navigation
    always: Mapping[str, Fields] = field(default_factory=dict)  # what a reading is asked for besides
    makes: Callable[[Fields], dict[str, Any]] = lambda _read: {}  # what is shown of all that was read
    filters: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)  # how its address is read
    under: str = ""  # the path of the section that it belongs to
    says: Mapping[str, str] = field(default_factory=dict)  # of what was done on other pages
