"""The lists that bench.depth looks at, and what each is filtered and ordered by."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations
from typing import Any

from bench.depth_rows import TEAMS, made_id
from rules.clock import now
from rules.pages import Page
from schemas import applications as application_schemas
from schemas import assessments as assessment_schemas
from schemas import invitations as invitation_schemas
from schemas import jobs as job_schemas
from store.applying import lists
from store.assessing import assessments, invitations
from store.hiring import jobs

Filter = tuple[str, str, Any]  # label, parameter, value


@dataclass(frozen=True)
class List:
    """One list: what reads its pages and shows their rows, its filters, its orders."""

    name: str
    page: Callable[..., Page]
    item: Callable[[Any], dict[str, Any]]
    filters: tuple[Filter, ...]
    orders: tuple[str, ...] = ()

    def cases(self, at_once: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """Give everything it is asked for, with a name for each: no filter, each, and so many at once."""
        for order in self.orders or ("",):
            for chosen in (
                chosen for count in range(at_once + 1) for chosen in combinations(self.filters, count)
            ):
                given = {parameter: value for _, parameter, value in chosen}
                if len(given) == len(chosen):
                    by = " and ".join(label for label, _, _ in chosen) or "nothing"
                    yield f"by {by} {order}".strip(), given | ({"ordering": order} if order else {})


SQUADS: tuple[Filter, ...] = (
    ("squad", "team_id", str(TEAMS[0])),
    ("small squad", "team_id", str(TEAMS[1])),
    ("no squad", "team_id", "null"),
)
SEARCHES: tuple[Filter, ...] = (
    ("frequent word", "search", "engineer"),
    ("rare word", "search", "ENGINEER 77"),
    ("no word", "search", "plumber"),
)


def every(rows: int) -> list[List]:
    """Describe every list; values that keep most rows stand beside such that keep a few or none."""
    return [
        List("invitations", invitations.LIST.page, invitation_schemas.detail, (
            ("assessment", "assessment", str(made_id("assessments", 1))),
            ("small assessment", "assessment", str(made_id("assessments", 78))),
            ("status", "status", "completed"),
            ("email", "email", f"c{rows // 2}@example.com"),
            ("external id", "external_id", f"reference-{rows // 2}"),
            ("frequent tag", "tag", "season-1"),
            ("rare tag", "tag", "tag-8"),
            *_changed(rows),
        )),
        List("applications", lists.LIST.page, application_schemas.item, (
            ("job", "job_id", made_id("jobs", 1)),
            ("small job", "job_id", made_id("jobs", 78)),
            ("status", "status", "submitted"),
            ("rare status", "status", "hired"),
            ("email", "email", f"c{rows // 4}@example.com"),
            *SQUADS,
            *_changed(rows),
        ), ("-l3_score", "-submitted_at", "submitted_at")),
        List("jobs", jobs.LIST.page, job_schemas.item, (
            ("status", "status", "open"), *SQUADS, *SEARCHES, *_changed(rows // 10),
        )),
        List("assessments", assessments.LIST.page, assessment_schemas.item, (
            ("status", "status", "active"), *SQUADS, *SEARCHES, *_changed(rows // 10),
        )),
    ]  # fmt: skip


def _changed(seconds: int) -> tuple[Filter, ...]:
    """Filter a table that was filled over so many seconds."""
    parts = {"change since long": 0.5, "change lately": 0.001, "no change": -1.0}
    return tuple(
        (label, "updated_after", now() - timedelta(seconds=seconds * part)) for label, part in parts.items()
    )
