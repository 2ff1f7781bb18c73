"""Rows that fall due by themselves: which table, which moment, on what condition."""

import copy
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Self

from sqlalchemy import (
    Boolean,
    ColumnElement,
    DateTime,
    Interval,
    Select,
    and_,
    case,
    column,
    false,
    func,
    literal,
    null,
    select,
    true,
    values,
)
from sqlalchemy.orm import InstrumentedAttribute, Session

from rules.clock import now
from store.database import aside
from store.database.aside import Row

NEWEST = 10  # one in so many: what has just become due does not wait for a backlog


class Due:
    """The rows of one kind that are due when `moment` plus `after` has passed, but for those set aside."""

    def __init__(
        self,
        kind: str,
        model: Any,
        moment: Any,
        *conditions: ColumnElement[bool],
        after: timedelta = timedelta(0),
        order: Any = None,
        id: Any = None,
        locked: bool = True,
    ) -> None:
        """`order`: what an index gives in the order of moments; `id`: of a model whose key is no `id`.

        `locked`: a row is held from its choice on.
        """
        self.kind, self.model, self.locked = kind, model, locked
        self._moment, self._after, self._conditions = moment, after, conditions
        self._order = moment if order is None else order
        self._has_key, self._id = id is None, model.id if id is None else id

    def of_tests(self, organisation_id: Any, *found_by: Any) -> Self:
        """Return the same of one organisation's test mode alone; `found_by`: what an index leads to it by."""
        mine = (self.model.organisation_id == organisation_id, ~self.model.livemode, *found_by)
        limited = copy.copy(self)
        # An expression, since by the order of all moments PostgreSQL would pass those of everybody else.
        order = self._moment + literal(timedelta(0), Interval())
        vars(limited).update(_conditions=(*self._conditions, *mine), _order=order)
        return limited

    def next(self, session: Session) -> datetime | None:
        """Return when the next row is due."""
        found: datetime | None = session.scalar(self.soonest())
        return found

    def soonest(self) -> Select[Any]:
        """Select the moment at which the next row is due; no row where there is none."""
        found = select((self._moment + self._after).label("due"))
        return found.where(self._moment.is_not(None), *self.free()).order_by(self._order).limit(1)

    def choose(self, session: Session, limit: int) -> list[Row]:
        """Take rows that are due and in nobody's hand, the first ones, and of a backlog some of the last ones too."""
        chosen = self._some(session, self._order, limit)
        if len(chosen) == limit and limit >= NEWEST:
            known = {row.id for row in chosen}
            last = self._some(session, self._order.desc(), limit // NEWEST)
            chosen += [row for row in reversed(last) if row.id not in known]
        return chosen

    def free(self) -> tuple[ColumnElement[bool], ...]:
        """Return the conditions of those rows, due or not yet, that are not set aside."""
        return (*self._conditions, self._id.not_in(aside.hidden(self.kind)))

    def among(self, rows: Sequence[Row]) -> tuple[ColumnElement[bool], ...]:
        """Return the conditions of those rows that are still due."""
        still_due = (*self._conditions, self._is_due())
        if self._has_key:
            # In a CASE, which no index answers: PostgreSQL believes that few are due, and would read all that are.
            still_due = (case((and_(*still_due), true()), else_=false()),)
        return (aside.one_of(self._id, rows), *still_due)

    def _some(self, session: Session, order: Any, limit: int) -> list[Row]:
        owner = [getattr(self.model, name, null()) for name in ("organisation_id", "livemode")]
        found = select(self._id, *owner).where(self._is_due(), *self.free()).order_by(order).limit(limit)
        if self.locked:
            found = found.with_for_update(of=self.model, skip_locked=True)
        return [Row(*row) for row in session.execute(found)]

    def _is_due(self) -> ColumnElement[bool]:
        due: ColumnElement[bool] = self._moment <= now() - self._after
        return due


def _now() -> ColumnElement[datetime]:
    return literal(now(), DateTime(timezone=True))


_MODES = values(column("livemode", Boolean), name="mode").data([(True,), (False,)])


class DueByOwner(Due):
    """The rows of one kind that are due some days after their moment: as many as their organisation has set.

    Whoever has set none has no rows here, and an index over owner, mode and moment finds those of who has.
    """

    def __init__(
        self,
        kind: str,
        model: Any,
        moment: Any,
        *conditions: ColumnElement[bool],
        days: InstrumentedAttribute[Any],
        are_set: ColumnElement[bool],
        most: timedelta,
    ) -> None:
        """`days`: of a table with a row for each organisation; `most`: what is older is due for sure."""
        super().__init__(kind, model, moment, *conditions, after=most)
        self._settings, self._days, self._are_set = days.class_, days, are_set

    def of_tests(self, organisation_id: Any, *found_by: Any) -> Self:
        """Return the same of one organisation's test mode alone."""
        limited = super().of_tests(organisation_id, *found_by)
        mine = self._settings.organisation_id == organisation_id
        vars(limited).update(_are_set=self._are_set & mine)
        return limited

    def soonest(self) -> Select[Any]:
        """Select the moment at which the next row is due."""
        first = self._of_each(1)
        due = (first.c.moment + self._wait()).label("due")
        return self._with_each(first, due).order_by(due).limit(1)

    def choose(self, session: Session, limit: int) -> list[Row]:
        """Take rows that are due and in nobody's hand."""
        some = self._of_each(limit, self._moment <= _now() - self._wait(), locked=True)
        found = self._with_each(some, some.c.id, some.c.organisation_id, some.c.livemode).limit(limit)
        return [Row(*row) for row in session.execute(found)]

    def _is_due(self) -> ColumnElement[bool]:
        mine = self._settings.organisation_id == self.model.organisation_id
        wait = select(self._wait()).where(mine, self._are_set).correlate(self.model).scalar_subquery()
        due: ColumnElement[bool] = self._moment <= _now() - wait
        return due

    def _wait(self) -> ColumnElement[timedelta]:
        return func.make_interval(0, 0, 0, self._days, type_=Interval())

    def _of_each(self, limit: int, *conditions: ColumnElement[bool], locked: bool = False) -> Any:
        """Select the first rows of one organisation and mode."""
        mine = (
            self.model.organisation_id == self._settings.organisation_id,
            self.model.livemode == _MODES.c.livemode,
        )
        found = (
            select(
                self._id.label("id"),
                self.model.organisation_id,
                self.model.livemode,
                self._moment.label("moment"),
            )
            .where(*mine, *self.free(), *conditions)
            .order_by(self._moment)
            .limit(limit)
            .correlate(self._settings, _MODES)
        )
        if locked:
            found = found.with_for_update(of=self.model, skip_locked=True)
        return found.lateral("first")

    def _with_each(self, rows: Any, *columns: Any) -> Select[Any]:
        every = select(*columns).select_from(self._settings).join(_MODES, true()).join(rows, true())
        return every.where(self._are_set)
