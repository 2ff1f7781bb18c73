"""What applicants see of their own applications."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from marshmallow import Schema, fields

from rules import answers, decimals
from rules.clock import iso
from schemas import careers
from schemas.fields import Moment, Show
from schemas.showing import show


class Own(Schema):
    """What somebody sent of themselves, and when."""

    email = fields.String()
    full_name = fields.String()
    phone = fields.String()
    submitted_at = Moment()


class OwnFile(Schema):
    """One file that was sent."""

    kind = fields.String()
    filename = fields.String()
    size_bytes = fields.Integer()
    created_at = Moment()


_own: Show = show(Own())
_file: Show = show(OwnFile())


def own(
    application: Any,
    status: str,
    *,
    organisation_name: str,
    questions: Iterable[Any],
    given: Mapping[str, Any],
    files: Iterable[Any],
    erasure_requested_at: datetime | None,
) -> dict[str, Any]:
    """Show an application to whoever sent it, as far as they may see how it stands."""
    asked = [careers.asked(one) for one in questions if one.is_active]
    return {
        "status": status,
        "organisation_name": organisation_name,
        "job_title": application.job.title,
        **_own(application),
        "application_fields": asked,
        "answers": {one["key"]: given[one["key"]] for one in asked if one["key"] in given},
        "files": [_file(one) for one in files],
        "erasure_requested_at": iso(erasure_requested_at) if erasure_requested_at else None,
    }


def answer(row: Mapping[str, Any]) -> Any:
    """Show an answer as it can be sent again; numbers as decimals are, in a text."""
    value = answers.value(row)
    return decimals.plain(value) if isinstance(value, Decimal) else value
