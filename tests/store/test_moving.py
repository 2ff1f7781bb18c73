"""Every moment of a test mode is moved, or stays for a reason."""

import re
import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Table, text
from sqlalchemy.orm import Session

import store
from app.instance.settings import ROOT
from store.operating import clocks, moving, tables
from tests.api import Tenant
from tests.operations import states

TABLES = sorted(tables.metadata.tables.values(), key=lambda table: table.name)


def test_every_table_is_known_wherever_the_metadata_is_needed() -> None:
    named = {
        name
        for path in (ROOT / "store").rglob("*.py")
        for name in re.findall(r'__tablename__ = "(\w+)"', path.read_text())
    }
    program = "from store.operating import tables; print(*tables.metadata.tables)"
    known = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert set(known.stdout.split()) == named


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_moment_is_moved_or_stays_for_a_reason(table: Table) -> None:
    for column in moving.moments(table):
        stays = table.name in moving.STAY or f"{table.name}.{column.name}" in moving.STAY
        assert stays != (column.name in moving.moved(table))
    if moving.moved(table):
        assert moving.owned(table), "say whose its rows are, or why it stays"


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_an_index_leads_to_what_is_moved_and_deleted(table: Table) -> None:
    if moving.owned(table) == moving.TESTS and table.name not in moving.STAY:
        assert moving._leads_to_tests(table)


def test_what_is_named_as_staying_is_there() -> None:
    there = {table.name for table in TABLES}
    there |= {f"{table.name}.{column.name}" for table in TABLES for column in moving.moments(table)}
    assert set(moving.STAY) <= there
    assert set(moving.OTHERWISE) <= there
    assert all(moving.STAY.values())


def others(session: Session, tenant: Tenant) -> dict[str, list[Any]]:
    """Every row of every table but those of one organisation's test mode, as text."""
    owner = {"organisation_id": tenant.organisation.id}

    def mine(table: Table) -> str:
        by_itself = {"organisation_id", "livemode"} <= set(table.c.keys()) and table.name not in moving.STAY
        return moving.TESTS if by_itself else moving.owned(table) if moving.moved(table) else "false"

    return {
        table.name: sorted(
            session.scalars(
                text(
                    f"SELECT CAST({table.name} AS text) FROM {table.name} WHERE ({mine(table)}) IS NOT TRUE"
                ),
                owner,
            )
        )
        for table in TABLES
        if table.name != "test_clocks"
    }


def a_world(tenant: Tenant) -> None:
    """Rows of many kinds in both modes."""
    for api in (tenant.live, tenant.test):
        for make in (
            states.a_submission, states.an_application, states.an_enrollment, states.a_webhook,
            states.an_interview, states.an_offer, states.a_candidate,
        ):  # fmt: skip
            make(api)


def test_nobody_elses_rows_and_none_of_live_mode_are_touched(tenant: Tenant, other: Tenant) -> None:
    for one in (tenant, other):
        a_world(one)
    with store.transaction() as session:
        # One picture of it all: what other threads of this process do meanwhile is not the clock's.
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        before = others(session, tenant)
        clocks.move(session, tenant.organisation.id, 86_400)
        assert others(session, tenant) == before


def test_every_row_of_the_test_mode_is_moved_by_as_much(tenant: Tenant) -> None:
    a_world(tenant)
    owner = {"organisation_id": tenant.organisation.id}

    def moments() -> dict[tuple[str, str], list[Any]]:
        with store.transaction() as session:
            return {
                (table.name, name): session.execute(
                    text(f"SELECT {name} FROM {table.name} WHERE {moving.owned(table)} ORDER BY ctid"), owner
                ).scalars().all()
                for table in TABLES
                for name in moving.moved(table)
            }  # fmt: skip

    before = moments()
    with store.transaction() as session:
        clocks.move(session, tenant.organisation.id, 3600)
    after = moments()
    assert sum(map(len, before.values())) > 50
    for place, values in before.items():
        moved = sorted(one - timedelta(hours=1) for one in values if one is not None)
        assert sorted(one for one in after[place] if one is not None) == moved, place
