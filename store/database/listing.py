"""Lists as data: what each may be asked for, in which orders, and the statement for each way of asking."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    Subquery,
    Text,
    and_,
    bindparam,
    func,
    literal,
    select,
    true,
    tuple_,
    union_all,
)
from sqlalchemy.orm import Session

from rules.caller import Caller
from rules.pages import Page
from store.database.engine import Means, Reading
from store.database.pages import Column, containing, cut, decode, past
from store.database.prepared import Prepared
from store.database.usage import USED

AT_ONCE = 1_000  # rows that one statement reads for a file

Condition = ColumnElement[bool]
_ROWS = bindparam("rows", type_=Integer())
# From a page, how one row of another table is found; and which of its columns are shown.
Beside = tuple[Callable[[Subquery], Condition], tuple[ColumnElement[Any] | Column, ...]]


@dataclass(frozen=True)
class Filter:
    """What one parameter of a query asks of the rows: a condition with a parameter of that name.

    The value compared is the one given as `read` makes it, or as `find` finds it in the database. A value in `instead`
    has a condition of its own (None: none at all). Where a filter of `together` is given too, that one stands in for
    this one. Where one value may keep most rows and another hardly any (`skewed`), a page is planned for the values it
    is asked with. A filter that may look at every row in vain is `sifting`: the page's ids are found first, in an index
    that holds what all filters need, and rows stay unread.

    What nobody knows beforehand is whether a text is frequent among the newest rows. With `near`, so many rows next to
    where the page begins are looked at in the list's order, by `condition`. Only where they do not fill the page is the
    rest looked for, by `found`, which an index answers: all of it, and the page taken of that.
    """

    condition: Condition | None = None
    read: Callable[[Any], Any] = lambda value: value
    find: Callable[[Means, Caller, Any], Any] | None = None
    instead: Mapping[Any, Condition | None] = field(default_factory=dict)
    together: Mapping[str, "Filter"] = field(default_factory=dict)
    skewed: bool = False
    sifting: bool = False
    near: int = 0
    found: Condition | None = None


def equals(column: Column, **more: Any) -> Filter:
    """Ask for one value of the column that is called as the parameter is."""
    return Filter(column == bindparam(column.key), **more)


def address(column: Column) -> Filter:
    """Ask for an address, in any case."""
    return Filter(column == bindparam("email"), read=lambda email: email.strip().casefold())


def search(column: Column) -> Filter:
    """Ask for a text in a column, in any case."""
    wanted = func.lower(bindparam("search", type_=Text()))
    like = func.lower(column).like(wanted, escape="/")
    return Filter(like, read=containing, instead={"": None}, skewed=True, sifting=True)


def updated_after(model: Any) -> Filter:
    """Ask for what changed since a moment that an answer has shown: what was seen is not seen again."""
    return Filter(model.updated_at > bindparam("updated_after"), read=past, skewed=True)


class Form(NamedTuple):
    """What tells one statement of a list from another."""

    order: str
    met: tuple[
        tuple[str, Any], ...
    ] = ()  # filters by name; with the value where that has a condition of its own
    after: bool = False  # a cursor
    backwards: bool = False


class Listing:
    """A list, prepared once for each form in which it is asked for; it shows columns instead of entities.

    `orders` are keys by the name of the order, the first the usual one, `-` before it for falling; the last key is
    unique. `filters` go by the names of their parameters. What other tables say of the rows is added by `beside`, to
    those of one page alone: each is a condition on the page with the columns it brings, and none of them where there
    is no such row.
    """

    def __init__(
        self,
        rows: Select[Any],
        orders: Mapping[str, Sequence[Column]],
        filters: Mapping[str, Filter] | None = None,
        beside: Mapping[str, Beside] | None = None,
    ) -> None:
        self.rows, self.orders, self.filters, self.beside = rows, orders, filters or {}, beside
        self.prepared: dict[Form, Prepared] = {}

    def page(
        self,
        means: Means,
        caller: Caller,
        *,
        cursor: str | None,
        page_size: int,
        ordering: str | None = None,
        **given: Any,
    ) -> Page:
        """Load one page of what meets every filter that is given (None: not given).

        What is no filter is a parameter of the rows themselves. Raises Invalid for a cursor of another list.
        """
        order = ordering or next(iter(self.orders))
        keys = self.orders[order]
        backwards, after = decode(cursor, keys) if cursor is not None else (False, None)
        met, values = [], {}
        for name, value in given.items():
            one = self.filters.get(name)
            if one is None:
                values[name] = value
            elif value is not None and value in one.instead:
                met += [(name, value)] if one.instead[value] is not None else []
            elif value is not None:
                met.append((name, None))
                values[name] = one.find(means, caller, value) if one.find else one.read(value)
        form = Form(order, tuple(met), after is not None, backwards)
        statement = self.prepared.get(form)
        if statement is None:
            statement = self.prepared[form] = self.prepare(form)
        values |= {f"after_{number}": value for number, value in enumerate(after or ())}
        found = statement.all(means, caller, **values, rows=page_size + 1)
        return cut(found, keys, page_size, backwards=backwards, first=after is None)

    def batches(
        self,
        readings: Callable[[], AbstractContextManager[Reading]],
        caller: Caller,
        most: int,
        **query: Any,
    ) -> Iterator[Sequence[Any]]:
        """Give the first rows that meet the filters, so many at most, each batch by a reading of its own."""
        cursor: str | None = None
        for _ in range(most // AT_ONCE):
            with readings() as reading:
                found = self.page(reading, caller, cursor=cursor, page_size=AT_ONCE, **query)
            yield found.results
            if (cursor := found.next) is None:
                return

    def everything(self, session: Session, **given: Any) -> list[Any]:
        """Load every row itself, in the usual order: for lists that are short by their nature."""
        order = next(iter(self.orders))
        ordered = _order(self.orders[order], falling=order.startswith("-"))
        return list(session.scalars(self.rows.order_by(*ordered), given))

    def prepare(self, form: Form) -> Prepared:
        """Prepare the statement of one form."""
        keys, falling = self.orders[form.order], form.order.startswith("-") != form.backwards
        names = {name for name, _ in form.met}
        filters = [self._standing(name, names) for name in names]
        begun = self.rows.where(_beyond(keys, falling=falling)) if form.after else self.rows
        conditions = {name: self._condition(name, value, names) for name, value in form.met}
        ordered = _order(keys, falling=falling)
        statement = begun.where(*conditions.values()).order_by(*ordered).limit(_ROWS)
        if searched := next((name for name in names if self.filters[name].near), None):
            one = self.filters[searched]
            looked_for = begun.where(*(met for name, met in conditions.items() if name != searched))
            statement = self._of(_near(begun, looked_for, one, keys[-1], falling=falling), keys[-1], ordered)
        elif any(one.sifting for one in filters):
            statement = self._of(statement.with_only_columns(keys[-1]), keys[-1], ordered)
        if self.beside is None:
            statement = statement.add_columns(USED)
        else:
            page = statement.subquery("page")
            ordered = _order([page.c[key.key] for key in keys], falling=falling)
            statement = add(page, self.beside).order_by(*ordered)
        return Prepared(statement, planned_by_values=any(one.skewed for one in filters))

    def _of(self, ids: Select[Any], id: Column, ordered: Sequence[ColumnElement[Any]]) -> Select[Any]:
        """Read the rows of a page whose ids are found first."""
        return self.rows.where(id == func.any(func.array(ids.scalar_subquery()))).order_by(*ordered)

    def _standing(self, name: str, given: Set[str]) -> Filter:
        one = self.filters[name]
        return next((other for beside, other in one.together.items() if beside in given), one)

    def _condition(self, name: str, value: Any, given: Set[str]) -> Condition:
        one = self._standing(name, given)
        condition = one.condition if value is None else one.instead[value]
        assert condition is not None, name
        return condition


def _order(keys: Sequence[Any], *, falling: bool) -> list[ColumnElement[Any]]:
    return [key.desc() if falling else key.asc() for key in keys]


def _near(
    begun: Select[Any], looked_for: Select[Any], by: Filter, id: Column, *, falling: bool
) -> Select[Any]:
    """Choose the ids of a page: of so many rows next to where it begins, and beyond them if these do not fill it."""
    (order,) = _order([id], falling=falling)
    assert by.condition is not None
    assert by.found is not None
    # The last of these rows, if there are so many; what PostgreSQL is not told beforehand it takes for a few.
    reach = begun.with_only_columns(id).order_by(order).limit(1).offset(by.near - 1)
    edge = select(reach.scalar_subquery().label("id")).cte("edge")
    last = select(edge.c.id).scalar_subquery()
    end = func.coalesce(last, literal(UUID(int=0) if falling else UUID(int=(1 << 128) - 1)))
    ids = looked_for.with_only_columns(id)
    beside = ids.where(by.condition, id >= end if falling else id <= end).order_by(order).limit(_ROWS)
    near = beside.cte("near").prefix_with("MATERIALIZED")
    is_short = select(func.count()).select_from(near).scalar_subquery() < _ROWS
    beyond = ids.where(by.found, last.is_not(None), is_short)
    # All that the index finds is put in order first: then few of them have to be read to fill the page.
    found = beyond.cte("found").prefix_with("MATERIALIZED")
    rest = select(found.c.id).where(found.c.id < last if falling else found.c.id > last)
    in_order = rest.order_by(*_order([found.c.id], falling=falling)).offset(0).subquery("in_order")
    meant = select(id).where(id == in_order.c.id, by.condition).limit(1).lateral("meant")
    far = select(meant.c.id).select_from(in_order.join(meant, true())).limit(_ROWS).subquery("far")
    every = union_all(select(near.c.id), select(far.c.id)).subquery("every")
    return select(every.c.id).order_by(*_order([every.c.id], falling=falling)).limit(_ROWS)


def _beyond(keys: Sequence[Column], *, falling: bool) -> Condition:
    """Ask for what comes after a cursor."""
    there = [bindparam(f"after_{number}", type_=key.type) for number, key in enumerate(keys)]
    here: Any = keys[0]
    beyond: ColumnElement[Any] = there[0]
    if len(there) > 1:
        # PostgreSQL guesses by the first key alone how many rows are left, and thinks none where many share
        # its last value. What comes out of a SELECT it does not know beforehand.
        hidden = [select(one).scalar_subquery() for one in there]
        here, beyond = tuple_(*keys), tuple_(*hidden)
    condition: Condition = here < beyond if falling else here > beyond
    if keys[-1].expression.table is not keys[0].expression.table:
        # No index holds keys of two tables: that of the first is told by itself where to begin.
        first = select(there[0]).scalar_subquery()
        condition = and_(condition, keys[0] <= first if falling else keys[0] >= first)
    return condition


def add(page: Subquery, beside: Mapping[str, Beside]) -> Select[Any]:
    """Add columns of other tables to a page, as `name.column`.

    Each row is looked up by itself. Joined in the usual way, PostgreSQL may think it cheaper to read the other table
    along its index, or to join all rows before it takes those of the page.
    """
    found = {
        name: select(*columns).where(condition(page)).limit(1).lateral(name)
        for name, (condition, columns) in beside.items()
    }
    shown = [column.label(f"{name}.{column.key}") for name, one in found.items() for column in one.c]
    whole = select(*page.c, USED, *shown).select_from(page)
    for one in found.values():
        whole = whole.outerjoin(one, true())
    return whole
