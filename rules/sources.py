"""Where applicants came from: what the link says that led them to a job, in the words that such links have."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

WORDS = ("utm_source", "utm_medium", "utm_campaign", "ref", "referrer")
HEADER = "Referer"  # as browsers send it
LONGEST = 200  # of each; what is longer is cut, for whoever follows a link has not written it


def site(address: str | None, ours: str) -> str:
    """Return the host that a visitor came from, as their browser says; empty where it is our own, or says nothing."""
    try:
        host = urlsplit(address or "").hostname or ""
        return "" if host == urlsplit(ours).hostname else host
    except ValueError:
        return ""


def detail(given: Mapping[str, Any]) -> dict[str, str] | None:
    """Return what is kept of a link's words; None where it has none."""
    found = {word: " ".join((given.get(word) or "").split())[:LONGEST] for word in WORDS}
    return {word: text for word, text in found.items() if text} or None
