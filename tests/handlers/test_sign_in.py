"""Signing in by mail, once and in time; sessions that can be seen and ended; nothing for who guesses."""

from datetime import timedelta

import pytest
from sqlalchemy import text, update

import store
from handlers import sign_in
from rules import links
from rules.clock import now
from store.accounts.members import Member
from store.accounts.sign_ins import SignInCode
from store.accounts.signed_in import MemberSession
from store.outbox import OutboxItem
from tests.api import Tenant, address, of_session
from tests.api import tenant as new_tenant
from tests.probes import faults, refusal
from tests.signing import a_member, area, asked, cookie, mails, nobody
from tests.trail import log


def age(table: type, **back: timedelta) -> None:
    """Let time pass for every row of a table."""
    with store.transaction() as session:
        session.execute(update(table).values({name: now() - by for name, by in back.items()}))


def test_a_code_or_a_link_signs_a_member_in(tenant: Tenant) -> None:
    person = a_member(tenant, "developer")
    code, token = asked(tenant, person.email)
    for body in ({"email": person.email.upper(), "code": code}, {"token": asked(tenant, person.email)[1]}):
        answer = nobody(tenant).post("/sign-in/code/", body, headers={"User-Agent": "a browser of ours"})
        assert answer.status_code == 200, answer.text
        shown = answer.json()
        assert (shown["email"], shown["role"], shown["organisation"]["slug"]) == (
            person.email,
            "developer",
            tenant.organisation.slug,
        )
        headers = of_session(cookie(answer))
        assert headers["X-CSRF-Token"] == shown["csrf_token"]
        me = nobody(tenant).get("/me/", headers=headers).json()
        assert {name: me[name] for name in shown} == shown
        assert (
            nobody(tenant).get("/sessions/", headers=headers).json()["sessions"][0]["agent"]
            == "a browser of ours"
        )
    assert token not in answer.text


