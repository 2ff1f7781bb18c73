"""Files that are added to applications."""

import io
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

import store
from gateways import files
from store.accounts import room
from store.applying.attachments import Attachment
from store.outbox import OutboxItem
from tests.api import Api, Tenant
from tests.operations import states
from tests.probes import faults
from workers import screening

TEXT = b"Ada Lovelace\nPython since 2015\n"
PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"


@pytest.fixture
def application(tenant: Tenant) -> str:
    return applied(tenant.live)


def applied(api: Api, *requirements: dict[str, Any], **sent: Any) -> str:
    job = api.job(published=True)["slug"]
    api.put(f"/jobs/{job}/requirements/replace/", {"requirements": list(requirements)})
    form = {"job_slug": job, "email": states.address(), "full_name": "Ada Lovelace"}
    return str(states.post(api, "/applications/create/", data=form, files=sent)["id"])


def upload(api: Api, id: str, content: bytes = TEXT, name: str = "note.txt", **fields: str) -> Any:
    return api.post(f"/applications/{id}/attachments/", data=fields, files={"file": (name, content)})


def seen(api: Api, id: str) -> dict[str, Any]:
    return dict(api.get(f"/applications/{id}/").json())


def keys(id: str) -> list[str]:
    with store.transaction() as session:
        found = select(Attachment.key).where(Attachment.application_id == UUID(id))
        return list(session.scalars(found.order_by(Attachment.id)))


def asked(id: str) -> list[dict[str, Any]]:
    with store.transaction() as session:
        found = session.scalars(select(OutboxItem).where(OutboxItem.job == "screen").order_by(OutboxItem.id))
        return [one.arguments for one in found if one.arguments["application_id"] == id]


def screen(id: str) -> None:
    for arguments in asked(id):
        screening.screen(UUID(int=0), arguments)


def told(api: Api, type: str) -> list[dict[str, Any]]:
    return [one["data"] for one in api.get("/events/", params={"type": type}).json()["results"]]


def skill(name: str) -> dict[str, Any]:
    return {"kind": "skill", "label": name, "key": name.lower()}


@pytest.fixture
def little_room() -> Iterator[None]:
    before = room._most
    room.configure(most_mb=1)
    yield
    room._most = before


# --- Adding


@pytest.mark.parametrize("kind", ["cv", "cover_letter", "other", None])
def test_a_file_is_added_shown_and_downloaded(tenant: Tenant, application: str, kind: str | None) -> None:
    before = seen(tenant.live, application)
    answer = upload(tenant.live, application, PDF, "../Ada's degree.txt", **({"kind": kind} if kind else {}))
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert (made["kind"], made["filename"]) == (kind or "other", "Ada's degree.txt")
    assert (made["content_type"], made["size_bytes"]) == ("application/pdf", len(PDF))
    after = seen(tenant.live, application)
    assert after["attachments"] == [made]
    assert after["updated_at"] > before["updated_at"]
    got = tenant.live.get(f"/applications/{application}/attachments/{made['id']}/")
    assert (got.content, got.headers["content-type"]) == (PDF, "application/pdf")
    assert got.headers["content-disposition"].startswith("attachment")


def archive() -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as one:
        one.writestr("a.txt", "a")
    return written.getvalue()


@pytest.mark.parametrize(
    ("content", "name"),
    [(b"", "empty.pdf"), (b"\x89PNG\r\n\x1a\n", "cv.pdf"), (archive(), "cv.docx"), (bytes(100), "cv.txt")],
)
def test_a_file_that_is_none_of_the_three_is_refused(
    tenant: Tenant, application: str, content: bytes, name: str
) -> None:
    assert list(faults(upload(tenant.live, application, content, name))) == ["/file"]
    assert seen(tenant.live, application)["attachments"] == []


