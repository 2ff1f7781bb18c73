"""Rows that have a slug beside their id: either names one, and a slug wins over an id."""

from collections.abc import Mapping
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import Select, bindparam
from sqlalchemy.orm import Mapped

from rules.caller import Caller
from store.database import listing
from store.database.base import ANYONE, Anyone, Owned, visible
from store.database.engine import Means
from store.database.prepared import Prepared

NIL = UUID(int=0)  # nobody's id
DIGITS = 32  # of an id, however it is written


class Named(Owned):
    """A row of one organisation in one mode that has a slug."""

    slug: Mapped[str]


Row = TypeVar("Row", bound=Named)


def uuid(text: str) -> UUID | None:
    """Read a text as an id, or say that it is none."""
    if len(text) < DIGITS:  # as most slugs are: said faster than by a fault
        return None
    try:
        return UUID(text)
    except ValueError:
        return None


def by_key(caller: Caller, model: type[Row], key: str) -> Select[Row]:
    """Select one of the caller's rows by its slug or id."""
    return _by_key(caller, model, key, uuid(key))


def by_key_of_anyone(model: type[Row]) -> Select[Row]:
    """Select the same for a statement that is prepared: by the parameters `key` and `id`."""
    return _by_key(ANYONE, model, bindparam("key"), bindparam("id"))


def _by_key(caller: Caller | Anyone, model: type[Row], key: Any, id: Any) -> Select[Row]:
    named = model.slug == key
    return visible(caller, model).where(named | (model.id == id)).order_by(named.desc()).limit(1)


class Reader:
    """Reads columns of one of the caller's rows by its slug or id, with what other tables say of it."""

    def __init__(
        self, model: type[Named], *columns: Any, beside: Mapping[str, listing.Beside] | None = None
    ) -> None:
        found = by_key_of_anyone(model).with_only_columns(*columns)
        self.prepared = Prepared(listing.add(found.subquery("page"), beside) if beside else found)

    def first(self, means: Means, caller: Caller, key: str) -> Any | None:
        """Return the columns, or None where there is no such row."""
        return self.prepared.first(means, caller, key=key, id=uuid(key))

    def id(self, means: Means, caller: Caller, key: str) -> UUID:
        """Return the row's id; the nil id, which nothing has, where there is none."""
        row = self.first(means, caller, key)
        return row.id if row else NIL
