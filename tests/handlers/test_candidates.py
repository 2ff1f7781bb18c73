"""One profile for each person: made by what happens, found, judged, and merged."""

from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, text

import store
from app.instance.settings import Settings
from gateways import files
from rules.caller import Caller
from store.accounts import idempotency
from store.accounts.idempotency import IdempotentAnswer
from store.applying.attachments import Attachment
from store.database.prepared import Prepared
from store.outbox import OutboxItem
from store.people import erasing as store_erasing
from tests.api import Api, Tenant, address
from tests.hooks import wired
from tests.operations import states
from workers import erasing, mail

__all__ = ["wired"]


def found(api: Api, **query: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = api.get("/candidates/", params=query).json()["results"]
    return rows


def applied(api: Api, email: str | None = None, **fields: Any) -> dict[str, Any]:
    return api.application(api.job(published=True)["slug"], email, **fields)


def told(api: Api, type: str) -> list[dict[str, Any]]:
    return [one["data"] for one in api.get("/events/", params={"type": type}).json()["results"]]


@pytest.mark.parametrize("mode", ["live", "test"])
def test_everything_of_one_address_comes_to_one_profile(tenant: Tenant, mode: str) -> None:
    api: Api = getattr(tenant, mode)
    email = address()
    slug, other = api.assessment()["slug"], api.assessment()["slug"]
    api.invitation(slug, email)
    candidates = [{"email": email.upper(), "name": "Ada"}, {"email": address()}]
    assert api.post(f"/assessments/{other}/invites/bulk/", {"candidates": candidates}).status_code == 201
    made = applied(api, email.capitalize(), phone="+351 1")
    pipeline = api.pipeline({"stage_type": "assessment", "assessment_slug": api.assessment()["slug"]})
    enrolled = api.post(f"/pipelines/{pipeline['slug']}/enroll/", {"email": email})
    assert enrolled.status_code == 201
    shown = api.get(f"/candidates/{made['candidate_id']}/").json()
    assert (shown["email"], shown["full_name"], shown["phone"]) == (email, "Ada", "+351 1")
    assert (shown["application_count"], shown["invitation_count"]) == (1, 3)
    assert shown["source_summary"] == "Invitation"
    [row] = found(api, search=email)
    assert {name: shown[name] for name in row} == row
    invitations = api.get("/invites/", params={"email": email}).json()["results"]
    assert {one["candidate_id"] for one in invitations} == {made["candidate_id"]}


def test_the_modes_of_an_organisation_know_people_apart(tenant: Tenant) -> None:
    email = address()
    live, test = applied(tenant.live, email), applied(tenant.test, email)
    assert live["candidate_id"] != test["candidate_id"]
    assert tenant.test.get(f"/candidates/{live['candidate_id']}/").status_code == 404


@pytest.mark.parametrize(
    ("search", "is_found"),
    [
        ("lovel", True),
        ("LOVEL", True),
        ("a L", True),
        ("ove", True),
        ("lo", True),
        ("l", True),
        ("ve", False),
        ("ada.lov", True),
        ("lovelacé", True),
        ("@", False),
        ("Ł", True),
        ("ł", True),
        ("王", True),
        ("zebra@", True),
        ("ebr", True),
        ("berlin", True),
        ("berli", False),
        ("zebrb", False),
        ("l%l", False),
        ("l_v", False),
        ("\\", False),
        ("qq", False),
        ("", True),
    ],
)
def test_a_search_finds_parts_of_name_or_address_by_three_letters_beginnings_by_fewer_and_whole_tags(
    tenant: Tenant, search: str, is_found: bool
) -> None:
    api = tenant.live
    made = applied(api, f"zebra@{address().partition('@')[2]}", full_name="Ada Lovelace Ł 王")
    assert api.put(f"/candidates/{made['candidate_id']}/tags/", {"tags": ["berlin"]}).status_code == 200
    assert bool(found(api, search=search)) == is_found


def test_a_profile_is_changed_archived_and_told_of(tenant: Tenant) -> None:
    api = tenant.live
    id = applied(api)["candidate_id"]
    changed = api.patch(f"/candidates/{id}/", {"full_name": "Ada King", "archived": True}).json()
    assert changed["full_name"] == "Ada King"
    assert found(api) == []
    assert [one["id"] for one in found(api, include_archived=True)] == [id]
    again = api.patch(f"/candidates/{id}/", {"archived": True}).json()
    assert again["archived_at"] == changed["archived_at"]
    assert api.patch(f"/candidates/{id}/", {"archived": False}).json()["archived_at"] is None
    assert [one["id"] for one in found(api)] == [id]
    first, *_ = told(api, "candidate.updated")
    assert (first["candidate_id"], first["full_name"]) == (id, "Ada King")


def test_notes_and_scorecards_are_kept_and_the_newest_shown(tenant: Tenant) -> None:
    api = tenant.live
    id = applied(api)["candidate_id"]
    for number in range(21):
        assert api.post(f"/candidates/{id}/notes/", {"body": f"Note {number}"}).status_code == 201
    assert api.post(f"/candidates/{id}/notes/", {"body": " \n"}).status_code == 400
    card = {"total": "-007.5", "criteria": [{"name": "SQL", "score": 4.25}]}
    made = api.post(f"/candidates/{id}/scorecards/", card).json()
    assert (made["total"], made["criteria"], made["author_id"]) == ("-7.50", card["criteria"], None)
    shown = api.get(f"/candidates/{id}/").json()
    assert [one["body"] for one in shown["notes"]] == [f"Note {number}" for number in range(20, 0, -1)]
    assert shown["scorecards"] == [made]
    assert len(api.get(f"/candidates/{id}/notes/", params={"page_size": 100}).json()["results"]) == 21
    note = told(api, "candidate.note_added")[0]
    assert note["candidate_id"] == id
    assert set(note["note"]) == {"id", "created_at"}


@pytest.mark.parametrize("total", ["1234567", "1.234", "+1", ".5", "1.", "1e3", " 1", "", "١", 1000000, True])
def test_a_total_beyond_its_bounds_is_refused(tenant: Tenant, total: Any) -> None:
    id = applied(tenant.live)["candidate_id"]
    answer = tenant.live.post(f"/candidates/{id}/scorecards/", {"total": total})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    ("total", "kept"),
    [("999999.99", "999999.99"), ("-0", "0.00"), ("000001", "1.00"), (4.5, "4.50"), (-3, "-3.00")],
)
def test_a_total_is_kept_exactly(tenant: Tenant, total: Any, kept: str) -> None:
    id = applied(tenant.live)["candidate_id"]
    assert tenant.live.post(f"/candidates/{id}/scorecards/", {"total": total}).json()["total"] == kept


