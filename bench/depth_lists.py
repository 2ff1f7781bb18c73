"""The lists that bench.depth looks at: all that the documents offer, with each filter and in each order."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import combinations
from types import SimpleNamespace
from typing import Any

from connexion.spec import Specification

from bench.depth_rows import ENDPOINT, TEAMS, made_id
from rules.clock import now
from rules.pages import Page
from schemas import applications as application_schemas
from schemas import assessments as assessment_schemas
from schemas import audit as audit_schemas
from schemas import candidates as candidate_schemas
from schemas import careers as careers_schemas
from schemas import cases as case_schemas
from schemas import document
from schemas import enrollments as enrollment_schemas
from schemas import interviews as interview_schemas
from schemas import invitations as invitation_schemas
from schemas import jobs as job_schemas
from schemas import offers as offer_schemas
from schemas import pipelines as pipeline_schemas
from schemas import results as result_schemas
from schemas import reviews as review_schemas
from schemas import squads as squad_schemas
from schemas import webhooks as webhook_schemas
from store import events
from store.accounts import squads
from store.advancing import enrollments, pipelines
from store.applying import lists
from store.assessing import assessments, cases, invitations, results, reviews
from store.auditing import lists as audit_lists
from store.database.listing import Listing
from store.delivering import deliveries, fanout, webhooks
from store.hiring import careers, jobs
from store.interviewing import contents, tasks, templates
from store.offering import offers
from store.people import candidates, notes, scorecards

PAGES = {"cursor", "page_size", "ordering"}  # parameters of a list that are no filter
Value = tuple[str, Any]  # label, value


@dataclass(frozen=True)
class Shown:
    """How the service shows a list: its statements, what becomes of a row, what its path says."""

    listing: Listing
    item: Callable[[Any], dict[str, Any]]
    path: Mapping[str, Any] = field(default_factory=dict)


_OF_ASSESSMENT = {"assessment_id": made_id("assessments", 1)}
_VISITED = SimpleNamespace(name="Depth", slug="depth")
SHOWN = {
    "list_applications": Shown(lists.LIST, application_schemas.item),
    "list_assessment_invitations": Shown(
        invitations.OF_ASSESSMENT, invitation_schemas.detail, _OF_ASSESSMENT
    ),
    "list_audit_log": Shown(audit_lists.LISTS[True], audit_schemas.row),
    "list_requests": Shown(audit_lists.REQUESTS[True], audit_schemas.request),
    "list_assessments": Shown(assessments.LIST, assessment_schemas.item),
    "list_candidates": Shown(candidates.LIST, candidate_schemas.item),
    "list_notes": Shown(notes.LIST, candidate_schemas.note, {"candidate_id": made_id("candidates", 1)}),
    "list_scorecards": Shown(
        scorecards.LIST, candidate_schemas.scorecard, {"candidate_id": made_id("candidates", 1)}
    ),
    "list_cases": Shown(cases.LIST, case_schemas.detail),
    "list_deliveries": Shown(deliveries.LIST, webhook_schemas.delivery, {"endpoint_id": ENDPOINT}),
    "list_enrollments": Shown(
        enrollments.LIST,
        lambda row: enrollment_schemas.detail(row, []),
        {"pipeline_id": made_id("pipelines", 1)},
    ),
    "list_enrollment_notes": Shown(
        enrollments.NOTES, enrollment_schemas.note, {"enrollment_id": made_id("enrollments", 1)}
    ),
    "list_events": Shown(events.LIST, fanout.envelope),
    "list_interviews": Shown(contents.LIST, interview_schemas.item),
    "list_interview_templates": Shown(templates.LIST, interview_schemas.template),
    "list_invitations": Shown(invitations.LIST, invitation_schemas.detail),
    "list_jobs": Shown(jobs.LIST, job_schemas.item),
    "list_offers": Shown(offers.LIST, offer_schemas.offer),
    "list_org_tasks": Shown(tasks.LIST, interview_schemas.task),
    "list_open_jobs": Shown(careers.LIST, lambda job: careers_schemas.item(job, _VISITED)),
    "list_pipelines": Shown(pipelines.LIST, pipeline_schemas.item),
    "list_results": Shown(results.LIST, result_schemas.item, _OF_ASSESSMENT),
    "list_reviews": Shown(reviews.LIST, review_schemas.item),
    "list_squads": Shown(squads.LIST, squad_schemas.detail),
    "list_webhooks": Shown(webhooks.LIST, webhook_schemas.endpoint),
}
# Lists that have an end: all their rows are few.
BOUNDED = {
    "list_assessment_cases": "an assessment has 200 cases at most",
    "list_team": "an organisation has as many members as seats",
    "list_squad_members": "the same",
    "list_member_invites": "an invite takes a seat while it is open",
    "list_shared_reports": "each was asked for by itself, and ends within ninety days",
    "list_keys": "they are made by hand, one at a time",
    "list_fields": "a job has a hundred questions at most (rules.fields)",
    "list_knockouts": "a job's are put in one request",
    "list_platform_cases": "the catalogue is part of the service",
    "list_requirements": "a job's are put in one request",
    "show_careers_page": "the statements of list_open_jobs",
    "show_embedded_jobs": "the same",
}
SQUADS = (("squad", str(TEAMS[0])), ("small squad", str(TEAMS[1])), ("no squad", "null"))
TYPES = (
    ("frequent type", "invitation.created"),
    ("rare type", "offer.declined"),
    ("absent type", "interview.no_show"),
)


def _values(rows: int) -> dict[str, tuple[Value, ...]]:
    """What each filter is asked for, or each of one list: values that keep most rows beside such that keep few or none.

    A row was made each second; of a table with a tenth of them each ten seconds.
    """

    def ago(part: float) -> Any:
        return now() - timedelta(seconds=rows * part)

    return {
        "updated_after": (
            ("change since long", ago(0.5)),
            ("change lately", ago(0.001)),
            ("no change", ago(-1)),
        ),
        "since": (("since long", ago(0.9)), ("since half", ago(0.5)), ("since lately", ago(0.001))),
        "until": (("until long ago", ago(0.999)), ("until half", ago(0.5)), ("until lately", ago(0.001))),
        "after": (("after half", rows // 2), ("after all", rows * 2)),
        "search": (
            ("frequent word", "engineer"),
            ("rare word", "ENGINEER 77"),
            ("no word", "plumber"),
        ),
        "team_id": SQUADS,
        "team_slug": (("squad by name", "squad-1"),),
        "assessment": (
            ("assessment", str(made_id("assessments", 1))),
            ("small assessment", str(made_id("assessments", 78))),
        ),
        "job_id": (("job", made_id("jobs", 1)), ("small job", made_id("jobs", 78))),
        "job_slug": (("job by name", "jobs-1"),),
        "job": (("job by name", "jobs-1"), ("small job", str(made_id("jobs", 78)))),
        "application_id": (("application", made_id("applications", 780)),),
        "external_id": (("external id", f"reference-{rows // 2}"),),
        "tag": (("frequent tag", "season-1"), ("rare tag", "tag-8")),
        "email": (("email", f"c{rows // 4}@example.com"),),
        "event_type": TYPES,
        "type": TYPES,
        "passed": (("passed", True), ("failed", False)),
        "action": (("frequent action", "create_invitation"), ("rare action", "delete_webhook")),
        "list_reviews after": (("after half", made_id("session_cases", rows // 2)),),
        "list_requests status": (("frequent status", 201), ("rare status", 400), ("absent status", 418)),
        "code": (("a code", "VALIDATION_ERROR"), ("absent code", "NOT_FOUND")),
        "operation": (("frequent operation", "create_invitation"), ("rare operation", "delete_webhook")),
        "key_id": (("a key", made_id("api_keys", 1)), ("absent key", made_id("api_keys", 77))),
        "channel": (("frequent channel", "public_api"), ("absent channel", "cli")),
        "outcome": (("frequent outcome", "success"), ("rare outcome", "error")),
        "list_audit_log search": (
            ("an action", "create_inv"),
            ("a request", f"REQ_{rows // 2}"),
            ("nothing", "plumber"),
        ),
        "include_archived": (("archived too", True), ("archived left out", False)),
        "list_candidates search": (
            ("frequent letters", "exa"),
            ("some letters", "kat"),
            ("rare letters", "zvz"),
            ("two letters", "zz"),
            ("one letter", "q"),
            ("an address", f"C{rows // 2}@EXAMPLE.COM"),
            ("no letters", "xyx"),
        ),
        "list_interviews q": (
            ("frequent letters", "exa"),
            ("some letters", "kat"),
            ("rare letters", "zvz"),
            ("one letter", "q"),
            ("an address", f"C{rows // 2}@EXAMPLE.COM"),
            ("no letters", "xyx"),
        ),
        "list_org_tasks q": (("frequent letters", "case"), ("no letters", "xyx")),
        "list_interviews status": (("status", "ended"), ("rare status", "no_show")),
        "claimed": (("in somebody's hand", True), ("in nobody's hand", False)),
        "location": (("absent place", "Oslo"),),
        "team": (("squad by name", "squad-1"),),
        "position_type": (("absent kind", "full_time"),),
        "workplace_type": (("frequent place", "unspecified"), ("absent place", "remote")),
        "interview_type": (("frequent type", "technical"), ("absent type", "mixed")),
        "interviewer_mode": (("frequent mode", "human_only"), ("rare mode", "ai_only")),
        "list_applications status": (("status", "submitted"), ("rare status", "hired")),
        "list_assessment_invitations status": (("status", "completed"), ("rare status", "started")),
        "list_assessments status": (("status", "active"),),
        "list_deliveries status": (
            ("status", "delivered"),
            ("rare status", "failed"),
            ("pending", "pending"),
        ),
        "list_enrollments status": (("status", "active"), ("rare status", "on_hold")),
        "list_invitations status": (("status", "completed"), ("rare status", "started")),
        "list_jobs status": (("status", "open"),),
        "list_offers status": (("status", "accepted"), ("rare status", "expired")),
        "list_results status": (("status", "completed"), ("rare status", "started")),
    }


@dataclass(frozen=True)
class List:
    """One list: what reads its pages and shows their rows, its filters, its orders."""

    name: str
    shown: Shown
    filters: tuple[tuple[str, Value], ...]  # by parameter
    orders: tuple[str, ...] = ()

    @property
    def item(self) -> Callable[[Any], dict[str, Any]]:
        return self.shown.item

    @property
    def plain(self) -> "List":
        """The same asked without a look nearby first: by it rows are counted and left out."""
        whole = self.shown.listing
        filters = {name: replace(one, near=0) for name, one in whole.filters.items()}
        listing = Listing(whole.rows, whole.orders, filters, whole.beside)
        return replace(self, shown=replace(self.shown, listing=listing))

    def page(self, *means: Any, **given: Any) -> Page:
        return self.shown.listing.page(*means, **self.shown.path, **given)

    def cases(self, at_once: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """Give everything it is asked for, with a name for each: no filter, each, and so many at once."""
        for order in self.orders or ("",):
            for chosen in (
                chosen for count in range(at_once + 1) for chosen in combinations(self.filters, count)
            ):
                given = {parameter: value for parameter, (_, value) in chosen}
                if len(given) == len(chosen):
                    by = " and ".join(label for _, (label, _) in chosen) or "nothing"
                    yield f"by {by} {order}".strip(), given | ({"ordering": order} if order else {})


def documented() -> dict[str, dict[str, dict[str, Any]]]:
    """Return what each list of the documents may be asked for, by operation and parameter, with its schema."""
    found = {}
    for name in document.NAMES:
        for item in Specification.load(document.read(name)).spec["paths"].values():
            for operation in (item[method] for method in item.keys() & {"get"}):
                parameters = [*item.get("parameters", ()), *operation.get("parameters", ())]
                asked = {one["name"]: one["schema"] for one in parameters if one["in"] == "query"}
                if "cursor" in asked:
                    found[operation["operationId"]] = asked
    return found


def every(rows: int) -> list[List]:
    """Describe every list that the documents offer; raises KeyError for one, or a filter, that has nothing here."""
    values = _values(rows)
    made = []
    for name, asked in documented().items():
        if name in BOUNDED:
            continue
        filters = tuple(
            (parameter, value)
            for parameter in asked.keys() - PAGES
            for value in values.get(f"{name} {parameter}") or values[parameter]
        )
        orders = tuple(asked.get("ordering", {}).get("enum", ()))
        made.append(List(name, SHOWN[name], tuple(sorted(filters, key=lambda one: one[0])), orders))
    return made
