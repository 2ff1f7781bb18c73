"""Who was invited before is found among many: for one assessment with thousands, where most have few."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

import store
from rules.caller import Caller
from store.accounts import organisations
from store.assessing import assessments, at_once, inviting
from store.assessing.assessments import Assessment
from store.database.prepared import Prepared
from tests.hooks import wired

__all__ = ["wired"]

# So that PostgreSQL takes each organisation for one that has some tens, whatever tests before have left. Where it takes
# each for one that has one, or hardly more, all indexes over organisations are about as good to it.
OTHERS, FEW, MANY = 2_000, 40, 3_000
TYPES = {
    "organisation_id": "uuid",
    "assessment_id": "uuid",
    "id": "uuid",
    "livemode": "boolean",
    "param_1": "int",
}
AS_MANY = text("""
    WITH one AS (
        INSERT INTO organisations
        SELECT (jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid(), 'slug', one.slug || n))).*
        FROM organisations AS one, generate_series(1, :count) AS n WHERE one.id = :owner
        RETURNING id
    ), page AS (
        INSERT INTO assessments
        SELECT (jsonb_populate_record(page, jsonb_build_object('id', gen_random_uuid(), 'organisation_id', one.id))).*
        FROM one, assessments AS page WHERE page.id = :assessment
        RETURNING id, organisation_id
    )
    INSERT INTO invitations (id, created_at, updated_at, organisation_id, livemode, assessment_id, token, email,
                             email_key, name, role, status, tags, extra_time_percent, expires_at)
    SELECT gen_random_uuid(), now(), now(), organisation_id, true, id, gen_random_uuid(), 'c' || n || '@example.com',
           'c' || n || '@example.com', '', '', 'pending', '{}', 0, now()
    FROM page, generate_series(1, :few) AS n
""")
INVITED = text("""
    INSERT INTO invitations (id, created_at, updated_at, organisation_id, livemode, assessment_id, token, email,
                             email_key, name, role, status, external_id, tags, extra_time_percent, expires_at)
    SELECT gen_random_uuid(), now(), now(), :owner, true, :assessment, gen_random_uuid(), 'c' || n || '@example.com',
           'c' || n || '@example.com', '', '', 'pending', 'reference-' || n, '{}', 0, now()
    FROM generate_series(1, :count) AS n
""")


def one_of_many(session: Session) -> Assessment:
    """Make an organisation with one assessment that many are invited to, beside many where a few are."""
    owner = organisations.create(session, name="Many", plan="growth").id
    made = assessments.create(session, Caller(owner, livemode=True, plan_name="growth"), {"title": "Backend"})
    session.flush()
    whose = {"owner": owner, "assessment": made.id}
    session.execute(AS_MANY, {"count": OTHERS, "few": FEW, **whose})
    session.execute(INVITED, {"count": MANY, **whose})
    return made


def seen(plan: dict[str, Any]) -> int:
    """Count the invitations that a plan looked at."""
    rows = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)
    mine = rows * plan["Actual Loops"] if plan.get("Relation Name") == "invitations" else 0
    return int(mine) + sum(map(seen, plan.get("Plans", ())))


@pytest.mark.parametrize("statement", [lambda: inviting._EXISTING, lambda: at_once._look(of_squads=False)])
def test_as_many_are_looked_at_as_have_the_address_or_the_reference(
    statement: Callable[[], Prepared], wired: Any
) -> None:
    prepared = statement()
    written, names, fixed, _ = prepared.of_loops
    with store.transaction() as session:
        many = one_of_many(session)
        for table in ("assessments", "invitations", "organisations"):
            session.execute(text(f"ANALYZE {table}"))
        driver: Any = session.connection().connection.driver_connection
        driver.execute("SET LOCAL plan_cache_mode = force_generic_plan")  # as a kept statement is planned
        types = ", ".join(TYPES.get(name, "text") for name in names)
        driver.execute(f"PREPARE look ({types}) AS {written}")
        given = {"organisation_id": many.organisation_id, "livemode": True, "assessment_id": many.id}
        given |= {"key": many.slug, "email": "c7@example.com", "external_id": "reference-9", "id": None}
        given |= fixed
        values = ", ".join("NULL" if given[name] is None else f"'{given[name]}'" for name in names)
        [(plan,)] = driver.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE look ({values})").fetchall()
        driver.execute("DEALLOCATE look")
        session.rollback()
    assert 2 <= seen(plan[0]["Plan"]) <= 4  # of each of the two, and of what they name
