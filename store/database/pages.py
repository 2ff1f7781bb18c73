"""Keyset pages over any list: opaque cursors, no OFFSET, no COUNT."""

import base64
import binascii
import functools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

import orjson
from sqlalchemy import ColumnElement, Integer, Select, Subquery, bindparam, func, select, true, tuple_
from sqlalchemy.orm import InstrumentedAttribute, Session

from rules.caller import Caller
from rules.errors import Invalid
from rules.pages import Page
from store.database.engine import Means
from store.database.prepared import Prepared
from store.database.usage import USED

Row = TypeVar("Row")
Column = InstrumentedAttribute[Any]


def _integer(value: Any) -> int:
    if type(value) is not int or abs(value) >= 1 << 63:
        raise ValueError(value)
    return value


def _decimal(value: Any) -> Decimal:
    number = Decimal(str(value))
    if not number.is_finite() or abs(number.adjusted()) > 30:
        raise ValueError(value)
    return number


# How a key's value is read back from a cursor.
_READ: dict[type, Callable[[Any], Any]] = {
    UUID: UUID,
    int: _integer,
    Decimal: _decimal,
    str: str,
    datetime: datetime.fromisoformat,
}


@functools.cache
def _reader(key: Column) -> Callable[[Any], Any]:
    return _READ[key.type.python_type]  # which takes longer to ask for than everything else here


def page(
    session: Session,
    statement: Select[Any],
    *keys: Column,
    cursor: str | None,
    page_size: int,
    descending: bool = True,
) -> Page:
    """Load one page in the order of `keys`, the last of which is unique.

    Raises Invalid for a cursor that this list did not make.
    """
    backwards, after = decode(cursor, keys) if cursor is not None else (False, None)
    falling = descending != backwards
    if after is not None:
        here = tuple_(*keys)
        there = tuple_(*after)
        statement = statement.where(here < there if falling else here > there)
    ordered = statement.order_by(*_order(keys, falling=falling))
    found: Sequence[Any] = session.scalars(ordered.limit(page_size + 1)).all()
    return cut(found, keys, page_size, backwards=backwards, first=after is None)


# From a page, how one row of another table is found; and which of its columns are shown.
Beside = tuple[Callable[[Subquery], ColumnElement[bool]], tuple[Column, ...]]


def _add(page: Subquery, beside: Mapping[str, Beside]) -> Select[Any]:
    """Add columns of other tables to a page, as `name.column`.

    Each row is looked up by itself. Joined in the usual way, PostgreSQL may think it cheaper to read the other table
    along its index, or to join all rows before it takes those of the page.
    """
    found = {
        name: select(*columns).where(condition(page)).limit(1).lateral(name)
        for name, (condition, columns) in beside.items()
    }
    shown = [
        one.c[column.key].label(f"{name}.{column.key}")
        for name, one in found.items()
        for column in beside[name][1]
    ]
    whole = select(*page.c, USED, *shown).select_from(page)
    for one in found.values():
        whole = whole.outerjoin(one, true())
    return whole


def _order(keys: Iterable[Any], *, falling: bool) -> list[ColumnElement[Any]]:
    return [key.desc() if falling else key.asc() for key in keys]