def test_a_scorecard_names_an_application_of_its_candidate_alone(tenant: Tenant) -> None:
    api = tenant.live
    mine, other = applied(api), applied(api)
    answer = api.post(
        f"/candidates/{mine['candidate_id']}/scorecards/", {"total": 1, "application_id": other["id"]}
    )
    assert answer.status_code == 404


def test_tags_are_replaced_as_a_whole_each_once(tenant: Tenant) -> None:
    api = tenant.live
    id = applied(api)["candidate_id"]
    assert api.put(f"/candidates/{id}/tags/", {"tags": ["b", "a", "b"]}).json() == {"tags": ["b", "a"]}
    assert api.get(f"/candidates/{id}/tags/").json()["tags"] == ["b", "a"]
    assert [one["id"] for one in found(api, tag="a")] == [id]
    assert found(api, tag="A") == []


# --- Merging


def test_merging_moves_everything_and_leads_on(tenant: Tenant) -> None:
    api = tenant.live
    job = api.job(published=True)["slug"]
    old, new = address(), address()
    mine = api.application(job, new)
    theirs = api.application(job, old, full_name="Ada K", phone="+351 2")
    survivor, source = mine["candidate_id"], theirs["candidate_id"]
    invited = api.invitation(api.assessment()["slug"], old)
    api.put(f"/candidates/{survivor}/tags/", {"tags": ["a", "b"]})
    api.put(f"/candidates/{source}/tags/", {"tags": ["b", "c"]})
    api.post(f"/candidates/{source}/notes/", {"body": "Hello"})
    api.post(f"/candidates/{source}/scorecards/", {"total": 1, "application_id": theirs["id"]})
    shown = api.post(f"/candidates/{survivor}/merge/", {"source_id": source}).json()
    assert (shown["id"], shown["tags"], shown["phone"]) == (survivor, ["a", "b", "c"], "+351 2")
    assert (shown["application_count"], shown["invitation_count"]) == (2, 1)
    assert [one["body"] for one in shown["notes"]] == ["Hello"]
    assert len(shown["scorecards"]) == 1
    [data] = told(api, "candidate.merged")
    assert (data["candidate_id"], data["merged_candidate_id"]) == (survivor, source)
    assert {one["candidate_id"] for one in api.get("/applications/").json()["results"]} == {survivor}
    assert api.get(f"/applications/{theirs['id']}/").json()["email"] == old
    assert api.get(f"/invites/{invited['invite_token']}/").json()["candidate_id"] == survivor
    gone = api.get(f"/candidates/{source}/")
    assert (gone.status_code, gone.json()["error"]["details"]["merged_into"]) == (404, survivor)
    assert [one["id"] for one in found(api, include_archived=True)] == [survivor]
    assert applied(api, old)["candidate_id"] == survivor
    api.invitation(api.assessment()["slug"], old)
    assert api.get(f"/candidates/{survivor}/").json()["invitation_count"] == 2


