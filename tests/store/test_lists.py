"""Lists: every filter that the documents offer is known, measured, and keeps what it should."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import jsonschema_rs
import pytest
from sqlalchemy import DateTime, bindparam, select, update

import store
from app.http.formats import CHECKS
from app.http.schema import draft4
from app.instance.settings import Settings
from bench import depth_lists
from bench.depth_lists import BOUNDED, PAGES, SHOWN
from rules.caller import Caller
from rules.clock import iso, now
from store import events
from store.database.ids import CLOSE, first_id, new_id
from store.delivering import deliveries, fanout
from store.delivering.webhooks import Delivery
from store.events import Event
from tests.hooks import caller, deliveries_of, happen, new_endpoint, wired

__all__ = ["caller", "wired"]

DOCUMENTED = depth_lists.documented()


def test_the_bench_of_lists_knows_each_that_the_documents_offer() -> None:
    assert SHOWN.keys() | BOUNDED.keys() == DOCUMENTED.keys()
    assert not SHOWN.keys() & BOUNDED.keys()


@pytest.mark.parametrize("name", SHOWN)
def test_a_list_has_the_filters_and_orders_that_the_document_offers(name: str) -> None:
    listing, asked = SHOWN[name].listing, DOCUMENTED[name]
    assert listing.filters.keys() == asked.keys() - PAGES
    if "ordering" in asked:
        assert list(listing.orders) == asked["ordering"]["enum"]


@pytest.mark.parametrize("one", depth_lists.every(1000), ids=lambda one: one.name)
def test_the_bench_asks_for_each_filter_what_the_document_allows(one: depth_lists.List) -> None:
    asked = DOCUMENTED[one.name]
    assert {parameter for parameter, _ in one.filters} == asked.keys() - PAGES
    for parameter, (label, value) in one.filters:
        written = (
            iso(value) if isinstance(value, datetime) else str(value) if isinstance(value, UUID) else value
        )
        validator = jsonschema_rs.Draft4Validator(
            draft4(asked[parameter]), validate_formats=True, formats=CHECKS
        )
        assert validator.is_valid(written), (parameter, label, value)


START = datetime(2026, 3, 1, 12, tzinfo=UTC)
BEFORE_ALL, AFTER_ALL = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
# Minutes after the start; written in this order, which is not quite that of the time.
WRITTEN = (0, 1, 1.5, 1.2, 2, 2, 30, 29.9, 31, 90, 91)
MOMENTS = [START + timedelta(minutes=one) for one in WRITTEN]
ASKED = [
    BEFORE_ALL,
    *(one + timedelta(milliseconds=step) for one in MOMENTS for step in (-1, 0, 1)),
    AFTER_ALL,
]


def listed(page: Callable[..., Any], caller: Caller, **asked: Any) -> list[datetime]:
    with store.reading() as reading:
        found = page(reading, caller, cursor=None, page_size=100, **asked)
        return [one.created_at for one in found.results]


def test_events_since_a_moment_are_all_of_those_and_no_others(caller: Caller) -> None:
    happen(caller, *["job.created"] * len(MOMENTS))
    mine = (Event.organisation_id == caller.organisation_id,)
    with store.transaction() as session:
        for number, moment in enumerate(MOMENTS, start=1):
            session.execute(update(Event).where(*mine, Event.sequence == number).values(created_at=moment))
    for since in ASKED:
        assert listed(events.LIST.page, caller, since=since) == [one for one in MOMENTS if one >= since]


def test_deliveries_of_a_span_of_time_are_all_of_those_and_no_others(caller: Caller) -> None:
    endpoint_id, _ = new_endpoint(caller)
    happen(caller, *["job.created"] * len(MOMENTS))
    with store.transaction() as session:
        fanout.fan_out(session, limit=100_000)
    with store.transaction() as session:
        # An id is made a moment before or after the row's own.
        for number, (one, moment) in enumerate(zip(deliveries_of(endpoint_id), MOMENTS, strict=True)):
            made = select(
                first_id(bindparam("at", moment + timedelta(seconds=(-1) ** number), DateTime(timezone=True)))
            )
            begins = str(session.scalar(made))[:13]
            id = UUID(begins + str(one.id)[13:])
            session.execute(update(Delivery).where(Delivery.id == one.id).values(id=id, created_at=moment))
    for name, keeps in {"since": datetime.__ge__, "until": datetime.__lt__}.items():
        for moment in ASKED:
            found = listed(deliveries.LIST.page, caller, endpoint_id=endpoint_id, **{name: moment})
            assert sorted(found) == sorted(one for one in MOMENTS if keeps(one, moment)), (name, moment)


def test_an_id_is_after_the_first_of_its_moment(wired: Settings) -> None:
    id, moment = new_id(), now()
    with store.transaction() as session:
        early, late = (
            session.scalar(select(first_id(bindparam("at", at, DateTime(timezone=True)))))
            for at in (moment - CLOSE, moment + CLOSE)
        )
    assert early is not None
    assert late is not None
    assert early < id < late
