"""Sittings that are recorded, and what a candidate's page sends of them."""

import json
from typing import Any
from uuid import uuid4

from sqlalchemy import select

import store
from store.assessing import recordings
from store.assessing.invitations import Invitation
from store.assessing.recordings import Recording, RecordingChunk
from store.assessing.sessions import CandidateSession
from tests.api import Api, address
from tests.operations.rows import Ids

ALL = ("session", "screen", "webcam")
STEPS = json.dumps([{"type": 4, "data": {"href": "/", "width": 800, "height": 600}, "timestamp": 1}]).encode()
PICTURE = b"\x1aE\xdf\xa3 a video, as far as the service can tell"
CANDIDATE = "/api/v1/candidate"


def asking(*kinds: str) -> dict[str, bool]:
    """The settings of an assessment that asks for kinds of recording."""
    return {f"{kind}_recording_enabled": True for kind in kinds}


def an_invitation(api: Api, *kinds: str) -> Ids:
    slug = api.assessment(cases=1, **asking(*(kinds or ALL)))["slug"]
    made = api.invitation(slug, address())
    return {"slug": slug, "token": made["invite_token"], "track": str(uuid4()), "number": "0"}


def a_sitting(api: Api, *kinds: str) -> Ids:
    made = an_invitation(api, *kinds)
    accepted = {"recording_accepted": list(kinds or ALL)}
    answer = Api(api.http, None, CANDIDATE).post(f"/invites/{made['token']}/start/", accepted)
    assert answer.status_code == 200, answer.text
    return made


def a_result(api: Api) -> Ids:
    """A sitting that is over, of which the last parts are still on their way."""
    made = a_sitting(api)
    answer = Api(api.http, None, CANDIDATE).post(f"/invites/{made['token']}/submit/")
    assert answer.status_code == 200, answer.text
    return made


def send(
    api: Api, made: Ids, number: int = 0, *, kind: str = "webcam", content: bytes | None = None, **more: Any
) -> Any:
    """Send a part, as the page does."""
    steps = kind == "session"
    told = {
        "kind": kind,
        "media_type": "application/json" if steps else "video/webm",
        "started_ms": "1000",
        "duration_ms": "5000",
    } | more
    sent = (STEPS if steps else PICTURE) if content is None else content
    parts: dict[str, Any] = {name: (None, text) for name, text in told.items()}
    return Api(api.http, None, CANDIDATE).request(
        "PUT",
        f"/invites/{made['token']}/recordings/{made['track']}/{number}/",
        files=parts | {"content": ("chunk", sent, "application/octet-stream")},
    )


def a_recording(api: Api) -> Ids:
    """A recorded sitting with the token of its link."""
    made = a_sitting(api)
    kept = send(api, made)
    assert kept.status_code == 200, kept.text
    return {"token": link(made), "recording_id": kept.json()["recording_id"], "number": "0"}


def link(made: Ids) -> str:
    """The token of a link to a sitting's recordings."""
    with store.transaction() as session:
        id = session.scalars(
            select(CandidateSession.id).join(Invitation).where(Invitation.token == made["token"])
        ).one()
    return recordings.seal(id)


def rows(made: Ids) -> list[Recording]:
    with store.transaction() as session:
        mine = select(Recording).join(CandidateSession, CandidateSession.id == Recording.session_id)
        return list(
            session.scalars(
                mine.join(Invitation).where(Invitation.token == made["token"]).order_by(Recording.id)
            )
        )


def keys(made: Ids) -> list[str]:
    """Where the bytes of a sitting's recordings are."""
    ids = [one.id for one in rows(made)]
    with store.transaction() as session:
        mine = select(RecordingChunk.key).where(RecordingChunk.recording_id.in_(ids))
        return list(session.scalars(mine.order_by(RecordingChunk.recording_id, RecordingChunk.number)))
