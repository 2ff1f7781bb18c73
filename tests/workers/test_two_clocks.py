"""Two clocks that are moved at once while others are at work: each moves its own rows, and nobody else's."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

import store
from store.operating import moving, tables
from tests import api as apis
from tests.api import Api, Tenant
from tests.operations import states

DAY = 86_400
ADVANCES = st.lists(st.integers(1, 12 * DAY), min_size=1, max_size=3)
TABLES = [
    (table.name, where)
    for table in tables.metadata.sorted_tables
    if table.name not in moving.STAY and (where := moving.owned(table))
]


def a_world(api: Api) -> str:
    """Rows of many kinds, some of which fall due; return an assessment whose moments tell how far they were moved."""
    for make in (states.a_submission, states.a_sent_offer, states.an_interview, states.a_webhook):
        make(api)
    slug = str(api.assessment(cases=1)["slug"])
    api.invitation(slug, expires_days=3)
    return slug


def rows(owner: Tenant, *, livemode: bool) -> dict[str, list[str]]:
    """Every row of one organisation's mode, as text."""
    given = {"organisation_id": owner.organisation.id}
    found = {}
    with store.transaction() as session:
        for name, tests in TABLES:
            where = tests.replace("NOT livemode", "livemode") if livemode else tests
            every = text(f"SELECT CAST({name} AS text) FROM {name} WHERE {where}")
            found[name] = sorted(session.scalars(every, given))
    return found


def advance(api: Api, asked: list[int]) -> None:
    for seconds in asked:
        left = seconds
        while left:
            left = did(api.post("/test/clock/advance/", {"seconds": left}))["remaining_seconds"]


def did(answer: Any) -> Any:
    assert answer.is_success, answer.text
    return answer.json()


def made_at(api: Api, slug: str) -> datetime:
    return datetime.fromisoformat(did(api.get(f"/assessments/{slug}/"))["created_at"])


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mine=ADVANCES, theirs=ADVANCES)
def test_two_clocks_that_are_moved_at_once_move_nobody_elses_rows(
    http: Any, mine: list[int], theirs: list[int]
) -> None:
    movers, busy, idle = [apis.tenant(http) for _ in range(2)], apis.tenant(http), apis.tenant(http)
    slugs = [a_world(one.test) for one in movers]
    for api in (movers[0].live, movers[1].live, idle.live, idle.test):
        a_world(api)
    worked = busy.live.assessment(cases=1)["slug"]
    standing = [(movers[0], True), (movers[1], True), (idle, True), (idle, False)]
    before = [rows(one, livemode=livemode) for one, livemode in standing]
    began = [made_at(one.test, slug) for one, slug in zip(movers, slugs, strict=True)]
    with ThreadPoolExecutor(3) as pool:
        moving_on = [
            pool.submit(advance, one.test, asked) for one, asked in zip(movers, (mine, theirs), strict=True)
        ]
        invited = [busy.live.invitation(worked)["invite_token"] for _ in range(10)]
        for one in moving_on:
            one.result()
    assert [rows(one, livemode=livemode) for one, livemode in standing] == before
    assert {did(busy.live.get(f"/invites/{token}/"))["status"] for token in invited} == {"pending"}
    for one, slug, at, asked in zip(movers, slugs, began, (mine, theirs), strict=True):
        assert at - made_at(one.test, slug) == timedelta(seconds=sum(asked))
        assert did(one.test.get("/test/clock/"))["advanced_seconds"] == sum(asked)