def test_the_cookie_is_for_this_service_alone_and_no_script(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = a_member(tenant)
    body = {"token": asked(tenant, person.email)[1]}
    said = nobody(tenant).post("/sign-in/code/", body).headers["Set-Cookie"]
    assert "; HttpOnly; SameSite=Lax" in said
    assert "; Path=/;" in said
    assert "Domain" not in said
    assert "Secure" not in said  # over plain http a browser would not take it
    body = {"token": asked(tenant, person.email)[1]}
    monkeypatch.setattr(links, "_base_url", "https://hiring.example.com")
    said = nobody(tenant).post("/sign-in/code/", body).headers["Set-Cookie"]
    assert said.startswith("__Host-session=")
    assert said.endswith("; Secure")


def test_each_sign_in_is_a_session_of_its_own(tenant: Tenant) -> None:
    """A cookie that somebody else put into the browser is not the one that is signed in."""
    person = a_member(tenant)
    planted = {"Cookie": f"{links.cookie()}=planted"}
    answer = nobody(tenant).post("/sign-in/code/", {"token": asked(tenant, person.email)[1]}, headers=planted)
    first = cookie(answer)
    assert first != "planted"
    answer = nobody(tenant).post(
        "/sign-in/code/", {"token": asked(tenant, person.email)[1]}, headers=of_session(first)
    )
    assert cookie(answer) != first


def test_a_code_works_once(tenant: Tenant) -> None:
    person = a_member(tenant)
    code, token = asked(tenant, person.email)
    by_code = {"email": person.email, "code": code}
    assert nobody(tenant).post("/sign-in/code/", by_code).status_code == 200
    for body in (by_code, {"token": token}):
        refusal(nobody(tenant).post("/sign-in/code/", body), 400, "SIGN_IN_FAILED")


def test_a_code_works_for_a_quarter_of_an_hour(tenant: Tenant) -> None:
    person = a_member(tenant)
    code, token = asked(tenant, person.email)
    age(SignInCode, expires_at=timedelta(0))
    for body in ({"email": person.email, "code": code}, {"token": token}):
        refusal(nobody(tenant).post("/sign-in/code/", body), 400, "SIGN_IN_FAILED")


def test_after_five_wrong_codes_the_right_one_is_wrong_too_and_the_link_goes_on(tenant: Tenant) -> None:
    person = a_member(tenant)
    code, token = asked(tenant, person.email)
    wrong = f"{(int(code) + 1) % 10**8:08}"
    for _ in range(5):
        body = {"email": person.email, "code": wrong}
        refusal(nobody(tenant).post("/sign-in/code/", body), 400, "SIGN_IN_FAILED")
    body = {"email": person.email, "code": code}
    refusal(nobody(tenant).post("/sign-in/code/", body), 400, "SIGN_IN_FAILED")
    assert nobody(tenant).post("/sign-in/code/", {"token": token}).status_code == 200


def test_a_code_is_for_its_own_address(tenant: Tenant) -> None:
    code, _ = asked(tenant, a_member(tenant).email)
    other = a_member(tenant)
    asked(tenant, other.email)
    body = {"email": other.email, "code": code}
    refusal(nobody(tenant).post("/sign-in/code/", body), 400, "SIGN_IN_FAILED")


def test_nobody_learns_whether_an_address_belongs_to_a_member(tenant: Tenant) -> None:
    """The same answer; and what is done for it is the same, so that it takes as long."""
    person, stranger = a_member(tenant).email, address()
    seen, done = [], []
    for email in (person, stranger):
        answer = nobody(tenant).post("/sign-in/mail/", {"email": email})
        seen.append((answer.status_code, answer.json(), sorted(answer.headers)))
        with store.transaction() as session:
            rows = session.query(OutboxItem).where(OutboxItem.arguments["email"].astext == email)
            done.append([(one.job, one.organisation_id, sorted(one.arguments)) for one in rows])
    assert seen[0] == seen[1]
    assert done[0] == done[1]
    assert len(mails(person)) == 1
    assert mails(stranger) == []
    codes = []
    for email in (person, stranger):
        answer = nobody(tenant).post("/sign-in/code/", {"email": email, "code": "00000000"})
        error = refusal(answer, 400, "SIGN_IN_FAILED")
        codes.append({name: one for name, one in error["details"].items() if name != "request_id"})
    assert codes[0] == codes[1]


def test_who_belongs_to_two_organisations_is_mailed_for_each(tenant: Tenant, other: Tenant) -> None:
    email = address()
    for one in (tenant, other):
        a_member(one, email=email)
    nobody(tenant).post("/sign-in/mail/", {"email": email})
    sent = mails(email)
    assert len(sent) == 2
    assert {tenant.organisation.name in sent[0].text, other.organisation.name in sent[1].text} == {True}


def test_a_code_is_nowhere_but_in_the_mail(tenant: Tenant) -> None:
    code, token = asked(tenant, a_member(tenant).email)
    with store.transaction() as session:
        kept = [
            *session.scalars(text("SELECT sign_in_codes::text FROM sign_in_codes")),
            *session.scalars(text("SELECT outbox::text FROM outbox WHERE job IN ('mail', 'sign_in')")),
        ]
    assert not any(code in one or token in one for one in kept)


def test_mails_that_nobody_asked_for_do_not_pile_up(tenant: Tenant) -> None:
    person = a_member(tenant)
    for _ in range(7):
        nobody(tenant).post("/sign-in/mail/", {"email": person.email})
    assert len(mails(person.email)) == 5


@pytest.mark.parametrize(("place", "body"), [
    ("/sign-in/mail/", {"email": "{email}"}), ("/sign-in/code/", {"email": "{email}", "code": "00000000"}),
])  # fmt: skip
def test_who_tries_too_often_for_one_address_waits(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, place: str, body: dict[str, str]
) -> None:
    monkeypatch.setattr(sign_in, "OF_ONE", 2)
    email = address()
    sent = {name: one.format(email=email) for name, one in body.items()}
    answers = [nobody(tenant).post(place, sent) for _ in range(3)]
    refusal(answers[2], 429, "RATE_LIMITED")
    assert answers[1].status_code != 429
    other = {name: one.format(email=address()) for name, one in body.items()}
    assert nobody(tenant).post(place, other).status_code != 429


def test_who_tries_too_often_from_one_place_waits(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in, "OF_A_CLIENT", 0)
    refusal(nobody(tenant).post("/sign-in/mail/", {"email": address()}), 429, "RATE_LIMITED")


def test_a_way_to_sign_in_has_to_be_given(tenant: Tenant) -> None:
    assert "/code" in faults(nobody(tenant).post("/sign-in/code/", {"email": address()}))


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_another_site_signs_nobody_in(tenant: Tenant, origin: str) -> None:
    token = asked(tenant, a_member(tenant).email)[1]
    there = {"Origin": origin}
    refusal(nobody(tenant).post("/sign-in/code/", {"token": token}, headers=there), 403, "CSRF_FAILED")
    here = {"Origin": links.origin()}
    assert nobody(tenant).post("/sign-in/code/", {"token": token}, headers=here).status_code == 200


def test_a_sign_in_is_in_the_audit_log(tenant: Tenant) -> None:
    person = a_member(tenant)
    nobody(tenant).post("/sign-in/code/", {"token": asked(tenant, person.email)[1]})
    [told] = log(tenant.live, action="sign_in_by_code")
    assert told["actor"] == {"type": "member", "id": str(person.user_id), "name": None}
    assert (told["channel"], told["resource_type"], told["resource_id"]) == ("area", "member", str(person.id))


# --- Sessions


def test_signing_out_ends_the_session_and_takes_its_cookie_away(tenant: Tenant) -> None:
    person = area(tenant.member())
    answer = person.post("/sign-out/")
    assert (answer.status_code, cookie(answer)) == (204, "")
    assert "Max-Age=0" in answer.headers["Set-Cookie"]
    refusal(person.get("/me/"), 401, "INVALID_SESSION")


def test_a_person_ends_their_own_sessions_and_nobody_elses(tenant: Tenant, other: Tenant) -> None:
    person = a_member(tenant)
    sessions = [
        of_session(cookie(nobody(tenant).post("/sign-in/code/", {"token": asked(tenant, person.email)[1]})))
        for _ in range(3)
    ]
    me = area(tenant.member())
    me.headers = sessions[0]
    shown = me.get("/sessions/").json()["sessions"]
    assert [one["is_current"] for one in shown] == [False, False, True]
    for stranger in (tenant.member(), other.member()):
        refusal(area(stranger).delete(f"/sessions/{shown[0]['id']}/"), 404)
    assert me.delete(f"/sessions/{shown[0]['id']}/").status_code == 204
    refusal(nobody(tenant).get("/me/", headers=sessions[2]), 401, "INVALID_SESSION")
    assert me.delete("/sessions/").json() == {"ended": 1}
    assert len(me.get("/sessions/").json()["sessions"]) == 1


def test_a_person_confirms_who_they_are(tenant: Tenant) -> None:
    person = a_member(tenant)
    token = asked(tenant, person.email)[1]
    me = nobody(tenant)
    me.headers = of_session(cookie(me.post("/sign-in/code/", {"token": token})))
    key = {"name": "ATS", "livemode": False}
    age(MemberSession, proven_at=timedelta(minutes=11))
    refusal(me.post("/keys/", key), 403, "CONFIRMATION_REQUIRED")
    foreign, _ = asked(tenant, a_member(tenant).email)
    refusal(me.post("/confirm/", {"code": foreign}), 400, "SIGN_IN_FAILED")
    code, _ = asked(tenant, person.email)
    assert me.post("/confirm/", {"code": code}).json()["proven_until"] > str(now())[:10]
    assert me.post("/keys/", key).status_code == 201


def test_a_role_that_changes_counts_from_the_next_request_on(tenant: Tenant) -> None:
    person = area(tenant.member("developer"))
    assert person.get("/keys/").status_code == 200
    with store.transaction() as session:
        session.execute(
            update(Member).where(Member.organisation_id == tenant.organisation.id).values(role="member")
        )
    refusal(person.get("/keys/"), 403, "INSUFFICIENT_SCOPE")


def test_every_role_may_list_the_roles(tenant: Tenant) -> None:
    shown = area(tenant.member("member")).get("/roles/").json()["roles"]
    assert [one["role"] for one in shown] == [
        "owner",
        "admin",
        "developer",
        "recruiter",
        "reviewer",
        "member",
    ]
    assert "keys:manage" in shown[2]["scopes"]
    assert "keys:manage" not in shown[3]["scopes"]
    assert [one["sees_all_squads"] for one in shown] == [True, True, False, False, False, False]


def test_a_member_of_one_organisation_is_nobody_in_another(tenant: Tenant) -> None:
    mine = area(tenant.member())
    stranger = new_tenant(tenant.http)
    made = area(stranger.member()).post("/keys/", {"name": "Theirs", "livemode": True}).json()
    refusal(mine.post(f"/keys/{made['id']}/revoke/"), 404)
    refusal(mine.post(f"/keys/{made['id']}/rotate/", {}), 404)
    assert made["id"] not in mine.get("/keys/", params={"page_size": 100}).text
