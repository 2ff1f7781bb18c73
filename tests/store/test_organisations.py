"""The month's invitations are never oversold."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

import store
from rules.caller import Caller
from rules.plans import PLANS
from store.accounts import organisations
from tests.api import Tenant, tenant

pytestmark = pytest.mark.usefixtures("app")


def caller_of(owner: Tenant, plan: str, *, livemode: bool = True) -> Caller:
    return Caller(owner.organisation.id, livemode=livemode, plan_name=plan)


def take(caller: Caller, count: int, *, give_back: int = 0) -> int:
    with store.transaction() as session:
        granted, _ = organisations.take_invites(session, caller, count)
        organisations.give_back_invites(session, caller, min(give_back, granted))
        return granted - min(give_back, granted)


def used(caller: Caller) -> int:
    with store.transaction() as session:
        return organisations.invites_used(session, caller)


def test_thirty_threads_take_what_there_is_and_no_more(http: TestClient) -> None:
    caller = caller_of(tenant(http, "starter"), "starter")
    with ThreadPoolExecutor(30) as pool:
        taken = list(pool.map(lambda number: take(caller, 7 + number % 30, give_back=number % 3), range(60)))
    assert sum(taken) == used(caller) <= PLANS["starter"].invites
    assert take(caller, 1_000) == PLANS["starter"].invites - sum(taken)
    assert take(caller, 1) == 0


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), max_size=8))
def test_what_is_taken_and_given_back_adds_up(http: TestClient, steps: list[tuple[int, int]]) -> None:
    caller = caller_of(tenant(http, "starter"), "starter")
    kept = sum(take(caller, count, give_back=back) for count, back in steps)
    assert used(caller) == kept <= 500
    with store.transaction() as session:
        assert organisations.quota(session, caller)["invites_remaining"] == 500 - kept


def test_enterprise_and_test_mode_have_no_end(http: TestClient) -> None:
    owner = tenant(http, "enterprise")
    assert take(caller_of(owner, "enterprise"), 100_000) == 100_000
    assert take(caller_of(owner, "enterprise", livemode=False), 100_000) == 100_000
    assert used(caller_of(owner, "enterprise")) == 100_000


def test_a_lower_plan_grants_nothing_where_more_is_used_than_it_has(http: TestClient) -> None:
    owner = tenant(http, "growth")
    take(caller_of(owner, "growth"), 800)
    starter = caller_of(owner, "starter")
    assert take(starter, 5) == 0
    with store.transaction() as session:
        assert organisations.quota(session, starter)["invites_remaining"] == 0