def test_a_merged_profile_leads_to_where_its_survivor_went(tenant: Tenant) -> None:
    api = tenant.live
    first, second, third = (applied(api)["candidate_id"] for _ in range(3))
    assert api.post(f"/candidates/{second}/merge/", {"source_id": first}).status_code == 200
    assert api.post(f"/candidates/{third}/merge/", {"source_id": second}).status_code == 200
    for gone in (first, second):
        assert api.get(f"/candidates/{gone}/").json()["error"]["details"]["merged_into"] == third


def test_merging_with_oneself_and_with_who_is_gone_is_refused(tenant: Tenant, other: Tenant) -> None:
    api = tenant.live
    first, second = (applied(api)["candidate_id"] for _ in range(2))
    assert api.post(f"/candidates/{first}/merge/", {"source_id": first}).status_code == 400
    assert api.post(f"/candidates/{first}/merge/", {"source_id": second}).status_code == 200
    assert api.post(f"/candidates/{first}/merge/", {"source_id": second}).status_code == 404
    assert api.post(f"/candidates/{second}/merge/", {"source_id": first}).status_code == 404
    stranger = applied(other.live)["candidate_id"]
    assert api.post(f"/candidates/{first}/merge/", {"source_id": stranger}).status_code == 404


def test_merges_that_cross_and_invites_beside_them_leave_one_profile(tenant: Tenant) -> None:
    api = tenant.live
    for _ in range(5):
        emails = [address(), address()]
        ids = [applied(api, email)["candidate_id"] for email in emails]
        slug = api.assessment()["slug"]
        with ThreadPoolExecutor(4) as pool:
            merges = [
                pool.submit(api.post, f"/candidates/{a}/merge/", {"source_id": b})
                for a, b in (ids, ids[::-1])
            ]
            invites = [pool.submit(api.invitation, slug, email) for email in emails]
        assert sorted(one.result().status_code for one in merges) == [200, 404]
        assert [one.result()["status"] for one in invites] == ["pending", "pending"]
        [survivor] = [id for id in ids if api.get(f"/candidates/{id}/").status_code == 200]
        assert api.get(f"/candidates/{survivor}/").json()["invitation_count"] == 2


# --- Erasing and handing out

NAME, PHONE, WORDS = "Zephyrine Quillfeather", "+351 987 654 321", "Kraftwerk-Zwölfton"
TABLES = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"


def dump() -> str:
    """Every row of every table, as text."""
    with store.transaction() as session:
        tables = session.scalars(text(TABLES)).all()
        rows = [session.scalars(text(f'SELECT CAST(one AS text) FROM "{name}" AS one')) for name in tables]
        return "\n".join(str(row) for found in rows for row in found)


