"""What a CV's text says of a person."""

from datetime import date
from typing import Any


def profile(text: str, today: date) -> dict[str, Any]:
    """Read a profile from a CV's text; positions that go on end `today`."""
    _ = today
    return {
        "name": None,
        "emails": [],
        "phones": [],
        "links": [],
        "skills": [],
        "titles": [],
        "employers": [],
        "positions": [],
        "total_years": "0.00",
        "education": [],
        "text": text,
    }
