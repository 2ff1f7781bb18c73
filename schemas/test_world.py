"""What the clock of a test mode and those who are played look like outside."""

import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from datetime import datetime
from functools import cache
from typing import Any

from rules import inboxes
from rules.clock import iso
from schemas import document

_LINKS = re.compile(r"https?://[^\s<>\"]+[^\s<>\".,;:!?)]")


def clock(advanced_seconds: int, next_due_at: datetime | None) -> dict[str, Any]:
    """Show a clock."""
    return {"advanced_seconds": advanced_seconds, "next_due_at": next_due_at and iso(next_due_at)}


def advanced(one: Any) -> dict[str, Any]:
    """Show how far a clock was moved, and what happened meanwhile."""
    happened = [{"at": iso(each.at), "kind": each.kind, "id": each.id} for each in one.happened]
    return clock(one.seconds, one.next_due_at) | {
        "remaining_seconds": one.left,
        "happened": happened,
        "happened_count": one.count,
    }


def taken(token: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """Show what came of a candidate who was played, of the result as it is shown."""
    names = ("status", "score", "max_score", "score_percentage", "passed")
    return {"invite_token": token} | {name: result.get(name) for name in names}


def inbox(one: Any, requests: Iterable[Any]) -> dict[str, Any]:
    """Show an inbox with requests that came."""
    return {
        "id": str(one.id),
        "url": inboxes.address(one.id),
        "name": one.name,
        "answers": [inboxes.answer([each], 0) for each in one.answers],
        "received_count": one.received,
        "requests": [
            {
                "received_at": iso(each.created_at),
                "received_headers": [{"name": name, "value": value} for name, value in each.headers.items()],
                "body": each.body,
                "verified": each.verified,
                "status": each.status,
            }
            for each in requests
        ],
        "created_at": iso(one.created_at),
    }


def mail(row: Any, written: Any) -> dict[str, Any]:
    """Show a mail, with the links that stand in its text."""
    return {
        "id": str(row.id),
        "kind": row.arguments["template"],
        "to": row.arguments["to"],
        "subject": written.subject,
        "text": written.text,
        "html": written.html,
        "links": list(dict.fromkeys(_LINKS.findall(written.text))),
        "created_at": iso(row.created_at),
        "sent_at": row.finished_at and iso(row.finished_at),
    }


def applied(application: Mapping[str, Any], quality: str, *, is_new: bool) -> dict[str, Any]:
    """Show one application of somebody who was made up."""
    return {
        "application_id": application["id"],
        "email": application["email"],
        "quality": quality,
        "is_new": is_new,
    }


@cache
def _examples() -> dict[str, Any]:
    return dict(document.read("openapi")["x-events"])


def example(type: str) -> dict[str, Any]:
    """Return the data of an event's documented example, marked as one."""
    return {**deepcopy(_examples()[type]["example"]["data"]), "simulated": True}
