"""Where applicants came from: what the link says that led them to a job, in the words that such links have."""

from collections.abc import Mapping
from typing import Any

WORDS = ("utm_source", "utm_medium", "utm_campaign", "ref")
LONGEST = 200  # of each; what is longer is cut, for whoever follows a link has not written it


def detail(given: Mapping[str, Any]) -> dict[str, str] | None:
    """Return what is kept of a link's words; None where it has none."""
    found = {word: " ".join((given.get(word) or "").split())[:LONGEST] for word in WORDS}
    return {word: text for word, text in found.items() if text} or None
