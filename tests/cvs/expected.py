"""A CV of the tests: a file and what a person reads in it, as of 21 November 2026."""

from dataclasses import dataclass, field
from datetime import date

TODAY = date(2026, 11, 21)
NOW = "2026-11"


@dataclass
class Cv:
    """A file and its expected profile; `error` is a word of why it cannot be read."""

    name: str
    content: bytes
    expected: dict = field(default_factory=dict)
    error: str | None = None


def expected(
    name, *, emails=(), phones=(), links=(), skills=(), titles=(), positions=(), years="0.00", education=()
):
    return {
        "name": name,
        "emails": list(emails),
        "phones": list(phones),
        "links": list(links),
        "skills": list(skills),
        "titles": list(titles) or list(dict.fromkeys(one[0] for one in positions)),
        "employers": list(dict.fromkeys(one[1] for one in positions)),
        "positions": list(positions),  # title, employer, start, end
        "total_years": years,
        "education": list(education),  # level, institution
    }
