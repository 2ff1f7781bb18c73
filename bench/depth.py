"""Lists of a million rows: the page 10,000 pages in against the first, and an index for every filter.

`python -m bench.depth`. Rows are made by the database itself, set by set.
"""

import base64
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import psycopg

import store
from bench import figures
from bench.figures import Figure
from rules.caller import Caller
from rules.clock import now
from store import assessments, engine, invitations, organisations, pages
from store.engine import Reading

ROWS, QUICK_ROWS, PAGE, DEEP = 1_000_000, 200_000, 20, 10_000

MAKE = """
INSERT INTO invitations (
    id, created_at, updated_at, organisation_id, livemode, assessment_id, token, email, email_key, name, role,
    status, external_id, tags, extra_time_percent, expires_at
)
SELECT ('019000' || lpad(to_hex(n), 6, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,
       now() - (%(rows)s::int - n) * interval '1 second', now() - (%(rows)s::int - n) * interval '1 second',
       %(organisation)s, true, (%(assessments)s::uuid[])[1 + n %% cardinality(%(assessments)s::uuid[])],
       'token-' || n, 'c' || n || '@example.com', 'c' || n || '@example.com', 'Ada Lovelace', 'Engineer',
       (ARRAY['pending', 'started', 'completed', 'expired'])[1 + n %% 4],
       'reference-' || n, ARRAY['tag-' || n %% 1000, 'season-' || n %% 4], 0, now() + interval '7 days'
FROM generate_series(%(first)s::int, %(last)s::int) AS n
"""


@dataclass(frozen=True)
class List:
    """One list: its pages, its statement, and what each filter is asked with."""

    name: str
    listing: pages.Listing
    page: Callable[..., Any]
    filters: dict[str, Any]


def measure(quick: bool) -> list[Figure]:
    """Fill the tables and look at each list with each filter, and with each two of them."""
    rows = QUICK_ROWS if quick else ROWS
    with figures.place():
        caller, slugs = fill(rows)
        made: list[Figure] = []
        for one in lists(caller, slugs, rows):
            with store.reading() as reading:
                made += explain(reading, caller, one)
                made += deep(reading, caller, one, rows)
        return made


def fill(rows: int) -> tuple[Caller, list[str]]:
    with store.transaction() as session:
        owner = organisations.create(session, name="Depth", plan="enterprise")
        caller = Caller(owner.id, livemode=True, plan_name="enterprise")
        made = []
        for number in range(20):
            made.append(assessments.create(session, caller, {"title": f"Depth {number}", "status": "active"}))
            session.flush()
        ids, slugs = [one.id for one in made], [one.slug for one in made]
    url = engine.engine().url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True) as connection:
        for first in range(0, rows, 50_000):
            connection.execute(
                MAKE,
                {
                    "organisation": owner.id,
                    "assessments": ids,
                    "rows": rows,
                    "first": first,
                    "last": first + 49_999,
                },
            )
        # A second organisation of another size, so that statistics are not of one alone.
        connection.execute("VACUUM ANALYZE")
    return caller, slugs


def lists(caller: Caller, slugs: list[str], rows: int) -> list[List]:
    with store.reading() as reading:
        assessment = assessments.find_id(reading, caller, slugs[0])
    return [
        List(
            "invitations",
            invitations._LIST,
            invitations.page,
            {
                "assessment_id": assessment,
                "status": "completed",
                "email": f"c{rows // 2}@example.com",
                "external_id": f"reference-{rows // 2}",
                "tag": "tag-7",
                "updated_after": now(),  # nothing: the dearest case for a list that is read in its order
            },
        ),
        List(
            "assessments",
            assessments._LIST,
            assessments.page,
            {"status": "active", "search": "depth 1", "updated_after": now().replace(hour=0)},
        ),
    ]


def explain(reading: Reading, caller: Caller, one: List) -> list[Figure]:
    """Count combinations of filters for which PostgreSQL reads a large table from end to end, or very many rows."""
    names = sorted(one.filters)
    scanned, slow = 0, 0.0
    for count in range(3):
        for chosen in combinations(names, count):
            given = {name: one.filters[name] for name in chosen}
            prepared = one.listing._prepare(tuple(_asked(given)), after=False, falling=True)
            values = {
                **_asked(given),
                "organisation_id": caller.organisation_id,
                "livemode": True,
                "rows": 21,
            }
            plan = reading.connection.execute(
                "EXPLAIN (ANALYZE, FORMAT JSON) " + prepared.text, values
            ).fetchone()
            assert plan
            top = plan[0][0]
            if one.name == "invitations" and any(
                node["Node Type"] in ("Seq Scan", "Parallel Seq Scan") and node["Relation Name"] == one.name
                for node in nodes(top["Plan"])
            ):
                scanned += 1
                print(f"{one.name} by {', '.join(chosen) or 'nothing'}: no index")
            taken = asked(reading, caller, one, given)
            slow = max(slow, taken)
            if taken > 20:
                print(f"{one.name} by {', '.join(chosen)}: {taken:.0f} ms")
    return [
        figures.at_most(f"{one.name}: filters and pairs of filters without an index", scanned, "", 0),
        figures.plain(f"{one.name}: slowest first page with them", slow, "ms"),
    ]


def _asked(given: dict[str, Any]) -> dict[str, Any]:
    """Write filters as the list's statement has them."""
    wrap: dict[str, Callable[[Any], Any]] = {"tag": lambda tag: [tag], "search": lambda text: f"%{text}%"}
    return {name: wrap.get(name, lambda value: value)(value) for name, value in given.items()}


def asked(reading: Reading, caller: Caller, one: List, given: dict[str, Any]) -> float:
    """Ask for a page often enough for PostgreSQL to settle on a plan; return the usual time of the last ones, in ms."""
    taken = []
    for _ in range(12):
        began = time.perf_counter()
        one.page(reading, caller, cursor=None, page_size=PAGE, **given)
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken[-3:])


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(found for child in plan.get("Plans", ()) for found in nodes(child))]


def deep(reading: Reading, caller: Caller, one: List, rows: int) -> list[Figure]:
    """Time page 10,000 against page 1, by turns."""
    if one.name != "invitations":
        return []
    skipped = min(DEEP * PAGE, rows - 10 * PAGE)
    (last,) = reading.connection.execute(
        "SELECT id FROM invitations WHERE organisation_id = %s AND livemode ORDER BY id DESC OFFSET %s LIMIT 1",
        (caller.organisation_id, skipped - 1),
    ).fetchone() or (None,)
    cursor = base64.urlsafe_b64encode(json.dumps(["n", str(last)]).encode()).decode().rstrip("=")
    times: dict[str | None, list[float]] = {None: [], cursor: []}
    for _ in range(300):
        for at, taken in times.items():
            began = time.perf_counter()
            assert len(one.page(reading, caller, cursor=at, page_size=PAGE).results) == PAGE
            taken.append((time.perf_counter() - began) * 1000)
    first, late = (statistics.median(taken) for taken in times.values())
    return [
        figures.plain(f"{one.name}: page 1 of {rows:,} rows", first, "ms"),
        figures.plain(f"{one.name}: page {skipped // PAGE:,}", late, "ms"),
        figures.at_most(
            f"{one.name}: page {skipped // PAGE:,} as a multiple of page 1", late / first, "x", 1.2
        ),
    ]


if __name__ == "__main__":
    figures.main(measure, __doc__)
