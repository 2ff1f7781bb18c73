"""Statements compiled once and run by psycopg itself: for what every other request asks.

SQLAlchemy still writes the statement, from `visible(ANYONE, …)` like every other one; what is saved is writing it
anew for each request, and making entities of rows that are only shown.
"""

import itertools
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import psycopg
from sqlalchemy import Executable
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from rules.caller import Caller
from rules.clock import month
from store.database import loops
from store.database.engine import Change, Means, Reading, Writing

_DIALECT = PGDialect_psycopg()
_NUMBERED = PGDialect_asyncpg()

# What writes a statement for who sees the rows of some squads alone (store.database.base.visible).
_OF_SQUADS = PGDialect_psycopg()
_OF_SQUADS.of_squads = True  # type: ignore[attr-defined]  # for OfSquads to see
_NUMBERED_OF_SQUADS = PGDialect_asyncpg()
_NUMBERED_OF_SQUADS.of_squads = True  # type: ignore[attr-defined]  # the same


_NAMED = PGDialect(paramstyle="named")
_NAMED_OF_SQUADS = PGDialect(paramstyle="named")
_NAMED_OF_SQUADS.of_squads = True  # type: ignore[attr-defined]  # the same


def named(statement: Executable, *, of_squads: bool = False) -> str:
    """Write a statement as a part of one that is written by hand, for who sees the rows of some squads alone or not."""
    compiled = statement.compile(dialect=_NAMED_OF_SQUADS if of_squads else _NAMED)  # type: ignore[attr-defined]  # every statement has it
    # A parameter with a cast behind it would not be seen as one.
    written = str(compiled).replace("::UUID", "")
    for name, value in compiled.params.items():
        if value is not None:
            written = written.replace(f":{name}", str(int(value)))  # a limit
    return written


class Prepared:
    """A statement whose parameters have names; its rows have the columns as attributes.

    A column labelled `assessment.slug` becomes the attribute `slug` of the attribute `assessment`; such columns come
    last. The parameters `organisation_id` and `livemode` are the caller's, `month` is the present one. Works in a
    transaction and in a reading, which keeps the use of the month that a statement tells of (usage.USED).
    """

    def __init__(
        self,
        statement: Executable,
        *,
        planned_by_values: bool = False,
        is_of_squads: bool = False,
    ) -> None:
        self.statement, self.is_of_squads = statement, is_of_squads
        self.of_squads: Prepared | None = None  # the same for who sees some squads alone, once one asks
        self.numbered: tuple[str, list[str]] | None = None  # the same for event loops, once one asks
        # PostgreSQL plans a prepared statement once for all values; where the best plan depends on them, each time.
        self.prepare = False if planned_by_values else None
        compiled = statement.compile(dialect=_OF_SQUADS if is_of_squads else _DIALECT)  # type: ignore[attr-defined]  # every statement has it
        self.text = str(compiled)
        self.fixed = {name: value for name, value in compiled.params.items() if value is not None}
        self.tells_use = "AS invites_used" in self.text
        self.shape: Callable[[Sequence[Any]], Any] | None = None

    def all(self, means: Means, caller: Caller | None = None, **values: Any) -> list[Any]:
        """Return every row."""
        found = self._fetch(means, caller, values)
        if self.tells_use and found:
            _keep_use(means, found[0])
        return found

    def first(self, means: Means, caller: Caller | None = None, **values: Any) -> Any:
        """Return the first row, or None."""
        found = next(iter(self._fetch(means, caller, values)), None)
        if self.tells_use and found:
            _keep_use(means, found)
        return found

    def run(self, means: Change, caller: Caller | None = None, **values: Any) -> int:
        """Carry out a statement that returns nothing; return how many rows it changed."""
        return self.execute(means, caller, values).rowcount

    def bound(self, **values: Any) -> "Bound":
        """Return it with its values, to be carried out later."""
        return Bound(self, values)

    def execute(self, means: Means, caller: Caller | None, values: dict[str, Any]) -> psycopg.Cursor[Any]:
        """Carry it out and return where its rows are."""
        whose = self._add(caller, values)
        cursor = driver(means).cursor(row_factory=whose.rows, binary=True)
        return cursor.execute(whose.text, values, prepare=whose.prepare)

    def limited(self) -> "Prepared":
        """Return the same for who sees the rows of some squads alone."""
        if self.of_squads is None:
            by_values = self.prepare is False
            self.of_squads = Prepared(self.statement, planned_by_values=by_values, is_of_squads=True)
        return self.of_squads

    def _add(self, caller: Caller | None, values: dict[str, Any]) -> "Prepared":
        """Add to the values what the caller and the statement itself say; return the statement for the caller."""
        whose = self
        if caller is not None:
            values["organisation_id"], values["livemode"] = caller.organisation_id, caller.livemode
            if caller.squads is not None:
                values["squads"], whose = list(caller.squads), self.limited()
        if self.tells_use:
            values["month"] = month()
        for name, value in whose.fixed.items():
            values.setdefault(name, value)
        return whose

    def _fetch(self, means: Means, caller: Caller | None, values: dict[str, Any]) -> list[Any]:
        """Carry it out and return its rows, on an event loop or by a thread."""
        if not is_on_loop(means):
            return self.execute(means, caller, values).fetchall()
        whose = self._add(caller, values)
        text, names = whose.numbered or whose.number()
        found = means.connection.fetch(  # type: ignore[union-attr]  # it is on a loop
            text, [values[name] for name in names], by_values=whose.prepare is False
        )
        if not found:
            return []
        if whose.shape is None:
            whose.shape = _shape(list(found[0].keys()))
        return [whose.shape(row) for row in found]

    def number(self) -> tuple[str, list[str]]:
        """Write the statement as asyncpg takes it: its text, and the names of its numbered parameters."""
        dialect = _NUMBERED_OF_SQUADS if self.is_of_squads else _NUMBERED
        compiled: Any = self.statement.compile(dialect=dialect)  # type: ignore[attr-defined]  # every statement has it
        self.numbered = str(compiled), compiled.positiontup or []
        return self.numbered

    def rows(self, cursor: psycopg.Cursor[Any]) -> Callable[[Sequence[Any]], Any]:
        """Return what makes a row of its values."""
        if self.shape is None:
            self.shape = _shape([column.name for column in cursor.description or ()])
        return self.shape


