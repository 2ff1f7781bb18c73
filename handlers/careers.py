"""What the world may see and do: open jobs, and applying for them."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import urlencode

from sqlalchemy.orm import Session

from handlers import applications, pages
from rules import consent, links, sources
from rules.applications import attempt
from rules.clock import now
from rules.pages import Page
from schemas import careers as schemas
from schemas import postings
from schemas.views import Redirect, View
from store.branding import settings
from store.hiring import careers, fields

Body = dict[str, Any]
Begin = Callable[[], AbstractContextManager[Session]]

JOBS_ON_A_PAGE = 50

# A browser may keep a form that tells nobody's secrets, so that going back to it finds what was written.
KEPT_BY_BROWSERS = pages.HEADERS | {"Cache-Control": "private, no-cache"}

# The one page that other sites may put into a frame; nothing can be sent from it.
EMBEDDED = {name: value for name, value in pages.HEADERS.items() if name != "X-Frame-Options"} | {
    "Content-Security-Policy": pages.HEADERS["Content-Security-Policy"].replace(
        "frame-ancestors 'none'", "frame-ancestors *"
    ),
}


def list_open_jobs(session: Session, org_slug: str, **query: Any) -> Page:
    """List an organisation's open jobs, newest first."""
    organisation, caller = careers.visit(session, org_slug)
    return careers.LIST.page(session, caller, **query).map(lambda job: schemas.item(job, organisation))


def get_open_job(session: Session, org_slug: str, job_slug: str) -> Body:
    """Show an open job with its questions."""
    organisation, caller = careers.visit(session, org_slug)
    job = careers.get(session, caller, job_slug)
    own = settings.read(session, caller)
    return schemas.detail(job, organisation, fields.all_of(session, job), own)


def apply_for_job(begin: Begin, finish: Begin, org_slug: str, job_slug: str, body: Body) -> Body:
    """Apply; the answer is the same whatever becomes of it, and for who has applied before."""
    with begin() as session:
        _, caller = careers.visit(session, org_slug)
        job = careers.get(session, caller, job_slug)
        own = settings.read(session, caller)
    accepted = body["consent_accepted"]
    applications.apply(
        begin,
        finish,
        caller,
        [str(job.id)],
        body,
        source="public_careers",
        actor="candidate",
        faults=consent.faults(own, accepted=accepted),
        also=consent.given(own, accepted=accepted, moment=now())
        | {"source_detail": sources.detail(body) if own.source_tracking else None},
    )
    return {"status": "submitted"}


# --- The pages


def show_careers_page(session: Session, org_slug: str, cursor: str | None, **given: str | None) -> View:
    """Show an organisation's open jobs, those that are looked for; what the visitor came by goes on with the links."""
    return _careers_page(session, org_slug, cursor, given)


def show_embedded_jobs(session: Session, org_slug: str, cursor: str | None, **given: str | None) -> View:
    """Show the same for a frame on the organisation's own site; what it leads to opens in a window of its own."""
    return _careers_page(session, org_slug, cursor, given, headers=EMBEDDED, embedded=True)


def _careers_page(
    session: Session,
    org_slug: str,
    cursor: str | None,
    given: Mapping[str, str | None],
    *,
    headers: dict[str, str] = pages.HEADERS,
    embedded: bool = False,
) -> View:
    organisation, caller = careers.visit(session, org_slug)
    brand = pages.brand(session, organisation.id)
    asked = {name: (given.get(name) or "").strip() for name in careers.FILTERS}
    wanted = {name: text for name, text in asked.items() if text}
    found = careers.LIST.page(session, caller, cursor=cursor, page_size=JOBS_ON_A_PAGE, **wanted)
    came_by = _came_by(brand, given)
    return pages.page(
        "careers.html",
        headers=headers,
        embedded=embedded,
        brand=brand,
        **came_by,
        asked=asked,
        choices=careers.choices(session, caller),
        pages=urlencode(wanted | came_by["came_by"]),
        organisation=organisation,
        address=links.careers(org_slug),
        jobs=[schemas.item(job, organisation) for job in found.results],
        next=found.next,
        previous=found.previous,
    )


def show_job_page(session: Session, org_slug: str, job_slug: str, **words: str | None) -> View:
    """Show an open job and the form to apply for it."""
    around = _around(session, org_slug, job_slug, words)
    posting = postings.posting(around["job"], around["brand"])
    return pages.page("job.html", headers=KEPT_BY_BROWSERS, given={}, faults={}, posting=posting, **around)


def apply_on_page(begin: Begin, finish: Begin, org_slug: str, job_slug: str, body: Body) -> View | Redirect:
    """Apply with the page's form; lead to thanks, or show the form again with all that is wrong with it."""
    refusal = attempt(lambda: apply_for_job(begin, finish, org_slug, job_slug, body))
    with begin() as session:
        if refusal is None:
            organisation, _ = careers.visit(session, org_slug)
            query = _came_by(pages.brand(session, organisation.id), body)["query"]
            return Redirect(links.path(links.applied(org_slug, job_slug)) + query, pages.HEADERS)
        around = _around(session, org_slug, job_slug, body)
    return pages.page("job.html", status=400, given=body, faults=pages.faults(refusal), **around)


def show_applied_page(session: Session, org_slug: str, job_slug: str, **words: str | None) -> View:
    """Thank for an application, whatever became of it."""
    return pages.page("applied.html", **_around(session, org_slug, job_slug, words))


def _around(session: Session, org_slug: str, job_slug: str, words: Mapping[str, Any]) -> Body:
    """Load what the pages of one job show."""
    organisation, _ = careers.visit(session, org_slug)
    brand = pages.brand(session, organisation.id)
    job = get_open_job(session, org_slug, job_slug)
    return {
        "wanted": (job["language"],),
        "job": job,
        "summary_text": postings.summary(job["description_html"]),
        "careers": links.careers(org_slug),
        "origin": links.origin(),
        "brand": brand,
        **_came_by(brand, words),
    }


def _came_by(brand: Mapping[str, Any], words: Mapping[str, Any]) -> Body:
    """Say what a visitor came by, and how links go on with it; nothing where the organisation does not want to know."""
    came_from = words.get("referrer") or sources.site(words.get(sources.HEADER), links.base())
    said = {**words, "referrer": came_from}
    found = (sources.detail(said) if brand["source_tracking"] else None) or {}
    return {"came_by": found, "query": f"?{urlencode(found)}" if found else ""}
