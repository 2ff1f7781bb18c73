"""What answers look like that wait for a person."""

from typing import Any

from marshmallow import Schema, fields

from schemas import results
from schemas.fields import Moment, Resource, Show
from schemas.showing import show


class _Assessment(Schema):
    slug = fields.String()
    title = fields.String()


class Item(Resource):
    """An answer that waits."""

    id = fields.UUID(attribute="review_id")
    invite_token = fields.String(attribute="invitation.token")
    assessment = fields.Nested(_Assessment)
    case_order = fields.Integer()
    case_title = fields.String()
    answered_at = Moment(attribute="saved_at")
    claimed_by = fields.Raw()
    claimed_until = Moment()


item: Show = show(Item())
# What of a result's case a review is made by.
_JUDGED_BY = (
    "case_type", "question", "options", "answer", "language", "tests", "rubric", "max_score", "time_spent_seconds",
)  # fmt: skip


def detail(row: Any, case: Any) -> dict[str, Any]:
    """Show an answer that waits beside what it is judged by."""
    shown = results.case(case)
    return item(row) | {name: shown[name] for name in _JUDGED_BY}
