"""Recordings: agreed to, sent in parts, shown in a result, played, and gone when their time is over."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import select, update

import store
from gateways import files
from rules import recordings as rules
from rules.clock import now
from store.accounts import room
from store.assessing.recordings import Recording
from store.assessing.sessions import CandidateSession
from store.database import secrets
from store.outbox import OutboxItem
from tests import recording
from tests.api import Api, Tenant
from tests.operations import states
from tests.operations.rows import Ids
from tests.probes import faults
from tests.recording import CANDIDATE, PICTURE, a_sitting, an_invitation, keys, rows, send
from workers import erasing, schedule


@pytest.fixture
def world(tenant: Tenant) -> Api:
    """Somebody without a key."""
    return Api(tenant.http, None, CANDIDATE)


@pytest.fixture
def little_room() -> Iterator[None]:
    before = room._most
    room._most = 2 * len(PICTURE)
    yield
    room._most = before


def submitted(world: Api, made: Ids) -> None:
    assert world.post(f"/invites/{made['token']}/submit/").status_code == 200


def result(api: Api, made: Ids) -> dict[str, Any]:
    answer = api.get(f"/invites/{made['token']}/result/")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def ended(made: Ids, ago: timedelta) -> None:
    """Let a sitting have ended so long ago."""
    with store.transaction() as session:
        mine = select(Recording.session_id).where(Recording.id == rows(made)[0].id)
        session.execute(
            update(CandidateSession).where(CandidateSession.id.in_(mine)).values(completed_at=now() - ago)
        )


def come_true(name: str) -> None:
    kind = next(one for one in schedule.KINDS if one.name == name)
    while kind.batch()[1]:
        pass


def let_go(owner: Tenant) -> None:
    """Do what the schedule left to do."""
    with store.transaction() as session:
        mine = (OutboxItem.job == "discard", OutboxItem.organisation_id == owner.organisation.id)
        asked = [(one.id, one.arguments) for one in session.scalars(select(OutboxItem).where(*mine))]
    for id, arguments in asked:
        erasing.discard(id, arguments)


def used(owner: Tenant) -> int:
    with store.transaction() as session:
        return int(
            session.scalar(
                select(room.FilesKept.bytes).where(room.FilesKept.organisation_id == owner.organisation.id)
            )
            or 0
        )


# --- Agreeing


def test_the_candidate_is_told_and_agrees_before_anything_is_recorded(tenant: Tenant, world: Api) -> None:
    made = an_invitation(tenant.live, "session", "webcam")
    at = f"/invites/{made['token']}/"
    told = world.get(at).json()["recording"]
    assert told["kinds"] == ["session", "webcam"]
    assert tenant.organisation.name in told["notice"]
    assert "90 days" in told["notice"]
    for accepted in ([], ["webcam"]):
        answer = world.post(f"{at}start/", {"recording_accepted": accepted})
        assert list(faults(answer)) == ["/recording_accepted"]
    started = world.post(f"{at}start/", {"recording_accepted": ["webcam", "session", "screen"]}).json()
    assert started["recording"] == told
    submitted(world, made)
    shown = result(tenant.live, made)
    assert (shown["recording_consent"]["notice"], shown["recordings"]) == (told["notice"], [])
    assert shown["recording_consent"]["accepted_at"] == shown["started_at"]


def test_a_setting_that_changes_after_the_start_records_no_more_than_was_agreed_to(
    tenant: Tenant, world: Api
) -> None:
    made = a_sitting(tenant.live, "session")
    tenant.live.patch(f"/assessments/{made['slug']}/update/", {"webcam_recording_enabled": True})
    assert world.get(f"/invites/{made['token']}/").json()["recording"]["kinds"] == ["session"]
    assert list(faults(send(tenant.live, made, kind="webcam"))) == ["/kind"]


def test_nothing_is_said_or_shown_where_nothing_is_recorded(tenant: Tenant, world: Api) -> None:
    slug = tenant.live.assessment(cases=1)["slug"]
    made = {"token": tenant.live.invitation(slug)["invite_token"], "track": str(uuid4())}
    at = f"/invites/{made['token']}/"
    assert "recording" not in world.get(at).json()
    assert "recording" not in world.post(f"{at}start/").json()
    assert list(faults(send(tenant.live, made))) == ["/kind"]
    submitted(world, made)
    assert {"recordings", "recording_consent"}.isdisjoint(result(tenant.live, made))


def test_camera_and_screen_are_open_to_the_page_that_asks_for_them_alone(tenant: Tenant) -> None:
    policies = {}
    for kinds in (("session",), ("webcam",), ("screen",)):
        made = an_invitation(tenant.live, *kinds)
        policies[kinds[0]] = tenant.http.get(f"/take/{made['token']}").headers["Permissions-Policy"]
    assert "camera=()" in policies["session"]
    assert "display-capture=()" in policies["session"]
    assert "camera=(self)" in policies["webcam"]
    assert "display-capture=()" in policies["webcam"]
    assert "display-capture=(self)" in policies["screen"]
    assert all("microphone=()" in one for one in policies.values())


# --- Sending


def test_parts_are_kept_in_their_order_and_once(tenant: Tenant) -> None:
    made = a_sitting(tenant.live)
    assert send(tenant.live, made, 0, content=PICTURE + b"0").json()["chunks"] == 1
    assert list(faults(send(tenant.live, made, 2))) == ["/number"]
    assert send(tenant.live, made, 1, content=PICTURE + b"1").json()["chunks"] == 2
    again = send(tenant.live, made, 0, content=PICTURE + b"another")
    assert (again.status_code, again.json()["chunks"]) == (200, 2)
    assert [files.get(key) for key in keys(made)] == [PICTURE + b"0", PICTURE + b"1"]
    [row] = rows(made)
    assert (row.duration_ms, row.size_bytes, row.chunks) == (10_000, 2 * len(PICTURE) + 2, 2)
    assert used(tenant) == row.size_bytes


def test_a_part_that_comes_many_times_at_once_is_kept_once(tenant: Tenant) -> None:
    made = a_sitting(tenant.live)
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: send(tenant.live, made), range(6)))
    assert {one.status_code for one in answers} == {200}
    assert (len(keys(made)), used(tenant)) == (1, len(PICTURE))


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"content": b""}, "/content"),
        ({"kind": "session", "content": b"{}"}, "/content"),
        ({"media_type": "application/json"}, "/media_type"),
        ({"media_type": "image/png"}, "/media_type"),
        ({"kind": "microphone"}, "/kind"),
        ({"started_ms": "-1"}, "/started_ms"),
        ({"duration_ms": "600001"}, "/duration_ms"),
    ],
)
def test_what_is_no_part_is_refused_where_it_is_wrong(
    tenant: Tenant, more: dict[str, Any], pointer: str
) -> None:
    made = a_sitting(tenant.live)
    assert pointer in faults(send(tenant.live, made, **more))
    assert rows(made) == []


def test_a_part_before_the_start_is_refused_and_one_of_nobody_is_not_found(tenant: Tenant) -> None:
    made = an_invitation(tenant.live)
    assert send(tenant.live, made).json()["error"]["details"]["status"] == "pending"
    assert send(tenant.live, made | {"token": "nobody"}).status_code == 404
    late = send(tenant.live, made | {"token": states.an_expired_invitation(tenant.live)["token"]})
    assert (late.status_code, late.json()["error"]["code"]) == (400, "INVITATION_EXPIRED")


def test_the_last_parts_are_taken_for_a_day_after_the_end(tenant: Tenant, world: Api) -> None:
    made = a_sitting(tenant.live)
    send(tenant.live, made, 0)
    submitted(world, made)
    assert send(tenant.live, made, 1).status_code == 200
    ended(made, timedelta(hours=25))
    late = send(tenant.live, made, 2)
    assert (late.status_code, late.json()["error"]["code"]) == (409, "SESSION_CLOSED")


def test_a_full_room_refuses_recordings_and_leaves_the_test_alone(
    tenant: Tenant, world: Api, little_room: None
) -> None:
    made = a_sitting(tenant.live)
    assert [send(tenant.live, made, number).status_code for number in range(3)] == [200, 200, 403]
    assert len(keys(made)) == 2
    [case, *_] = world.get(f"/invites/{made['token']}/").json()["cases"]
    saved = world.put(f"/invites/{made['token']}/answers/{case['assessment_case_id']}/", {"answer": None})
    assert saved.status_code == 200
    submitted(world, made)


def test_a_sitting_has_room_for_so_much(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    made = a_sitting(tenant.live)
    monkeypatch.setattr(rules, "MOST_BYTES", len(PICTURE))
    assert [send(tenant.live, made, number).status_code for number in range(2)] == [200, 403]
    monkeypatch.undo()
    monkeypatch.setattr(rules, "MOST_TRACKS", 1)
    assert send(tenant.live, made | {"track": str(uuid4())}).status_code == 403
    monkeypatch.setattr(rules, "MOST_CHUNKS", 1)
    assert send(tenant.live, made, 1).json()["error"]["code"] == "LIMIT_REACHED"
    assert len(keys(made)) == 1


def test_a_part_that_came_to_nothing_leaves_no_bytes(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    made, put = a_sitting(tenant.live), []

    def note(key: str, content: bytes, keep: Any = files.put) -> None:
        put.append(key)
        keep(key, content)

    monkeypatch.setattr(files, "put", note)
    monkeypatch.setattr(rules, "MOST_BYTES", 0)
    assert send(tenant.live, made).status_code == 403
    assert [files.get(key) for key in put] == [None]


# --- Looking


def test_a_result_lists_its_recordings_with_links_that_play_them(tenant: Tenant, world: Api) -> None:
    made = a_sitting(tenant.live)
    send(tenant.live, made, 0, kind="session")
    send(tenant.live, made | {"track": str(uuid4())}, 0, kind="screen", started_ms="65000")
    submitted(world, made)
    shown = result(tenant.live, made)["recordings"]
    assert [(one["kind"], one["duration_seconds"]) for one in shown] == [("session", 5), ("screen", 5)]
    path = shown[0]["url"].split("//")[1].partition("/")[2]
    page = tenant.http.get(f"/{path}")
    assert page.status_code == 200
    assert "style-src 'self' 'unsafe-inline'" in page.headers["Content-Security-Policy"]
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]
    token = path.rpartition("/")[2]
    for row in rows(made):
        got = world.get(f"/recordings/{token}/{row.id}/0/")
        assert got.status_code == 200
        assert got.headers["content-type"] == "application/octet-stream"
        assert world.get(f"/recordings/{token}/{row.id}/1/").status_code == 404


def test_a_link_opens_its_own_sitting_for_six_hours(
    tenant: Tenant, world: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = recording.a_recording(tenant.live), recording.a_recording(tenant.live)
    at = f"/recordings/{mine['token']}/"
    assert world.get(f"{at}{mine['recording_id']}/0/").status_code == 200
    assert world.get(f"{at}{theirs['recording_id']}/0/").status_code == 404
    for token in ("nobody", secrets.encrypt("another secret")):
        assert world.get(f"/recordings/{token}/{mine['recording_id']}/0/").status_code == 404
        assert tenant.http.get(f"/recordings/{token}").status_code == 404
    monkeypatch.setattr(rules, "LINK_FOR", timedelta(seconds=-1))
    assert world.get(f"{at}{mine['recording_id']}/0/").status_code == 404
    assert tenant.http.get(f"/recordings/{mine['token']}").status_code == 404


# --- Letting go


def test_recordings_go_when_the_time_is_over_that_the_candidate_was_told(tenant: Tenant) -> None:
    tenant.live.patch("/org/settings/", {"retention_days": {"recordings": 30}})
    made = a_sitting(tenant.live)
    send(tenant.live, made, 0)
    send(tenant.live, made, 1)
    tenant.live.patch("/org/settings/", {"retention_days": {"recordings": 365}})
    send(tenant.live, made | {"track": str(uuid4())})
    assert {(one.kept_until - one.created_at).days for one in rows(made)} <= {29, 30}
    there = keys(made)
    come_true("recordings")
    assert len(rows(made)) == 2
    with store.transaction() as session:
        mine = Recording.id.in_([one.id for one in rows(made)])
        session.execute(update(Recording).where(mine).values(kept_until=now()))
    come_true("recordings")
    assert (rows(made), used(tenant)) == ([], 0)
    assert None not in [files.get(key) for key in there]
    let_go(tenant)
    assert {files.get(key) for key in there} == {None}


def test_fewer_days_count_for_what_is_kept_already(tenant: Tenant, other: Tenant) -> None:
    sittings = [(owner, a_sitting(owner.live)) for owner in (tenant, other)]
    for owner, made in sittings:
        send(owner.live, made)
        with store.transaction() as session:
            mine = update(Recording).where(Recording.id == rows(made)[0].id)
            session.execute(mine.values(created_at=now() - timedelta(days=8)))
    tenant.live.patch("/org/settings/", {"retention_days": {"recordings": 7}})
    come_true("recordings kept shorter")
    assert [len(rows(made)) for _, made in sittings] == [0, 1]


def test_erasing_a_person_takes_the_recordings_along(tenant: Tenant) -> None:
    made = a_sitting(tenant.live)
    send(tenant.live, made)
    [key] = keys(made)
    person = tenant.live.get("/candidates/").json()["results"][0]
    exported = tenant.live.get(f"/candidates/{person['id']}/export/").json()
    [sitting] = exported["invitations"][0]["sessions"]
    [track] = sitting["recordings"]
    assert (track["kind"], track["duration_ms"], "/recordings/" in track["url"]) == ("webcam", 5000, True)
    assert sitting["recording"]["notice"]
    done = tenant.live.post(f"/candidates/{person['id']}/erase/").json()
    assert done["counts"]["recordings"] == 1
    assert (keys(made), used(tenant)) == ([], 0)
    with store.transaction() as session:
        mine = (OutboxItem.job == "erase", OutboxItem.organisation_id == tenant.organisation.id)
        asked = [(one.id, one.arguments) for one in session.scalars(select(OutboxItem).where(*mine))]
    for id, arguments in asked:
        erasing.erase(id, arguments)
    assert files.get(key) is None
