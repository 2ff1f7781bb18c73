"""Lists of a million rows: the page 10,000 pages in against the first, and an index for every filter.

`python -m bench.depth`. Each list is asked as the service asks it, with no filter, with each and with each two
of them (`--quick`: with each), in each of its orders: a first page, and one as deep as there are rows for.
`LISTS=list_candidates,list_events` names those that are looked at.
"""

import os
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import psycopg

import store
from bench import depth_lists, depth_rows, figures
from bench.depth_lists import List
from bench.figures import Figure
from rules.caller import Caller
from rules.pages import Page
from store.database.engine import Reading

ROWS, QUICK_ROWS, PAGE, DEEP = 1_000_000, 100_000, 20, 10_000
ROUNDS, MORE_ROUNDS = 40, 300  # how often pages are asked for, and again where the difference looks too large
# ms, which no page may take, whatever the spread: an index walked from end to end is no scan of a table, but slow.
LONG, FEW_ROUNDS = 100.0, 5
SETTLED = 8  # times after which PostgreSQL has settled on a plan
WORTH_TELLING = 20.0  # ms
DEARER = 1.2  # what a deep page may cost against the first
SORTED, FEW = 1_000, 10 * PAGE  # rows
LARGE = {one.table for one in depth_rows.FILLINGS if one.share >= 0.1}
FEW_BLOCKS = 12 * PAGE  # a page in order takes up to ten for each of its rows


@dataclass
class Ear:
    """A connection that notes what it is asked, and may leave out rows first."""

    connection: psycopg.Connection[Any]
    skipped: int = 0
    text: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    how: dict[str, Any] = field(default_factory=dict)

    def cursor(self, **how: Any) -> "Ear":
        self.how = how
        return self

    def execute(self, text: str, values: dict[str, Any], *, prepare: bool | None) -> Any:
        self.text, self.values = text, values
        cursor = self.connection.cursor(**self.how)
        return cursor.execute(
            re.sub(r"LIMIT %\(rows\)s(::INTEGER)?", rf"\g<0> OFFSET {self.skipped}", text), values
        )

    @property
    def unlimited(self) -> str:
        """The rows alone, all of them and in no order."""
        page = re.search(r"FROM \((SELECT.*)\) AS page", self.text, re.DOTALL)
        return (page[1] if page else self.text).rpartition("ORDER BY")[0]


@dataclass
class Found:
    """What one case showed."""

    case: str
    matches: int
    page: int = 0  # the number of the deep page; 0 where there is none
    firsts: list[float] = field(default_factory=list)  # ms, of each round
    lates: list[float] = field(default_factory=list)  # ms, of the deep page, where there is one
    scans: set[str] = field(default_factory=set)
    sorted: int = 0  # rows, at most
    passed: int = 0  # rows that were read and left out, at most
    blocks: int = 0  # of tables and indexes that were looked at, at most

    @property
    def first(self) -> float:
        return statistics.median(self.firsts)

    @property
    def late(self) -> float:
        return statistics.median(self.lates or [0.0])

    @property
    def ratios(self) -> list[float]:
        return figures.ratios(self.lates, self.firsts) if self.page else [0.0]

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)

    @property
    def plain(self) -> bool:
        return self.case.startswith("by nothing")

    @property
    def missed(self) -> bool:
        return self.ratio > DEARER and self.in_order

    @property
    def in_order(self) -> bool:
        """Say whether a page is read as it comes, with few rows left out on the way, in the table or in its index."""
        return self.passed <= FEW and self.blocks <= FEW_BLOCKS

    def __str__(self) -> str:
        late = f", page {self.page + 1:,} {self.late:.2f} ms ({self.ratio:.2f} x)" if self.page else ""
        scans = f", reads all of {', '.join(sorted(self.scans))}" if self.scans else ""
        return (
            f"{self.case}: {self.matches:,} match, page 1 {self.first:.2f} ms{late}, sorts {self.sorted:,},"
            f" passes {self.passed:,} by, {self.blocks:,} blocks{scans}"
        )


def measure(quick: bool) -> list[Figure]:
    """Fill the tables and look at each list."""
    rows = QUICK_ROWS if quick else ROWS
    made: list[Figure] = []
    with figures.place():
        caller = depth_rows.fill(rows)
        wanted = os.environ.get("LISTS", "")
        for one in (one for one in depth_lists.every(rows) if one.name in (wanted or one.name).split(",")):
            with store.reading() as reading:
                found = [
                    look(reading, caller, one, name, given) for name, given in one.cases(1 if quick else 2)
                ]
            made += tell(one, found)
        with store.reading() as reading:
            made += room(reading)
    return made


def room(reading: Reading) -> list[Figure]:
    """Tell the room that each table's indexes take beside its rows, and print those that no list used."""
    made = []
    for table in sorted(LARGE):
        sizes = "SELECT pg_indexes_size(to_regclass(%(table)s)), pg_table_size(to_regclass(%(table)s))"
        [(indexes, rows)] = reading.connection.execute(sizes, {"table": table}).fetchall()
        made.append(figures.plain(f"{table}: indexes on {rows / 1e6:,.0f} MB", indexes / 1e6, "MB"))
    unused = """SELECT relname, indexrelname, pg_relation_size(indexrelid) FROM pg_stat_user_indexes
                WHERE relname = ANY (%s) AND idx_scan = 0 ORDER BY relname, indexrelname"""
    for table, index, size in reading.connection.execute(unused, [sorted(LARGE)]).fetchall():
        print(f"{table}: no list used {index}, {size / 1e6:.1f} MB")
    return made