class Listing:
    """A list that is prepared once for each set of filters it is asked with, and shows columns instead of entities.

    `filters` are conditions by name, each with a parameter of that name; `keys` as for `page`. For those in `skewed`
    one value may keep most rows and another hardly any, so such a page is planned for the values it is asked with.
    What other tables say of the rows is added by `beside`, to those of one page alone: each is a condition on the page
    with the columns it brings, and none of them where there is no such row. With one of `sifting`, which may look at
    every row in vain, the page's ids are found first: in an index that holds what all filters need, rows stay unread.
    """

    def __init__(
        self,
        rows: Select[Any],
        *keys: Column,
        filters: Mapping[str, ColumnElement[bool]],
        skewed: Set[str] = frozenset(),
        descending: bool = True,
        beside: Mapping[str, Beside] | None = None,
        sifting: Set[str] = frozenset(),
    ) -> None:
        self.beside, self.sifting = beside, sifting
        self.rows, self.keys, self.filters, self.descending = rows, keys, filters, descending
        self.skewed = skewed
        self.prepared: dict[tuple[Any, ...], Prepared] = {}

    def page(self, means: Means, caller: Caller, *, cursor: str | None, page_size: int, **given: Any) -> Page:
        """Load one page of what meets every filter that is given (None: not given)."""
        values = {name: value for name, value in given.items() if value is not None}
        if "updated_after" in values:
            values["updated_after"] = past(values["updated_after"])
        backwards, after = decode(cursor, self.keys) if cursor is not None else (False, None)
        form = (tuple(values), after is not None, self.descending != backwards)
        statement = self.prepared.get(form)
        if statement is None:
            statement = self.prepared[form] = self._prepare(*form)
        values |= {f"after_{number}": value for number, value in enumerate(after or ())}
        return cut(
            statement.all(means, caller, **values, rows=page_size + 1),
            self.keys,
            page_size,
            backwards=backwards,
            first=after is None,
        )

    def statement(self, names: Sequence[str], *, after: bool, falling: bool) -> Select[Any]:
        """Write the statement for some filters, from the start or after a cursor, in one direction."""
        statement = self.rows.where(*(self.filters[name] for name in names))
        if after:
            there = [bindparam(f"after_{number}", type_=key.type) for number, key in enumerate(self.keys)]
            here: Any = self.keys[0]
            beyond: ColumnElement[Any] = there[0]
            if len(there) > 1:
                # PostgreSQL guesses by the first key alone how many rows are left, and thinks none where many share
                # its last value. What comes out of a SELECT it does not know beforehand.
                hidden = [select(one).scalar_subquery() for one in there]
                here, beyond = tuple_(*self.keys), tuple_(*hidden)
            statement = statement.where(here < beyond if falling else here > beyond)
        order = _order(self.keys, falling=falling)
        statement = statement.order_by(*order).limit(bindparam("rows", type_=Integer()))
        if not self.sifting.isdisjoint(names):
            id = self.keys[-1]
            found = statement.with_only_columns(id).scalar_subquery()
            statement = self.rows.where(id == func.any(func.array(found))).order_by(*order)
        if self.beside is None:
            return statement.add_columns(USED)
        page = statement.subquery("page")
        ordered = _order([page.c[key.key] for key in self.keys], falling=falling)
        return _add(page, self.beside).order_by(*ordered)

    def _prepare(self, names: Sequence[str], after: bool, falling: bool) -> Prepared:  # noqa: FBT001
        statement = self.statement(names, after=after, falling=falling)
        return Prepared(statement, planned_by_values=not self.skewed.isdisjoint(names))


def past(moment: datetime) -> datetime:
    """Return the last moment that answers show as this one, by the millisecond: what is after it is shown as later."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000 + 999)


def containing(text: str) -> str:
    """Write the pattern of LIKE, with `/` as its escape, for texts that hold this one."""
    return "%" + text.replace("/", "//").replace("%", "/%").replace("_", "/_") + "%"


def cut(
    found: Sequence[Any], keys: Sequence[Column], page_size: int, *, backwards: bool, first: bool
) -> Page:
    """Make a page of its rows and the one after them."""
    rows, more = list(found[:page_size]), len(found) > page_size
    if backwards:
        rows.reverse()
    beyond, before = (True, more) if backwards else (more, not first)
    return Page(
        rows,
        next=encode(rows[-1], keys, backwards=False) if rows and beyond else None,
        previous=encode(rows[0], keys, backwards=True) if rows and before else None,
    )


def encode(row: Any, keys: Sequence[Column], *, backwards: bool) -> str:
    """Make the cursor that stands right after (or before) a row."""
    values = [getattr(row, key.key) for key in keys]
    written = [value if isinstance(value, int) else str(value) for value in values]
    text = orjson.dumps(["p" if backwards else "n", *written])
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def decode(cursor: str, keys: Sequence[Column]) -> tuple[bool, list[Any]]:
    """Read a cursor back, or refuse it."""
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        direction, *values = json.loads(text)
        if direction not in ("n", "p"):
            raise ValueError(direction)
        read = [_reader(key)(value) for key, value in zip(keys, values, strict=True)]
    except (ValueError, TypeError, ArithmeticError, KeyError, AttributeError, RecursionError, binascii.Error):
        raise Invalid.at(
            "/query/cursor", "Not a cursor of this list; take it from `next` or `previous`."
        ) from None
    return direction == "p", read
