"""Signing in by a company's own provider: what proves who somebody is, and everything that does not."""

import html
import re
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx
import pytest

import store
from gateways import openid
from rules import links
from store.accounts import sign_ins
from store.accounts.members import Member
from store.accounts.signed_in import MemberSession
from store.accounts.starts import SignInStart
from tests.api import Api, Tenant, of_session
from tests.company import CLIENT, SECRET, Company, company
from tests.handlers.test_sign_in import age
from tests.probes import faults, refusal
from tests.signing import a_member, area, cookie, nobody
from tests.trail import log

ISSUER = "/.well-known/openid-configuration"


@pytest.fixture
def there(tenant: Tenant) -> Iterator[Company]:
    """A company's sign-in for the members of an organisation."""
    found = company()
    set_up(tenant, found)
    found.tell()
    yield found
    openid.configure(issuer="", client_id="", client_secret="", organisation="", name="", allow_private=False)


def post(tenant: Tenant, at: str, body: Any = None, **options: Any) -> httpx.Response:
    """Ask, also for what may be answered 502."""
    asking = nobody(tenant)
    asking.checked = False
    return asking.post(at, body, **options)


def set_up(tenant: Tenant, found: Company, **other: Any) -> None:
    said = {
        "issuer": found.issuer,
        "client_id": CLIENT,
        "client_secret": SECRET,
        "organisation": tenant.organisation.slug,
        "name": "Northwind",
        "allow_private": True,
    }
    openid.configure(**(said | other))


def begin(tenant: Tenant) -> tuple[str, dict[str, str]]:
    """Begin to sign in: where to go, and what the browser keeps."""
    answer = post(tenant, "/sign-in/company/")
    assert answer.status_code == 200, answer.text
    return answer.json()["authorization_url"], kept(answer)


def kept(answer: httpx.Response) -> dict[str, str]:
    return {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}


def sign_in(tenant: Tenant, there: Company, **how: Any) -> httpx.Response:
    """The whole way of somebody whose company answers so."""
    url, browser = begin(tenant)
    there.tell(**how)
    return post(tenant, "/sign-in/company/code/", there.sign_in(url), headers=browser)


def test_a_member_signs_in_with_their_company(tenant: Tenant, there: Company) -> None:
    person = a_member(tenant, "developer")
    answer = sign_in(tenant, there, claims={"email": person.email.upper()})
    assert answer.status_code == 200, answer.text
    assert (answer.json()["email"], answer.json()["role"]) == (person.email, "developer")
    me = nobody(tenant).get("/me/", headers=of_session(cookie(answer))).json()
    assert me["user_id"] == str(person.user_id)
    [told] = log(tenant.live, action="sign_in_by_company")
    assert (told["actor"]["id"], told["resource_id"]) == (str(person.user_id), str(person.id))


@pytest.mark.parametrize("how", [
    {"claims": {"nonce": "of another sign-in"}}, {"claims": {"nonce": None}},
    {"claims": {"aud": "another service"}}, {"claims": {"aud": None}},
    {"claims": {"aud": ["another", CLIENT], "azp": "another"}},
    {"claims": {"iss": "https://evil.example"}}, {"claims": {"iss": None}},
    {"moments": {"exp": -120, "iat": -600}}, {"claims": {"exp": None}},
    {"moments": {"nbf": 600}}, {"moments": {"iat": 600}},
    {"claims": {"email_verified": False}}, {"claims": {"email_verified": None}}, {"claims": {"email_verified": "true"}},
    {"signed_by": "a stranger"}, {"signed_by": "nobody"}, {"signed_by": "the secret"}, {"signed_by": "second"},
], ids=str)  # fmt: skip
def test_what_proves_nothing_signs_nobody_in(tenant: Tenant, there: Company, how: dict[str, Any]) -> None:
    person = a_member(tenant)
    how["claims"] = {"email": person.email, **how.get("claims", {})}
    answer = sign_in(tenant, there, **how)
    refusal(answer, 400, "SIGN_IN_FAILED")
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("sub", [None, "", 7, "x" * 256, "a\x00b"], ids=str)
def test_who_is_nobody_to_the_provider_is_not_signed_in(tenant: Tenant, there: Company, sub: Any) -> None:
    person = a_member(tenant)
    refusal(sign_in(tenant, there, claims={"email": person.email, "sub": sub}), 400, "SIGN_IN_FAILED")


