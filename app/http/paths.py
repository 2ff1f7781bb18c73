"""The documents' paths, in one tree.

Connexion's router answers a wrong method with the methods of the first route alone and redirects a missing slash;
here a path is looked up once, so both come out right.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from schemas import static

METHODS = ("get", "post", "put", "patch", "delete")  # as the documents write them

Thing = TypeVar("Thing")
API = "/api/"  # below which there are no files
SMALL = "/careers/"  # what people type; all that is below it is spelled in small letters
# No path of ours holds these, and the routers further in read some of them as the end of a path.
_STRANGE = re.compile(r"[\x00-\x1f\x7f]|//")


def in_small_letters(path: str) -> str | None:
    """Return how a path that people type is spelled; None where it is spelled so, or is none of those."""
    small = path.lower()
    return small if small != path and small.startswith(SMALL) and not _STRANGE.search(small) else None


@dataclass
class Place(Generic[Thing]):
    """A path of a document, and what stands there for each method."""

    path: str
    methods: dict[str, Thing | None] = field(default_factory=dict)

    @property
    def allow(self) -> str:
        """Every method that is answered, as the header Allow has it."""
        return ", ".join(sorted({*self.methods, "OPTIONS", *(["HEAD"] if "GET" in self.methods else [])}))

    def proper(self, path: str) -> str:
        """Return a path as the document ends it: with its last slash, or without."""
        return path.rstrip("/") + ("/" if self.path.endswith("/") else "")


class Tree(Generic[Thing]):
    """The paths by segment: a literal wins over a parameter."""

    def __init__(self) -> None:
        self.root: dict[str | None, Any] = {}  # by segment; under None, the place where a path ends

    def add(self, path: str, method: str, thing: Thing) -> None:
        """Put something at a path of a document, for one method."""
        node = self.root
        for segment in path.strip("/").split("/"):
            node = node.setdefault("{}" if segment.startswith("{") else segment, {})
        node.setdefault(None, Place(path)).methods[method.upper()] = thing

    def find(self, path: str) -> Place[Thing] | None:
        """Return the place of a request's path; None for one that nobody wrote down."""
        if _STRANGE.search(path):
            return None
        if not path.startswith(API) and static.find(path):
            return Place(path, {"GET": None})
        node = self.root
        for segment in path.strip("/").split("/"):
            child = node.get(segment) if segment != "{}" else None
            if child is None:
                child = node.get("{}") if segment else None
            if child is None:
                return None
            node = child
        found: Place[Thing] | None = node.get(None)
        return found
