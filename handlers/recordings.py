"""Recordings of sittings: a candidate's page sends them, and who has a result's link plays them."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

import schemas.sessions
from gateways import files, uploads
from handlers import pages
from rules import recordings as rules
from rules.clock import now
from rules.errors import NotFound
from rules.sessions import refusal
from schemas import recordings as schema
from schemas.files import File
from schemas.views import View
from store.accounts import organisations, room
from store.assessing import answering, recordings, sessions, violations
from store.assessing.sessions import Sitting

Body = dict[str, Any]
Begin = Callable[[], AbstractContextManager[Session]]

PLAYED = pages.HEADERS | {
    # What is played again brings the styles it was seen with; nothing of it runs or comes from elsewhere.
    "Content-Security-Policy": (
        f"{pages.HEADERS['Content-Security-Policy']}; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; media-src blob:"
    ),
}


def save_recording_chunk(begin: Begin, token: str, track: UUID, number: str, body: Body) -> Body:
    """Keep the next chunk of a track; one that has come already is answered the same and kept once."""
    content = body["content"].content
    rules.check_chunk(body["kind"], body["media_type"], content)
    place = rules.place(number)
    with begin() as session:
        sitting = sessions.look(session, token, schemas.sessions.event)
        if sitting is None:
            raise NotFound
        _check(sitting, body["kind"])
        caller = organisations.caller_of(session, sitting.invitation)
        found = recordings.track(session, sitting, track)
        if rules.is_known(place, found.chunks if found else 0):
            return schema.kept(found, sitting.status)
        room.check(caller, room.used(session, caller), len(content))
    with uploads.keeping_chunk(caller.organisation_id, content) as kept, begin() as session:
        sitting = sessions.hold(session, token, schemas.sessions.event)
        agreed = _check(sitting, body["kind"])
        found = recordings.track(session, sitting, track)
        if rules.is_known(place, found.chunks if found else 0):
            return schema.kept(found, sitting.status)
        if sitting.session and sitting.session.completed_at:
            sitting.session.updated_at = now()  # its result shows what is recorded
            session.flush()
        recordings.check_room(session, sitting, found, len(content))
        room.take(session, caller, len(content))
        told = {name: body[name] for name in ("kind", "media_type", "started_ms")}
        found = found or recordings.begin(session, sitting, agreed["days"], track=track, **told)
        recordings.add(session, found, kept.files[0], body["duration_ms"])
        session.flush()
        shown = schema.kept(found, sitting.status)
        kept.needed = True
    return shown


def show_recordings_page(session: Session, token: str) -> View:
    """Show the page that plays a sitting's recordings beside its answers."""
    sitting = recordings.unseal(session, token)
    if sitting is None:
        return pages.page("message.html", status=404, state="unknown")
    shown = schema.playback(
        sitting,
        answering.cases(session, sitting),
        violations.of(session, sitting),
        recordings.of(session, sitting),
    )
    return pages.page(
        "recordings.html",
        headers=PLAYED,
        brand=pages.brand(session, sitting.organisation_id),
        played=shown,
        token=token,
        name=sitting.invitation.name or sitting.invitation.email,
        title=sitting.invitation.assessment.title,
    )


def get_recording_chunk(begin: Begin, token: str, recording_id: UUID, number: str) -> File:
    """Hand out a chunk as it was sent."""
    with begin() as session:
        sitting = recordings.unseal(session, token)
        key = recordings.key(session, sitting, recording_id, int(number)) if sitting else None
    content = files.get(key) if key else None
    if content is None:
        raise NotFound
    return File(content, schema.MEDIA_TYPE, schema.HEADERS)


def _check(sitting: Sitting, kind: str) -> Mapping[str, Any]:
    """Return what the candidate agreed to, or refuse a chunk that is not of it."""
    if sitting.session is None:
        raise refusal(sitting.status)
    rules.check_open(sitting.status, sitting.session.completed_at, sitting.moment)
    return rules.agreement(sitting.session.recording, kind)