def test_what_is_no_upload_is_refused(tenant: Tenant, application: str) -> None:
    at = f"/applications/{application}/attachments/"
    assert "/kind" in faults(upload(tenant.live, application, kind="photo"))
    assert "/no_such_field" in faults(upload(tenant.live, application, no_such_field="1"))
    assert "/file" in faults(tenant.live.post(at, files={"kind": (None, "cv")}))
    assert "/file" in faults(tenant.live.post(at, files={"file": (None, "a text")}))
    assert tenant.live.post(at, {"kind": "cv"}).status_code == 415
    assert tenant.live.post(at).status_code in (400, 415)
    large = b"a" * (10 * 1024 * 1024 + 1)
    assert upload(tenant.live, application, large).status_code in (400, 413)


def test_the_application_is_one_of_the_organisations_in_the_mode(
    tenant: Tenant, other: Tenant, application: str
) -> None:
    for api, id in ((tenant.test, application), (other.live, application), (tenant.live, str(uuid4()))):
        assert upload(api, id).status_code == 404
    assert keys(application) == []


def test_an_application_has_at_most_twenty_files_however_many_come_at_once(
    tenant: Tenant, application: str
) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: upload(tenant.live, application), range(30)))
    assert [answer.status_code for answer in answers].count(201) == 20
    refused = [answer.json()["error"] for answer in answers if answer.status_code != 201]
    assert {one["code"] for one in refused} == {"LIMIT_REACHED"}
    assert refused[0]["details"]["limit"] == refused[0]["details"]["used"] == 20
    assert len(seen(tenant.live, application)["attachments"]) == 20


