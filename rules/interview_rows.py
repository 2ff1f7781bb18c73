"""Which of many candidates get a room, and why the others do not."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rules.invitations import shown

_MESSAGES = {
    "missing_email": "The candidate's email is empty.",
    "invalid_email": "Must be an email address.",
    "repeated_email": "Another row has this email.",
    "missing_resume": "An interview by the AI alone needs the candidate's résumé.",
    "quota_exhausted": "The month's interviews are used up.",
}


def error(email: Any, code: str) -> dict[str, Any]:
    """Say why a row of many got no room."""
    return {"email": shown(email), "code": code, "message": _MESSAGES[code]}


def sift(
    rows: Sequence[Mapping[str, Any]], normal: Callable[[str], str | None], *, needs_resume: bool
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Divide candidates into those to prepare a room for, and those with an error.

    `normal` returns an address in its usual form, or None where it is none.
    """
    taken: set[str] = set()
    wanted: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    for row in rows:
        given = row.get("email")
        email = normal(given) if isinstance(given, str) else None
        if given is None or (isinstance(given, str) and not given.strip()):
            errors.append(error(given, "missing_email"))
        elif email is None:
            errors.append(error(given, "invalid_email"))
        elif email.casefold() in taken:
            errors.append(error(email, "repeated_email"))
        elif needs_resume and not row["resume_text"].strip():
            errors.append(error(email, "missing_resume"))
        else:
            taken.add(email.casefold())
            wanted.append({"email": email, "name": row["name"].strip(), "resume_text": row["resume_text"]})
    return wanted, errors