def test_the_first_sign_in_binds_a_member_to_the_person_there(tenant: Tenant, there: Company) -> None:
    person = a_member(tenant, "developer")
    assert sign_in(tenant, there, claims={"email": person.email, "sub": "grace"}).status_code == 200
    for claims in ({"email": "married@example.com"}, {"email": person.email, "email_verified": False}, {}):
        answer = sign_in(tenant, there, claims=claims | {"sub": "grace"})
        assert answer.json()["user_id"] == str(person.user_id)
    bound = {
        one["email"]: one["is_bound_to_company"] for one in tenant.live.get("/org/team/").json()["results"]
    }
    assert bound[person.email] is True


def test_another_person_with_the_same_address_is_refused_until_it_is_undone(
    tenant: Tenant, there: Company
) -> None:
    person, me = a_member(tenant, "developer"), area(tenant.member("owner"))
    assert sign_in(tenant, there, claims={"email": person.email, "sub": "grace"}).status_code == 200
    another = {"email": person.email, "sub": "her successor"}
    answer = sign_in(tenant, there, claims=another)
    assert "another person" in refusal(answer, 400, "SIGN_IN_MISMATCH")["message"]
    assert "Set-Cookie" not in answer.headers
    [told] = log(tenant.live, action="sign_in_by_company", outcome="error")
    assert (told["error_code"], told["resource_id"]) == ("SIGN_IN_MISMATCH", str(person.id))
    assert me.delete(f"/members/{person.user_id}/company-sign-in/").status_code == 204
    assert sign_in(tenant, there, claims=another).status_code == 200
    refusal(sign_in(tenant, there, claims={"email": person.email, "sub": "grace"}), 400, "SIGN_IN_MISMATCH")


def test_one_person_is_bound_to_one_member_whoever_signs_in_at_once(tenant: Tenant, there: Company) -> None:
    people = [a_member(tenant).email for _ in range(4)]

    def bind(email: str) -> Any:
        with store.transaction() as session:
            found, _ = sign_ins.by_company(session, tenant.organisation.slug, there.issuer, "grace", email)
            return found and found.user_id

    with ThreadPoolExecutor(len(people)) as threads:
        assert len(set(threads.map(bind, people))) == 1


def test_another_provider_binds_anew(tenant: Tenant, there: Company) -> None:
    person = a_member(tenant)
    with store.transaction() as session:
        kept = session.get_one(Member, person.id)
        kept.company_issuer, kept.company_subject = "https://login.before.example", "248289761001"
    assert sign_in(tenant, there, claims={"email": person.email}).status_code == 200


def test_who_may_not_manage_members_or_is_no_owner_undoes_no_binding(tenant: Tenant, other: Tenant) -> None:
    owner = a_member(tenant, "owner")
    at = f"/members/{owner.user_id}/company-sign-in/"
    assert "/role" in faults(area(tenant.member("admin")).delete(at))
    refusal(area(tenant.member("developer")).delete(at), 403, "INSUFFICIENT_SCOPE")
    refusal(area(other.member("owner")).delete(at), 404)
    me = area(tenant.member("owner"))
    age(MemberSession, proven_at=timedelta(minutes=11))
    refusal(me.delete(at), 403, "CONFIRMATION_REQUIRED")


def test_who_is_no_member_does_not_become_one(tenant: Tenant, there: Company) -> None:
    refusal(sign_in(tenant, there, claims={"email": "stranger@example.com"}), 400, "SIGN_IN_FAILED")