def a_person(api: Api, email: str) -> dict[str, Any]:
    """Somebody of whom something is held in every place."""
    slug = api.assessment(cases=2)["slug"]
    pipeline = api.pipeline({"stage_type": "assessment", "assessment_slug": slug})["slug"]
    job = api.job(published=True)["slug"]
    person = {"email": email, "full_name": NAME, "phone": PHONE, "external_id": f"{NAME}-7"}
    cv = {"cv": ("cv.txt", f"{NAME}\n{email}\nSkills: {WORDS}\n".encode())}
    made = states.post(api, "/applications/create/", data={"job_slug": job, **person}, files=cv)
    invited = states.post(
        api, f"/assessments/{slug}/invites/", {"email": email, "name": NAME, "send_email": True}
    )
    place = f"/invites/{invited['invite_token']}"
    shown = states.post(states.candidate(api), f"{place}/start/")
    answered = f"{place}/answers/{shown['cases'][0]['assessment_case_id']}/"
    states.candidate(api).put(answered, {"answer": WORDS})
    enrolled = states.post(api, f"/pipelines/{pipeline}/enroll/", {"email": email, "name": NAME})
    note = {"body": f"{NAME} knows {WORDS}"}
    states.post(api, f"/pipelines/enrollments/{enrolled['enrollment_id']}/notes/", note)
    letter = {"application_id": made["id"], "title": f"For {NAME}", "body_html": f"<p>Dear {NAME}</p>"}
    offer = states.post(api, "/offers/", letter)
    states.post(api, f"/offers/{offer['id']}/send/")
    at = f"/candidates/{made['candidate_id']}"
    states.post(api, f"{at}/notes/", note, headers={"Idempotency-Key": address()})
    card = {"total": 3, "criteria": [{"name": WORDS, "score": 3}]}
    states.post(api, f"{at}/scorecards/", card)
    api.patch(f"{at}/", {"source_summary": f"{NAME} wrote to us"})
    api.put(f"{at}/tags/", {"tags": [WORDS]})
    return {
        "at": at,
        "id": made["candidate_id"],
        "application": made["id"],
        "offer": offer["id"],
        "place": place,
    }


@pytest.mark.parametrize("mode", ["live", "test"])
def test_an_erased_person_is_found_nowhere(tenant: Tenant, mode: str, mail_folder: Path) -> None:
    api: Api = getattr(tenant, mode)
    email, bystander = f"zephyrine-{address()}", address()
    states.a_verified_webhook(api)
    other = applied(api, bystander, full_name="Grace Hopper")
    person = a_person(api, email)
    offer = api.get(f"/offers/{person['offer']}/").json()
    states.fanned_out()
    written(email)
    before = dump()
    assert all(word in before for word in (email, NAME, PHONE, WORDS))
    assert any(email in path.read_text() for path in mail_folder.rglob("*.eml"))
    keys = kept_files(person["application"])
    counts = api.get("/assessments/").json()["results"][0]["invitation_count"]
    done = states.post(api, f"{person['at']}/erase/")
    assert done["counts"]["applications"] == 1
    assert done["counts"]["files"] == 1
    erased(tenant)
    after = dump()
    assert [word for word in (email, NAME, PHONE, WORDS) if word.lower() in after.lower()] == []
    assert [path for path in mail_folder.rglob("*.eml") if email in path.read_text()] == []
    assert [key for key in keys if files.get(key) is not None] == []
    assert bystander in after
    assert api.get(f"/applications/{other['id']}/").json()["full_name"] == "Grace Hopper"
    assert api.get("/assessments/").json()["results"][0]["invitation_count"] == counts
    assert api.get(f"{person['at']}/").status_code == 404
    assert states.candidate(api).get(f"{person['place']}/").status_code == 404
    token = offer["respond_url"].rpartition("/")[2]
    assert states.candidate(api).get(f"/offers/{token}/").status_code == 404
    shown = api.get(f"/applications/{person['application']}/").json()
    assert (shown["email"], shown["full_name"], shown["status"]) == ("", "", "withdrawn")
    api.get("/events/", params={"page_size": 100})
    assert applied(api, email)["candidate_id"] != person["id"]