def _keep_use(means: Means, row: Any) -> None:
    if isinstance(means, Reading):
        means.invites_used = row.invites_used


def rows(values: Sequence[Mapping[str, Any]]) -> str:
    """Write rows as the JSON that `jsonb_to_recordset` makes rows of again: one statement for any number of them."""
    return orjson.dumps(values, default=str).decode()  # a decimal as a text, which its column reads exactly


@dataclass(frozen=True, slots=True)
class Bound:
    """A statement with its values."""

    statement: Prepared
    values: dict[str, Any]

    def run(self, means: Change) -> int:
        """Carry it out; return how many rows it changed."""
        return self.statement.run(means, **self.values)

    def size(self) -> int:
        """Return about how many bytes are sent."""
        return sum(len(one) for one in self.values.values() if isinstance(one, str))


def is_on_loop(means: Means) -> bool:
    """Say whether an event loop carries statements out, each of which then stands for itself."""
    return isinstance(means, Reading | Writing) and isinstance(means.connection, loops.Connection)


def driver(means: Means) -> psycopg.Connection[Any]:
    """Return the connection, on which all that was changed is written."""
    if isinstance(means, Reading | Writing):
        assert not isinstance(means.connection, loops.Connection)  # there every statement is fetched
        return means.connection
    means.flush()  # as SQLAlchemy's own statements do
    known: psycopg.Connection[Any] | None = means.info.get("driver")
    if known is None:
        known = means.info["driver"] = means.connection().connection.driver_connection
    assert known is not None
    return known


def _shape(names: list[str]) -> Callable[[Sequence[Any]], Any]:
    """Return what makes a row of its values: a named tuple, with one inside for each prefix."""
    plain = [name for name in names if "." not in name]
    prefixed = [name.split(".") for name in names[len(plain) :]]
    whole = namedtuple("whole", [*plain, *dict.fromkeys(prefix for prefix, _ in prefixed)])  # type: ignore[misc]  # names of a query
    if not prefixed:
        return whole._make
    parts, start = [], len(plain)
    known: dict[str, Any] = {"make": whole._make}
    for prefix, group in itertools.groupby(prefixed, lambda pair: pair[0]):
        inner = namedtuple(prefix, [name for _, name in group])  # type: ignore[misc]  # the same
        end = start + len(inner._fields)
        known[f"make{start}"] = inner._make
        parts.append(f"make{start}(values[{start}:{end}])")
        start = end
    # Written out it takes half of the time of a loop, for each row.
    written = f"lambda values: make((*values[:{len(plain)}], {', '.join(parts)}))"
    shape: Callable[[Sequence[Any]], Any] = eval(written, known)  # noqa: S307 - it holds numbers of ours alone
    return shape
