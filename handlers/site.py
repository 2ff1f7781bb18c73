"""What search engines read: which pages there are, and which are nobody's but their reader's."""

from xml.sax.saxutils import escape

from sqlalchemy.orm import Session

from rules import links
from rules.clock import iso
from schemas.files import File
from store.hiring import careers

KEPT = {"Cache-Control": "public, max-age=300", "X-Content-Type-Options": "nosniff"}
# Behind these is what a link's token opens, and what programs ask.
HIDDEN = ("/api/", "/application/", "/interview/", "/join/", "/offer/", "/recordings/", "/report/", "/take/")
MOST_JOBS = 10_000  # of the 50,000 that a sitemap may have


def get_robots() -> File:
    """Say what may be looked at."""
    lines = [
        "User-agent: *",
        *(f"Disallow: {path}" for path in HIDDEN),
        "",
        f"Sitemap: {links.sitemap()}",
        "",
    ]
    return File("\n".join(lines).encode(), "text/plain; charset=utf-8", KEPT)


def get_sitemap(session: Session) -> File:
    """Name the pages of open jobs, the newest first, and those of the organisations that have them."""
    jobs = careers.open_everywhere(session, limit=MOST_JOBS)
    pages = [(links.careers(one), "") for one in dict.fromkeys(job.organisation for job in jobs)]
    pages += [(links.job(job.organisation, job.slug), iso(job.updated_at)) for job in jobs]
    urls = "".join(
        f"<url><loc>{escape(address)}</loc>{f'<lastmod>{moment}</lastmod>' if moment else ''}</url>\n"
        for address, moment in pages
    )
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{urls}</urlset>\n'
    )
    return File(text.encode(), "application/xml", KEPT)
