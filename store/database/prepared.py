"""Statements compiled once and run by a driver itself: for what every other request asks.

SQLAlchemy still writes the statement, from `visible(ANYONE, …)` like every other one; what is saved is writing it
anew for each request, and making entities of rows that are only shown.
"""

import itertools
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

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


class Written(NamedTuple):
    """A statement as one driver takes it."""

    text: str
    names: list[str]  # of its parameters, where these are numbered
    fixed: dict[str, Any]  # what stands in the statement itself
    tells_use: bool


class Prepared:
    """A statement whose parameters have names; its rows have the columns as attributes.

    A column labelled `assessment.slug` becomes the attribute `slug` of the attribute `assessment`; such columns come
    last. The parameters `organisation_id` and `livemode` are the caller's, `month` is the present one. Works in a
    transaction and in a reading, which keeps the use of the month that a statement tells of (usage.USED).

    It is written when it is first carried out: to write all of them takes a tenth of a start.
    """

    def __init__(
        self,
        statement: Executable,
        *,
        planned_by_values: bool = False,
        is_of_squads: bool = False,
    ) -> None:
        self.statement, self.is_of_squads = statement, is_of_squads
        # PostgreSQL plans a prepared statement once for all values; where the best plan depends on them, each time.
        self.prepare = False if planned_by_values else None
        self.shape: Callable[[Sequence[Any]], Any] | None = None

    @cached_property
    def of_threads(self) -> Written:
        """The statement as psycopg takes it."""
        return self._write(_OF_SQUADS if self.is_of_squads else _DIALECT)

    @cached_property
    def of_loops(self) -> Written:
        """The statement as asyncpg takes it."""
        return self._write(_NUMBERED_OF_SQUADS if self.is_of_squads else _NUMBERED)

    @cached_property
    def of_squads(self) -> "Prepared":
        """The same for who sees the rows of some squads alone."""
        return Prepared(self.statement, planned_by_values=self.prepare is False, is_of_squads=True)

    def _write(self, dialect: PGDialect) -> Written:
        compiled: Any = self.statement.compile(dialect=dialect)  # type: ignore[attr-defined]  # every statement has it
        text = str(compiled)
        fixed = {name: value for name, value in compiled.params.items() if value is not None}
        return Written(text, compiled.positiontup or [], fixed, "AS invites_used" in text)

    def all(self, means: Means, caller: Caller | None = None, **values: Any) -> list[Any]:
        """Return every row."""
        if self._is_others(caller):
            return self.of_squads.all(means, caller, **values)
        on_loop = is_on_loop(means)
        written = self.of_loops if on_loop else self.of_threads
        _add(values, written, caller)
        found = self._fetch(means, values) if on_loop else self._cursor(means, values).fetchall()
        if written.tells_use and found and isinstance(means, Reading):
            means.invites_used = found[0].invites_used
        return found

    def first(self, means: Means, caller: Caller | None = None, **values: Any) -> Any:
        """Return the first row, or None."""
        return next(iter(self.all(means, caller, **values)), None)

    def run(self, means: Change, caller: Caller | None = None, **values: Any) -> int:
        """Carry out a statement that returns nothing; return how many rows it changed."""
        return self.execute(means, caller, values).rowcount

    def bound(self, **values: Any) -> "Bound":
        """Return it with its values, to be carried out later."""
        return Bound(self, values)

    def execute(self, means: Means, caller: Caller | None, values: dict[str, Any]) -> psycopg.Cursor[Any]:
        """Carry it out and return where its rows are."""
        if self._is_others(caller):
            return self.of_squads.execute(means, caller, values)
        _add(values, self.of_threads, caller)
        return self._cursor(means, values)

    def _is_others(self, caller: Caller | None) -> bool:
        """Say whether another statement is this caller's."""
        return caller is not None and caller.squads is not None and not self.is_of_squads

    def _cursor(self, means: Means, values: dict[str, Any]) -> psycopg.Cursor[Any]:
        cursor = driver(means).cursor(row_factory=self.rows, binary=True)
        return cursor.execute(self.of_threads.text, values, prepare=self.prepare)

    def _fetch(self, means: Means, values: dict[str, Any]) -> list[Any]:
        """Carry it out on an event loop and return its rows."""
        text, names, _, _ = self.of_loops
        found = means.connection.fetch(  # type: ignore[union-attr]  # it is on a loop
            text, [values[name] for name in names], by_values=self.prepare is False
        )
        if not found:
            return []
        if self.shape is None:
            self.shape = _shape(list(found[0].keys()))
        return [self.shape(row) for row in found]

    def rows(self, cursor: psycopg.Cursor[Any]) -> Callable[[Sequence[Any]], Any]:
        """Return what makes a row of its values."""
        if self.shape is None:
            self.shape = _shape([column.name for column in cursor.description or ()])
        return self.shape


def _add(values: dict[str, Any], written: Written, caller: Caller | None) -> None:
    """Add to the values what the caller and the statement itself say."""
    if caller is not None:
        values["organisation_id"], values["livemode"] = caller.organisation_id, caller.livemode
        if caller.squads is not None:
            values["squads"] = list(caller.squads)
    if written.tells_use:
        values["month"] = month()
    for name, value in written.fixed.items():
        values.setdefault(name, value)


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
    # Not by `_make`, which is a call of Python's own and counts what is counted here.
    known: dict[str, Any] = {"new": tuple.__new__, "whole": whole}
    parts, start = [], len(plain)
    for prefix, group in itertools.groupby(prefixed, lambda pair: pair[0]):
        inner = namedtuple(prefix, [name for _, name in group])  # type: ignore[misc]  # the same
        end = start + len(inner._fields)
        known[f"part{start}"] = inner
        parts.append(f"new(part{start}, values[{start}:{end}])")
        start = end
    # Written out it takes half of the time of a loop, for each row.
    made = f"(*values[:{len(plain)}], {', '.join(parts)})" if parts else "values"
    shape: Callable[[Sequence[Any]], Any] = eval(f"lambda values: new(whole, {made})", known)  # noqa: S307 - it holds numbers of ours alone
    return shape