def tell(one: List, found: list[Found]) -> list[Figure]:
    """Print the cases worth telling of, and sum them up."""
    name = one.name.removeprefix("list_")
    for case in found:
        slow = max(case.first, case.late) > WORTH_TELLING
        if case.plain or slow or case.missed or case.scans or case.sorted > SORTED:
            print(f"{name} {case}")
    deep = [case for case in found if case.page]
    made = []
    for case in (case for case in deep if case.plain):
        where = f"{name} {case.case.removeprefix('by nothing')}".strip()
        made += [
            figures.plain(f"{where}: page 1 of {case.matches:,} rows", case.firsts, "ms"),
            figures.plain(f"{where}: page {case.page + 1:,}", case.lates, "ms"),
            figures.at_most(f"{where}: page {case.page + 1:,} against page 1", case.ratios, "x", DEARER),
        ]
    if ordered := [case.ratios for case in deep if case.in_order]:
        worst = f"{name}: the same at worst of {len(ordered)} filters in order"
        made.append(figures.at_most(worst, max(ordered, key=statistics.median), "x", DEARER))
    slowest = max((taken for c in found for taken in (c.firsts, c.lates) if taken), key=statistics.median)
    return [
        *made,
        figures.at_most(
            f"{name}: filters without an index, of {len(found)}", sum(1 for c in found if c.scans), "", 0
        ),
        figures.plain(f"{name}: rows sorted for one page at most", max(c.sorted for c in found), ""),
        figures.plain(f"{name}: blocks looked at for one page at most", max(c.blocks for c in found), ""),
        figures.at_most(f"{name}: slowest page of them", slowest, "ms", LONG),
    ]


def look(reading: Reading, caller: Caller, one: List, name: str, given: dict[str, Any]) -> Found:
    """Look at one list with some filters in one order."""
    ear = Ear(reading.connection)

    def page(cursor: str | None = None, means: Any = reading) -> Page:
        return one.page(means, caller, cursor=cursor, page_size=PAGE, **given).map(one.item)

    page(means=Reading(ear))
    plain, counted = one.plain, Ear(reading.connection)
    plain.page(Reading(counted), caller, cursor=None, page_size=PAGE, **given)
    count = f"SELECT count(*) FROM ({counted.unlimited}) AS counted"
    [(matches,)] = reading.connection.execute(count, counted.values | {"rows": None}).fetchall()
    found = Found(name, matches)
    plans = [explain(reading, ear)]
    cursors: list[str | None] = [None]
    found.page = max(0, min(DEEP, matches // PAGE) - 1)  # a full page stands there
    if found.page:
        there = Ear(reading.connection, skipped=(found.page - 1) * PAGE)
        cursors.append(plain.page(Reading(there), caller, cursor=None, page_size=PAGE, **given).next)
        after = Ear(reading.connection)
        page(cursors[1], means=Reading(after))
        plans.append(explain(reading, after))
    for plan in plans:
        judge(found, plan)
    is_long = any(plan["Actual Total Time"] > LONG for plan in plans)
    for rounds in (FEW_ROUNDS,) if is_long else (ROUNDS, MORE_ROUNDS):
        times = [[timed(page, cursor) for cursor in cursors] for _ in range(SETTLED + rounds)][SETTLED:]
        found.firsts, *lates = (figures.in_rounds(taken) for taken in zip(*times, strict=True))
        found.lates = lates[0] if lates else []
        if found.ratio <= DEARER or found.first > WORTH_TELLING:
            break
    return found


def timed(page: Callable[[str | None], Page], cursor: str | None) -> float:
    """Return how long a page takes, in ms."""
    began = time.perf_counter()
    page(cursor)
    return (time.perf_counter() - began) * 1000


def explain(reading: Reading, ear: Ear) -> dict[str, Any]:
    asked = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + ear.text
    [(plan,)] = reading.connection.execute(asked, ear.values, prepare=False).fetchall()
    return dict(plan[0]["Plan"])


def judge(found: Found, plan: dict[str, Any]) -> None:
    """Note what a plan reads from end to end, what it sorts, and what it reads in vain."""
    passed = 0
    for node in nodes(plan):
        if not node["Actual Loops"]:
            continue
        if node["Node Type"].endswith("Seq Scan") and node["Relation Name"] in LARGE:
            found.scans.add(node["Relation Name"])
        if node["Node Type"].endswith("Sort"):
            found.sorted = max(
                found.sorted, round(node["Plans"][0]["Actual Rows"] * node["Plans"][0]["Actual Loops"])
            )
        removed = sum(
            node.get(f"Rows Removed by {why}", 0) for why in ("Filter", "Join Filter", "Index Recheck")
        )
        passed += round(removed * node["Actual Loops"])
    found.passed = max(found.passed, passed)
    found.blocks = max(found.blocks, plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(found for child in plan.get("Plans", ()) for found in nodes(child))]


if __name__ == "__main__":
    figures.main(measure, __doc__)
