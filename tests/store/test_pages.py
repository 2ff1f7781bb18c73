"""Pages: whoever walks them meets each row once and in order, whatever happens meanwhile."""

import base64
import json
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from rules.caller import Caller
from rules.errors import Invalid
from rules.pages import Page
from store.assessing.assessments import AssessmentCase
from store.assessing.cases import Case
from store.database import listing, pages
from store.database.engine import engine
from tests.api import Tenant, tenant

pytestmark = pytest.mark.usefixtures("app")


KEYS = (AssessmentCase.order, AssessmentCase.id)
LIST = listing.Listing(
    select(AssessmentCase).where(AssessmentCase.assessment_id == bindparam("assessment_id")),
    {"order": KEYS, "-order": KEYS},
)
NOBODY = Caller(UUID(int=0), livemode=True, plan_name="starter")


@dataclass
class Shelf:
    """An assessment whose cases are put in and taken out below the API."""

    assessment_id: UUID
    cases: list[UUID]
    session: Session
    free: list[UUID] = field(default_factory=list)

    def put(self, order: int) -> None:
        if self.free:
            self.session.add(
                AssessmentCase(assessment_id=self.assessment_id, case_id=self.free.pop(), order=order)
            )
            self.session.flush()

    def page(self, cursor: str | None, size: int, *, descending: bool) -> Page:
        given = {"cursor": cursor, "page_size": size, "ordering": "-order" if descending else "order"}
        return LIST.page(self.session, NOBODY, **given, assessment_id=self.assessment_id)

    def everything(self, *, descending: bool) -> list[UUID]:
        rows = self.session.execute(
            select(AssessmentCase.order, AssessmentCase.id).where(
                AssessmentCase.assessment_id == self.assessment_id
            )
        )
        return [id for _, id in sorted(rows, reverse=descending)]


@pytest.fixture(scope="module")
def slug(http: TestClient) -> tuple[Tenant, str]:
    owner = tenant(http)
    return owner, owner.live.assessment()["id"]


def keys_of(page: Page) -> list[UUID]:
    return [row.id for row in page.results]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    orders=st.lists(st.integers(0, 3), max_size=25),
    size=st.integers(1, 10),
    descending=st.booleans(),
    inserted=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 10)), max_size=8),
)
def test_walking_meets_each_row_once_and_in_order(
    slug: tuple[Tenant, str], orders: list[int], size: int, descending: bool, inserted: list[tuple[int, int]]
) -> None:
    with Session(engine()) as session:  # nothing of it is kept
        cases = list(session.scalars(select(Case.id).where(Case.organisation_id.is_(None)).limit(40)))
        shelf = Shelf(UUID(slug[1]), cases, session, free=list(cases))
        for order in orders:
            shelf.put(order)
        there = shelf.everything(descending=descending)
        # Forwards, while others come in between.
        seen, walked, cursor = [], [], None
        for number in range(100):
            page = shelf.page(cursor, size, descending=descending)
            walked.append(page)
            seen += keys_of(page)
            assert len(page.results) <= size
            assert (page.previous is None) == (number == 0)
            if (cursor := page.next) is None:
                break
            for order, turn in inserted:
                if turn == number:
                    shelf.put(order)
        assert len(seen) == len(set(seen))
        assert [one for one in seen if one in there] == there
        ordered = shelf.everything(descending=descending)
        assert seen == [one for one in ordered if one in seen]
        # And back again, from the last page: now the rows that came in between stand in their places.
        if not seen:
            return
        back, cursor = list(seen[-len(walked[-1].results) :]), walked[-1].previous
        assert walked[-1].next is None
        while cursor:
            page = shelf.page(cursor, size, descending=descending)
            assert page.next is not None
            back = keys_of(page) + back
            cursor = page.previous
        assert len(back) == len(set(back))
        assert back == [one for one in ordered if one in back]
        assert set(ordered) - set(back) <= set(ordered[ordered.index(walked[-1].results[0].id) :])


def cursor(*values: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


ID = "019a9b1e-7c1d-7a42-9f4e-5d0c8a3b2f10"


@pytest.mark.parametrize("bad", [
    "", "x", "é", "=", cursor(), cursor("n"), cursor("n", 1), cursor("n", 1, ID, 2), cursor("x", 1, ID),
    cursor("n", "1", ID),
    cursor("n", True, ID), cursor("n", None, ID), cursor("n", 1.0, ID), cursor("n", 1 << 63, ID), cursor("n", 1, "x"),
    cursor("n", 1, 1), cursor("n", 1, None), cursor([], 1, ID), cursor({"n": 1}, 1, ID),
    base64.urlsafe_b64encode(b"{}").decode(), base64.urlsafe_b64encode(b"[" * 5_000).decode(),
    base64.urlsafe_b64encode(b"\xff\xfe").decode(), base64.urlsafe_b64encode(b'["n",1e999,"x"]').decode(),
    base64.urlsafe_b64encode(b'["n",NaN,"x"]').decode(),
    base64.urlsafe_b64encode(b'["n",' + b"9" * 5_000 + b',"x"]').decode(),
])  # fmt: skip
def test_a_cursor_of_nobodys_is_refused(bad: str) -> None:
    with pytest.raises(Invalid) as refused:
        pages.decode(bad, KEYS)
    assert refused.value.details["fields"][0]["pointer"] == "/query/cursor"


@given(order=st.integers(-(2**31) + 1, 2**31 - 1), id=st.uuids(), backwards=st.booleans())
def test_a_cursor_is_read_as_it_was_written(order: int, id: UUID, backwards: bool) -> None:
    row = AssessmentCase(order=order, id=id)
    assert pages.decode(pages.encode(row, KEYS, backwards=backwards), KEYS) == (backwards, [order, id])
