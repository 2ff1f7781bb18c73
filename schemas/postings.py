"""What search engines and those who share a link are told of a job: schema.org's JobPosting, and a summary."""

from collections.abc import Mapping
from typing import Any

from rules import links
from schemas import html

LONGEST_SUMMARY = 200
EMPLOYMENT = {
    "full_time": "FULL_TIME",
    "part_time": "PART_TIME",
    "contract": "CONTRACTOR",
    "temporary": "TEMPORARY",
    "internship": "INTERN",
    "freelance": "CONTRACTOR",
}


def summary(description_html: str) -> str:
    """Return the beginning of a job's text, in a line."""
    text = " ".join(html.plain(description_html).split())
    if len(text) <= LONGEST_SUMMARY:
        return text
    return text[: LONGEST_SUMMARY - 1].rsplit(" ", 1)[0] + "…"


def posting(job: Mapping[str, Any], brand: Mapping[str, Any]) -> dict[str, Any] | None:
    """Write an open job as a JobPosting; None where it lacks what every posting has: a text, and where the work is."""
    where = _where(job)
    if where is None or not html.plain(job["description_html"]):
        return None
    organisation = {"@type": "Organization", "name": job["organisation_name"]}
    if brand["logo"]:
        organisation["logo"] = f"{links.origin()}{brand['logo']}"
    kinds = sorted({EMPLOYMENT[kind] for kind in job["position_types"]})
    return {
        "@context": "https://schema.org/",
        "@type": "JobPosting",
        "title": job["title"],
        "description": job["description_html"],
        "datePosted": job["published_at"],
        "hiringOrganization": organisation,
        "url": job["url"],
        "directApply": True,
        **where,
        **({"validThrough": job["expires_at"]} if job["expires_at"] else {}),
        **({"employmentType": kinds} if kinds else {}),
    }


def _where(job: Mapping[str, Any]) -> dict[str, Any] | None:
    """Say where the work is done, or from which country it may be done; None where the job does not say."""
    country = job["country_code"]
    address = {
        "addressLocality": job["location_text"],
        "addressRegion": job["region"],
        "addressCountry": country,
    }
    address = {name: text for name, text in address.items() if text}
    if job["workplace_type"] == "remote":
        if not country:
            return None
        from_there = {"@type": "Country", "name": country}
        return {"jobLocationType": "TELECOMMUTE", "applicantLocationRequirements": from_there}
    if not address:
        return None
    return {"jobLocation": {"@type": "Place", "address": {"@type": "PostalAddress", **address}}}
