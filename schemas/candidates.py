"""What profiles, notes and scorecards look like outside."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any

from marshmallow import Schema, fields

from schemas.fields import DecimalText, Moment, Resource, Show, Stamped
from schemas.showing import show


class Item(Stamped):
    """A profile as lists show it."""

    email = fields.String()
    full_name = fields.String()
    phone = fields.String()
    source_summary = fields.String()
    tags = fields.List(fields.String())
    last_activity_at = Moment()
    archived_at = Moment()
    livemode = fields.Boolean()


class Note(Resource):
    """What somebody wrote."""

    body = fields.String()
    author = fields.String()
    author_id = fields.UUID(allow_none=True)
    created_at = Moment()


class Scorecard(Stamped):
    """How somebody judged."""

    author_id = fields.UUID(allow_none=True)
    author_name = fields.String()
    interview_id = fields.UUID(allow_none=True)
    application_id = fields.UUID(allow_none=True)
    assessment_id = fields.UUID(allow_none=True)
    criteria = fields.Raw()
    total = DecimalText()


class Event(Schema):
    """The data of every event of a profile."""

    candidate_id = fields.UUID(attribute="id")
    email = fields.String()
    full_name = fields.String()
    phone = fields.String()
    source_summary = fields.String()
    archived_at = Moment()
    last_activity_at = Moment()


class NoteEvent(Resource):
    """What an event tells of a note: not its text."""

    created_at = Moment()


item: Show = show(Item())
note: Show = show(Note())
scorecard: Show = show(Scorecard())
event: Show = show(Event())
note_event: Show = show(NoteEvent())


def file(one: Mapping[str, Any], content: bytes | None) -> dict[str, Any]:
    """Show a file with its content; null where it is not there any more."""
    shown = {name: one[name] for name in ("filename", "content_type", "size_bytes")}
    return {**shown, "content_base64": None if content is None else b64encode(content).decode()}


def detail(
    candidate: Any, counts: dict[str, int], notes: Iterable[Any], scorecards: Iterable[Any]
) -> dict[str, Any]:
    """Show a profile with what was written of it."""
    return {
        **item(candidate),
        **counts,
        "notes": [note(one) for one in notes],
        "scorecards": [scorecard(one) for one in scorecards],
    }