def test_a_company_signs_nobody_of_another_organisation_in(
    tenant: Tenant, other: Tenant, there: Company
) -> None:
    person = a_member(other)
    refusal(sign_in(tenant, there, claims={"email": person.email}), 400, "SIGN_IN_FAILED")


def test_what_a_browser_comes_back_with_counts_once(tenant: Tenant, there: Company) -> None:
    there.tell(claims={"email": a_member(tenant).email})
    url, browser = begin(tenant)
    back = there.sign_in(url)
    assert post(tenant, "/sign-in/company/code/", back, headers=browser).status_code == 200
    again = {**there.sign_in(url), "state": back["state"]}
    for body in (back, again):
        answer = post(tenant, "/sign-in/company/code/", body, headers=browser)
        refusal(answer, 400, "SIGN_IN_FAILED")


def test_what_one_browser_has_begun_no_other_finishes(tenant: Tenant, there: Company) -> None:
    """Somebody is not signed in as another by a link that has a code in it."""
    there.tell(claims={"email": a_member(tenant).email})
    back = there.sign_in(begin(tenant)[0])
    _, victim = begin(tenant)
    for browser in (victim, {}, {"Cookie": f"{links.starting_cookie()}=planted"}):
        answer = post(tenant, "/sign-in/company/code/", back, headers=browser)
        refusal(answer, 400, "SIGN_IN_FAILED")


def test_a_sign_in_that_was_begun_is_finished_within_ten_minutes(tenant: Tenant, there: Company) -> None:
    there.tell(claims={"email": a_member(tenant).email})
    url, browser = begin(tenant)
    age(SignInStart, expires_at=timedelta(0))
    answer = post(tenant, "/sign-in/company/code/", there.sign_in(url), headers=browser)
    refusal(answer, 400, "SIGN_IN_FAILED")


def test_a_code_without_its_verifier_is_worth_nothing(tenant: Tenant, there: Company) -> None:
    """The provider holds the code to the browser's own verifier."""
    there.tell(claims={"email": a_member(tenant).email})
    stolen = there.sign_in(begin(tenant)[0])["code"]
    url, browser = begin(tenant)
    mine = {"code": stolen, "state": there.sign_in(url)["state"]}
    refusal(post(tenant, "/sign-in/company/code/", mine, headers=browser), 400, "SIGN_IN_FAILED")


@pytest.mark.parametrize("deed", ["fails", "garbage", "endless", "redirects"])
@pytest.mark.parametrize("place", [ISSUER, "/token", "/keys"])
def test_a_provider_that_fails_signs_nobody_in_and_is_named(
    tenant: Tenant, there: Company, place: str, deed: str
) -> None:
    email = a_member(tenant).email
    if place == ISSUER:
        there.tell(does={place: deed})
        refused = post(tenant, "/sign-in/company/")
    else:
        refused = sign_in(tenant, there, claims={"email": email}, does={place: deed})
    refusal(refused, 502, "SIGN_IN_PROVIDER_ERROR")
    assert SECRET not in refused.text


def test_a_provider_that_says_nothing_is_waited_for_no_longer_than_its_time(
    tenant: Tenant, there: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openid, "SECONDS", 0.3)
    there.tell(does={ISSUER: "stalls"})
    began = time.monotonic()
    refusal(post(tenant, "/sign-in/company/"), 502, "SIGN_IN_PROVIDER_ERROR")
    assert time.monotonic() - began < 3
    # For a while it is left alone, and nobody waits.
    refusal(post(tenant, "/sign-in/company/"), 502, "SIGN_IN_PROVIDER_ERROR")
    assert there.seen() == [ISSUER]


def test_no_more_than_a_few_wait_for_a_provider_at_a_time(tenant: Tenant, there: Company) -> None:
    taken = [openid._room.acquire(blocking=False) for _ in range(openid.AT_A_TIME)]
    try:
        assert all(taken)
        refusal(post(tenant, "/sign-in/company/"), 503, "UNAVAILABLE")
    finally:
        for _ in taken:
            openid._room.release()
    begin(tenant)


