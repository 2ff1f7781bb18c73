"""Reports that were shared."""

from sqlalchemy.orm import Session

from handlers import pages
from schemas import results
from schemas import shared_reports as schemas
from schemas.views import View
from store.assessing import answering, shares, standing, violations


def show_report_page(session: Session, token: str) -> View:
    """Show the report that a link leads to, or that it leads nowhere any more."""
    sitting = shares.find(session, token)
    if sitting is None:
        return pages.page("report.html", status=404, report=None)
    cases, signals = answering.cases(session, sitting), violations.of(session, sitting)
    place = standing.percentile(session, sitting)
    result = results.detail(sitting, cases, signals, percentile=place, recorded=[])
    return pages.page(
        "report.html",
        brand=pages.brand(session, sitting.organisation_id),
        report=schemas.page(result, sitting.invitation.role),
    )