def test_erasing_takes_merged_profiles_along_and_happens_once(tenant: Tenant) -> None:
    api = tenant.live
    emails = [f"merged-{address()}", f"merged-{address()}"]
    survivor, source = (applied(api, email)["candidate_id"] for email in emails)
    states.post(api, f"/candidates/{survivor}/merge/", {"source_id": source})
    assert api.post(f"/candidates/{source}/erase/").status_code == 404
    assert api.post(f"/candidates/{survivor}/erase/").status_code == 200
    assert [email for email in emails if email in dump()] == []
    assert api.post(f"/candidates/{survivor}/erase/").status_code == 404
    again = applied(api, emails[1])["candidate_id"]
    assert again not in (survivor, source)


def test_answers_that_were_kept_for_a_key_do_not_tell_of_the_erased(tenant: Tenant) -> None:
    api = tenant.live
    email = address()
    job = {"job_slug": api.job(published=True)["slug"], "full_name": NAME, "email": email}
    asked = [("/applications/create/", job, address())]
    made = states.post(api, *asked[0][:2], headers={"Idempotency-Key": asked[0][2]})
    at = f"/candidates/{made['candidate_id']}"
    # An answer that has no address in it tells of somebody too.
    asked += [
        (f"/assessments/{api.assessment()['slug']}/invites/", {"email": email}, address()),
        (f"{at}/notes/", {"body": f"{NAME} knows {WORDS}"}, address()),
    ]
    bystander = ("/assessments/create/", {"title": "Not of her"}, address())
    for path, body, key in (*asked[1:], bystander):
        states.post(api, path, body, headers={"Idempotency-Key": key})
    states.post(api, f"{at}/erase/")
    erased(tenant)
    for path, body, key in asked:
        again = api.post(path, body, headers={"Idempotency-Key": key})
        assert (again.status_code, email in again.text, WORDS in again.text) == (404, False, False)
    path, body, key = bystander
    assert api.post(path, body, headers={"Idempotency-Key": key}).headers["Idempotent-Replayed"] == "true"