def test_the_room_of_the_organisation_is_counted_and_never_passed(
    tenant: Tenant, application: str, little_room: None, stored: set[str]
) -> None:
    content = b"a line\n" * 50_000  # 350 kB: two go into 1 MB
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: upload(tenant.live, application, content), range(6)))
    assert sorted(answer.status_code for answer in answers) == [201] * 2 + [403] * 4
    assert {answer.json()["error"]["code"] for answer in answers if answer.status_code == 403} == {
        "LIMIT_REACHED"
    }
    assert stored == set(keys(application))


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of the files that are kept from now on."""
    kept: set[str] = set()
    put, delete = files.put, files.delete

    def noting(key: str, content: bytes) -> None:
        put(key, content)
        kept.add(key)

    def forgetting(key: str) -> None:
        delete(key)
        kept.discard(key)

    monkeypatch.setattr(files, "put", noting)
    monkeypatch.setattr(files, "delete", forgetting)
    return kept


# --- A new CV


def test_a_new_cv_is_read_and_scored_instead_of_the_one_before(tenant: Tenant) -> None:
    api = tenant.live
    id = applied(api, skill("Python"), skill("Java"), cv=("cv.txt", b"Ada Lovelace\n\nSkills: Java\n"))
    screen(id)
    before = seen(api, id)["screening"]
    assert upload(api, id, b"Ada Lovelace\n\nSkills: Java, Python\n", kind="cv").status_code == 201
    waiting = seen(api, id)["screening"]
    assert (waiting["status"], waiting["l3_score"]) == ("pending", before["l3_score"])
    screen(id)
    after = seen(api, id)
    assert after["screening"]["status"] == before["status"] == "scored"
    assert float(after["screening"]["l3_score"]) > float(before["l3_score"])
    assert [one["type"] for one in after["events"]] == ["submitted", "screened", "screened"]
    assert len(told(api, "application.screened")) == 2
    assert [one["kind"] for one in after["attachments"]] == ["cv", "cv"]


@pytest.mark.parametrize("kind", ["cover_letter", "other"])
def test_another_file_is_not_scored(tenant: Tenant, kind: str) -> None:
    id = applied(tenant.live, cv=("cv.txt", TEXT))
    screen(id)
    before = seen(tenant.live, id)["screening"]
    upload(tenant.live, id, kind=kind)
    assert len(asked(id)) == 1
    assert seen(tenant.live, id)["screening"] == before


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_cv_that_comes_while_the_one_before_is_read_is_the_one_that_counts(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, by_hand: bool
) -> None:
    api = tenant.live
    id = applied(api, skill("Python"), cv=("cv.txt", b"Ada Lovelace\n\nSkills: Java\n"))
    if by_hand:
        screen(id)
    run, late = screening.gateways.screening.run, [b"Ada Lovelace\n\nSkills: Python\n"]

    def meanwhile(*given: Any, **options: Any) -> Any:
        outcome = run(*given, **options)
        if late:
            assert upload(api, id, late.pop(), kind="cv").status_code == 201
        return outcome

    monkeypatch.setattr(screening.gateways.screening, "run", meanwhile)
    if by_hand:
        rerun = api.post(f"/applications/{id}/screening/rerun/", {"action": "full"})
        assert rerun.json()["status"] == "pending"
    else:
        screen(id)  # what was asked for with the application
        assert seen(api, id)["screening"]["status"] == "pending"
    screen(id)
    assert seen(api, id)["screening"]["l3_score"] == "100.00"


def test_who_reaches_the_threshold_by_a_new_cv_is_advanced(tenant: Tenant) -> None:
    api = tenant.live
    id = applied(api, skill("Python"), cv=("cv.txt", b"Ada Lovelace\n"))
    auto = {"screen_auto_advance_enabled": True, "screen_auto_advance_l3_min": "50"}
    assert api.patch(f"/jobs/{seen(api, id)['job_slug']}/update/", auto).status_code == 200
    screen(id)
    assert seen(api, id)["status"] == "submitted"
    upload(api, id, b"Ada Lovelace\n\nSkills: Python\n", kind="cv")
    screen(id)
    assert (seen(api, id)["status"], seen(api, id)["screening"]["auto_advanced"]) == ("advanced", True)


# --- What belongs to a person


def test_a_persons_files_are_handed_out_moved_and_erased_with_them(
    tenant: Tenant, application: str, stored: set[str]
) -> None:
    api = tenant.live
    second = applied(api)
    for id, kind in ((application, "other"), (second, "cv")):
        upload(api, id, kind=kind)
    person, source = (seen(api, id)["candidate_id"] for id in (application, second))
    states.post(api, f"/candidates/{person}/merge/", {"source_id": source})
    exported = api.get(f"/candidates/{person}/export/").json()
    assert len(exported["files"]) == 2
    erased = states.post(api, f"/candidates/{person}/erase/")
    assert erased["counts"]["files"] == 2
    for id in (application, second):
        assert seen(api, id)["attachments"] == []
        answer = upload(api, id)
        assert answer.json()["error"]["details"]["status"] == "withdrawn"
    assert len(stored) <= 2  # what erasing deletes goes after the commit


# --- Where an application came from


@pytest.mark.parametrize("source", ["public_api", "manual", "import", None])
def test_an_application_says_where_it_came_from(tenant: Tenant, source: str | None) -> None:
    api, job = tenant.live, tenant.live.job(published=True)["slug"]
    made = api.application(job, **({"source": source} if source else {}))
    assert made["source"] == seen(api, made["id"])["source"] == (source or "public_api")
    assert told(api, "application.submitted")[0]["source"] == made["source"]
    again = {"job_slug": job, "email": made["email"], "full_name": "Ada", "source": "manual"}
    assert api.post("/applications/create/", again).json()["source"] == made["source"]
    words = {"manual": "Added by hand", "import": "Import"}.get(made["source"], "API")
    assert api.get(f"/candidates/{made['candidate_id']}/").json()["source_summary"] == words


@pytest.mark.parametrize("source", ["public_careers", "agency", ""])
def test_no_other_source_is_taken(tenant: Tenant, source: str) -> None:
    job = tenant.live.job(published=True)["slug"]
    body = {"job_slug": job, "email": states.address(), "full_name": "Ada", "source": source}
    assert list(faults(tenant.live.post("/applications/create/", body))) == ["/source"]


@pytest.mark.parametrize(("source", "count"), [("public_api", 1), ("manual", 0), ("import", 0)])
def test_who_did_not_apply_themselves_gets_no_receipt(tenant: Tenant, source: str, count: int) -> None:
    tenant.live.patch("/org/settings/", {"receipt_mail": True})
    made = tenant.live.application(tenant.live.job(published=True)["slug"], source=source)
    with store.transaction() as session:
        sent = select(OutboxItem.arguments).where(OutboxItem.job == "mail")
        assert [one.get("to") for one in session.scalars(sent)].count(made["email"]) == count