def test_what_a_provider_publishes_is_read_once_an_hour(tenant: Tenant, there: Company) -> None:
    person = a_member(tenant)
    there.tell(claims={"email": person.email})
    for _ in range(2):
        url, browser = begin(tenant)
        back = there.sign_in(url)
        assert post(tenant, "/sign-in/company/code/", back, headers=browser).status_code == 200
    assert [there.seen().count(one) for one in (ISSUER, "/keys", "/token")] == [1, 1, 2]


def test_a_key_that_comes_later_is_read_when_it_is_needed(
    tenant: Tenant, there: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = {"email": a_member(tenant).email}
    assert sign_in(tenant, there, claims=claims).status_code == 200
    later = {"claims": claims, "keys": ["first", "second"], "signed_by": "second"}
    refusal(sign_in(tenant, there, **later), 400, "SIGN_IN_FAILED")  # it has just been read
    monkeypatch.setattr(openid, "ROTATED_SECONDS", 0)
    assert sign_in(tenant, there, **later).status_code == 200


def test_another_issuer_than_the_one_that_is_set_up_is_not_believed(tenant: Tenant, there: Company) -> None:
    there.tell(publishes={"issuer": "https://evil.example"})
    refusal(post(tenant, "/sign-in/company/"), 502, "SIGN_IN_PROVIDER_ERROR")


@pytest.mark.parametrize("place", ["authorization_endpoint", "token_endpoint", "jwks_uri"])
@pytest.mark.parametrize("url", ["javascript:alert(1)", "ftp://evil.example/", "http://u:p@127.0.0.1/", 7])
def test_a_provider_leads_nowhere_that_is_no_address(
    tenant: Tenant, there: Company, place: str, url: Any
) -> None:
    email = a_member(tenant).email
    there.tell(publishes={place: url}, claims={"email": email})
    answer = post(tenant, "/sign-in/company/")
    if place != "authorization_endpoint":
        back = there.sign_in(answer.json()["authorization_url"])
        answer = post(tenant, "/sign-in/company/code/", back, headers=kept(answer))
    refusal(answer, 502, "SIGN_IN_PROVIDER_ERROR")


def test_a_private_address_is_asked_only_where_that_is_allowed(tenant: Tenant, there: Company) -> None:
    set_up(tenant, there, allow_private=False)
    refusal(post(tenant, "/sign-in/company/"), 502, "SIGN_IN_PROVIDER_ERROR")
    set_up(tenant, there, allow_private=False, issuer=there.issuer.replace("http:", "https:"))
    refusal(post(tenant, "/sign-in/company/"), 502, "SIGN_IN_PROVIDER_ERROR")
    assert there.seen() == []


def test_without_a_company_there_is_nothing_to_sign_in_with(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "_base_url", "http://localhost:8080")
    refusal(post(tenant, "/sign-in/company/"), 404)
    refusal(post(tenant, "/sign-in/company/code/", {"code": "a", "state": "b"}), 404)
    assert "/area/sign-in/company/" not in Api(tenant.http, None, "").get("/area/sign-in/").text


def test_who_begins_too_often_from_one_place_waits(
    tenant: Tenant, there: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handlers.sign_in.OF_A_CLIENT", 0)
    for place, body in (("/sign-in/company/", None), ("/sign-in/company/code/", {"code": "a", "state": "b"})):
        refusal(post(tenant, place, body), 429, "RATE_LIMITED")


def test_somebody_signs_in_by_their_company_on_the_page(
    tenant: Tenant, there: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "_base_url", "http://localhost:8080")
    browser = Api(tenant.http, None, "")
    assert "Northwind</a>" in browser.get("/area/sign-in/").text
    there.tell(claims={"email": a_member(tenant).email})
    left = browser.get("/area/sign-in/company/", follow_redirects=False)
    assert left.headers["Location"].startswith(f"{there.issuer}/authorize?")
    back = there.sign_in(left.headers["Location"])
    at = "/area/sign-in/company/code/"
    lost = browser.get(at, params=back, follow_redirects=False)
    assert (lost.status_code, 'role="alert"' in lost.text) == (400, True)
    done = browser.get(at, params=back, headers=kept(left), follow_redirects=False)
    assert (done.status_code, done.headers["Location"]) == (303, "/area/")
    home = browser.get("/area/", headers={"Cookie": f"{links.cookie()}={cookie(done)}"})
    assert home.status_code == 200
    refused = browser.get(at, params={"error": "access_denied", "state": "x"}, follow_redirects=False)
    assert refused.status_code == 400
    browser.checked = False
    again = browser.get("/area/sign-in/company/", follow_redirects=False)
    there.tell(does={"/token": "fails"})
    back = there.sign_in(again.headers["Location"])
    assert browser.get(at, params=back, headers=kept(again), follow_redirects=False).status_code == 502
    there.tell(does={ISSUER: "fails"})
    set_up(tenant, there)
    assert browser.get("/area/sign-in/company/", follow_redirects=False).status_code == 502


def test_the_way_by_a_company_leads_to_the_page_that_was_asked_for(
    tenant: Tenant, there: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "_base_url", "http://localhost:8080")
    browser, wanted = Api(tenant.http, None, ""), "/area/requests/?status=error&page=a%3D"
    there.tell(claims={"email": a_member(tenant).email})
    page = browser.get("/area/sign-in/", params={"next": wanted})
    [at] = re.findall(r'href="(/area/sign-in/company/[^"]*)"', page.text)
    left = browser.get(html.unescape(at), follow_redirects=False)
    assert "requests" not in left.headers["Location"], "the provider learns nothing of our pages"
    back = there.sign_in(left.headers["Location"])
    done = browser.get("/area/sign-in/company/code/", params=back, headers=kept(left), follow_redirects=False)
    assert (done.status_code, done.headers["Location"]) == (303, wanted)


@pytest.mark.parametrize("elsewhere", [
    "https://evil.example/", "//evil.example/area/", "/\\evil.example", "/area/\nSet-Cookie: a=b",
    "javascript:alert(1)", "/areas/", "/docs/", "/area/@evil.example", "/area/" + "x" * 1995,
])  # fmt: skip
def test_the_way_by_a_company_leads_nowhere_else(
    tenant: Tenant, there: Company, monkeypatch: pytest.MonkeyPatch, elsewhere: str
) -> None:
    monkeypatch.setattr(links, "_base_url", "http://localhost:8080")
    at, browser = "/area/sign-in/company/", Api(tenant.http, None, "")
    refused = browser.get(at, params={"next": elsewhere}, follow_redirects=False)
    assert (refused.status_code, "Location" in refused.headers) == (400, False)
    assert "/next" in faults(post(tenant, "/sign-in/company/", {"next": elsewhere}))
    there.tell(claims={"email": a_member(tenant).email})
    left = browser.get(at, follow_redirects=False)
    back = there.sign_in(left.headers["Location"])
    # What somebody puts beside the secret that a browser keeps makes it another one.
    name, _, secret = kept(left)["Cookie"].partition("=")
    forged = f"{name}={secret}.{urlsafe_b64encode(elsewhere.encode()).decode()}"
    lost = browser.get(f"{at}code/", params=back, headers={"Cookie": forged}, follow_redirects=False)
    assert (lost.status_code, "Location" in lost.headers) == (400, False)


def test_a_provider_that_says_nothing_delays_nobody_else(
    tenant: Tenant, there: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openid, "SECONDS", 2.0)
    there.tell(does={ISSUER: "stalls"})
    waiting = threading.Thread(target=lambda: post(tenant, "/sign-in/company/"))
    waiting.start()
    began = time.monotonic()
    assert tenant.live.get("/org/").status_code == 200
    assert post(tenant, "/sign-in/code/", {"token": "unknown"}).status_code == 400
    assert time.monotonic() - began < 1.5
    waiting.join()