def test_a_worker_that_is_killed_while_it_erases_leaves_the_rest_to_the_next(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    api, keys = tenant.live, sorted(address() for _ in range(5))
    monkeypatch.setattr(idempotency, "SOME", 2)
    made = applied(api)
    at = f"/candidates/{made['candidate_id']}"
    for key in keys:
        states.post(api, f"{at}/notes/", {"body": NAME}, headers={"Idempotency-Key": key})
    states.post(api, f"{at}/erase/")

    def left() -> list[str]:
        with store.transaction() as session:
            mine = (
                select(IdempotentAnswer).where(IdempotentAnswer.key.in_(keys)).order_by(IdempotentAnswer.key)
            )
            return [one.key for one in session.scalars(mine) if one.status != idempotency.ERASED]

    looked = 0

    def killed(*given: Any, **named: Any) -> str | None:
        nonlocal looked
        looked += 1
        if looked == 2:
            raise SystemExit
        return forget(*given, **named)

    forget = idempotency.forget
    monkeypatch.setattr(idempotency, "forget", killed)
    with pytest.raises(SystemExit):
        erased(tenant)
    assert left() == keys[2:]
    erased(tenant)
    assert left() == []


TOLD = {"events": 20_000, "deliveries": 20_000, "outbox": 20_000, "idempotent_answers": 2_000}
FILL = """
    INSERT INTO events (id, created_at, organisation_id, livemode, sequence, type, data, fanned_out_at)
    SELECT gen_random_uuid(), now(), :owner, true, 1000000 + number, 'application.submitted',
           jsonb_build_object('email', number || '@example.com'), now()
    FROM generate_series(1, :events) AS number;
    INSERT INTO deliveries (
        id, created_at, organisation_id, livemode, endpoint_id, event_id, event_type, payload, status, attempts
    )
    SELECT gen_random_uuid(), now(), :owner, true, endpoint.id, event.id, event.type,
           jsonb_build_object('data', event.data), 'delivered', 1
    FROM events AS event, webhook_endpoints AS endpoint
    WHERE event.organisation_id = :owner AND endpoint.organisation_id = :owner
    ON CONFLICT DO NOTHING;
    INSERT INTO outbox (id, created_at, organisation_id, livemode, job, arguments, due_at, attempts, finished_at)
    SELECT gen_random_uuid(), now(), :owner, true, 'mail', jsonb_build_object('to', number || '@example.com'),
           now(), 1, now()
    FROM generate_series(1, :outbox) AS number;
    INSERT INTO idempotent_answers (organisation_id, livemode, key, request, status, body, created_at)
    SELECT :owner, true, 'filled-' || number, '', 200, '', now()
    FROM generate_series(1, :idempotent_answers) AS number;
"""


def test_erasing_does_not_read_what_grows(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    api = tenant.live
    states.a_verified_webhook(api)
    made = applied(api)
    run, asked = Prepared._cursor, []

    def noted(self: Prepared, means: Any, values: dict[str, Any]) -> Any:
        asked.append((self.of_threads.text, dict(values)))
        return run(self, means, values)

    with store.transaction() as session:
        for statement in FILL.split(";\n")[:-1]:
            session.execute(text(statement), {"owner": tenant.organisation.id, **TOLD})
        session.execute(text(f"ANALYZE {', '.join(TOLD)}"))
        caller = Caller(tenant.organisation.id, livemode=True, plan_name="growth")
        monkeypatch.setattr(Prepared, "_cursor", noted)
        store_erasing.erase(session, caller, UUID(made["candidate_id"]))
        monkeypatch.setattr(Prepared, "_cursor", run)
        driver: Any = session.connection().connection.driver_connection
        plans = [
            "\n".join(line for (line,) in driver.execute(f"EXPLAIN {statement}", values).fetchall())
            for statement, values in asked
        ]
        session.rollback()
    whole = [plan for plan in plans for table in TOLD if f"Seq Scan on {table}" in plan]
    assert whole == []
    told = "\n".join(plans)
    for index in ("ix_events_person", "uq_deliveries_endpoint_id", "ix_outbox_person"):
        assert index in told
    assert "idempotent_answers" not in told


def test_an_export_holds_everything(tenant: Tenant) -> None:
    api = tenant.live
    email = address()
    person = a_person(api, email)
    shown = api.get(f"{person['at']}/export/").json()
    assert shown["addresses"] == [email]
    sections = ("notes", "scorecards", "applications", "enrollments", "offers", "files")
    assert {name: len(shown[name]) for name in sections} == dict.fromkeys(sections, 1)
    [file] = shown["files"]
    content = b64decode(file["content_base64"])
    assert (file["filename"], len(content)) == ("cv.txt", file["size_bytes"])
    assert WORDS in content.decode()
    [case] = [one for one in shown["invitations"][0]["sessions"][0]["cases"] if one["answer"]]
    assert case["answer"] == [WORDS]
    assert "token" not in shown["invitations"][0]
    assert shown["meta"]["plan"]


def kept_files(application: str) -> list[str]:
    with store.transaction() as session:
        mine = select(Attachment.key).where(Attachment.application_id == application)
        return list(session.scalars(mine))


def written(email: str) -> None:
    """Send the mails to somebody: here they are written to the folder."""
    with store.transaction() as session:
        items = session.scalars(select(OutboxItem).where(OutboxItem.job == "mail")).all()
        mine = [(one.id, one.arguments) for one in items if one.arguments.get("to") == email]
    for id, arguments in mine:
        mail.send(id, arguments)


def erased(owner: Tenant) -> None:
    """Do what erasing left to do, as often as it is asked for."""
    mine = (OutboxItem.job == "erase", OutboxItem.organisation_id == owner.organisation.id)
    with store.transaction() as session:
        found = session.scalars(select(OutboxItem).where(*mine)).all()
        asked = [(one.id, one.arguments) for one in found]
    for id, arguments in asked:
        erasing.erase(id, arguments)


@pytest.fixture
def mail_folder(wired: Settings) -> Path:
    return wired.mail_dir
