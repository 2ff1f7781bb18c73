"""The pages of the area: what can be clicked, by whom, and what no page does for another site."""

import re
from datetime import timedelta
from typing import Any

import httpx
import pytest

from rules import links
from rules.roles import ROLES
from rules.words import say
from schemas import area as schemas
from schemas import tongues
from store.accounts.signed_in import MemberSession
from tests.api import Api, Tenant, address
from tests.handlers.test_sign_in import age
from tests.signing import a_member, asked, cookie
from tests.trail import log

EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)>'


class Person:
    """Somebody at a browser without scripts."""

    def __init__(self, tenant: Tenant, role: str = "owner", *, livemode: bool = False) -> None:
        self.api = tenant.member(role, livemode=livemode)
        self.api.base = ""
        self.token = self.api.headers.pop("X-CSRF-Token")

    def get(self, at: str, **options: Any) -> httpx.Response:
        return self.api.get(at, follow_redirects=False, **options)

    def act(self, at: str, action: str, *, token: str | None = None, **fields: Any) -> httpx.Response:
        data = {"csrf_token": self.token if token is None else token, "action": action}
        data |= {f"fields.{name}": value for name, value in fields.items()}
        return self.api.request("POST", at, data=data, follow_redirects=False)


@pytest.fixture
def me(tenant: Tenant) -> Person:
    return Person(tenant)


@pytest.fixture
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """The service as it is reached on one's own machine."""
    monkeypatch.setattr(links, "_base_url", "http://localhost:8080")


LISTED = [one for one in schemas.SECTIONS.values() if one.is_listed]


@pytest.mark.parametrize("role", ROLES)
def test_a_role_sees_the_pages_that_it_may_use_and_no_others(tenant: Tenant, role: str) -> None:
    person = Person(tenant, role)
    home = person.get("/area/").text
    for section in LISTED:
        may = not section.needs or section.needs in ROLES[role].scopes
        assert (f'href="{section.path}"' in home) == may, section.path
        assert person.get(section.path).status_code == (200 if may else 403), section.path


def test_who_is_not_signed_in_is_led_to_the_page_to_do_so_and_back(tenant: Tenant, at_home: None) -> None:
    nobody = Api(tenant.http, None, "")
    for section in LISTED:
        answer = nobody.get(section.path, follow_redirects=False)
        assert (answer.status_code, answer.headers["Location"]) == (
            303,
            f"/area/sign-in/?next={section.path}",
        )
    page = nobody.get("/area/sign-in/", params={"next": "/area/keys/"}).text
    assert 'name="next" value="/area/keys/"' in page


@pytest.mark.parametrize("there", [
    "https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)", "/area/../../evil",
    "/area/\nSet-Cookie: x=y", "/areas/", "@evil.example", "/area/%0d%0aX: y z", "",
])  # fmt: skip
def test_nobody_is_led_to_another_site(tenant: Tenant, at_home: None, there: str) -> None:
    person = a_member(tenant)
    code, _ = asked(tenant, person.email)
    form = {"email": person.email, "code": code, "next": there}
    answer = Api(tenant.http, None, "", checked=False).request(
        "POST", "/area/sign-in/", data=form, follow_redirects=False
    )
    assert answer.status_code == 303, answer.text
    assert re.fullmatch(r"/area/[\w/.%]*", answer.headers["Location"])
    assert "evil.example" not in answer.headers["Location"]
    moved = Person(tenant).act("/area/", "mode", livemode="true", next=there)
    assert "evil.example" not in moved.headers["Location"]


def test_somebody_signs_in_on_the_page_with_a_code(tenant: Tenant, at_home: None) -> None:
    person, nobody = a_member(tenant), Api(tenant.http, None, "")
    first = nobody.request("POST", "/area/sign-in/", data={"email": person.email})
    assert 'autocomplete="one-time-code"' in first.text
    code, _ = asked(tenant, person.email)
    wrong = nobody.request("POST", "/area/sign-in/", data={"email": person.email, "code": "1234567x"})
    assert wrong.status_code == 400
    assert 'role="alert"' in wrong.text
    form = {"email": person.email, "code": f"{code[:4]} {code[4:]}", "next": "/area/sessions/"}
    done = nobody.request("POST", "/area/sign-in/", data=form, follow_redirects=False)
    assert done.headers["Location"] == "/area/sessions/"
    headers = {"Cookie": f"{links.cookie()}={cookie(done)}"}
    assert "(this one)" in nobody.get("/area/sessions/", headers=headers).text


def test_opening_a_link_uses_none_up_and_its_button_does(tenant: Tenant, at_home: None) -> None:
    _, token = asked(tenant, a_member(tenant).email)
    nobody = Api(tenant.http, None, "")
    for _ in range(3):
        assert nobody.get(f"/area/sign-in/{token}/").status_code == 200
    done = nobody.request("POST", f"/area/sign-in/{token}/", follow_redirects=False)
    assert (done.status_code, done.headers["Location"]) == (303, "/area/")
    assert nobody.request("POST", f"/area/sign-in/{token}/").status_code == 400
    for method in ("GET", "POST"):  # no path of ours holds a line's end
        assert nobody.request(method, "/area/sign-in/a%0Ab/").status_code == 404


def test_over_plain_http_elsewhere_the_page_says_what_to_set_up(tenant: Tenant) -> None:
    page = Api(tenant.http, None, "").get("/area/sign-in/").text
    assert "needs https" in page
    assert "<form" not in page


@pytest.mark.parametrize("token", ["", "nothing", None])
def test_a_form_that_was_not_made_for_the_session_changes_nothing(
    tenant: Tenant, me: Person, token: str | None
) -> None:
    foreign = Person(tenant).token if token is None else token
    for at, action in (("/area/", "sign_out"), ("/area/keys/", "create"), ("/area/sessions/", "end_others")):
        answer = me.act(at, action, token=foreign, name="Not ours", livemode="true")
        assert answer.status_code == 403
    assert "Not ours" not in me.get("/area/keys/").text
    assert me.get("/area/").status_code == 200


def test_a_form_of_another_site_is_refused(me: Person) -> None:
    me.api.headers["Origin"] = "https://evil.example"
    assert me.act("/area/keys/", "create", name="Not ours", livemode="true").status_code == 403


def test_no_page_stands_in_a_frame_or_runs_a_script_of_others(me: Person) -> None:
    for section in LISTED:
        page = me.get(section.path)
        policy = page.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert page.headers["X-Frame-Options"] == "DENY"
        assert page.headers["Cache-Control"] == "no-store"
        assert not re.search(r"<script(?! type=\"module\" src=\"/static/)|\son\w+=|style=", page.text)


def test_a_key_is_made_shown_once_followed_and_revoked_on_the_page(tenant: Tenant, me: Person) -> None:
    fields = {
        "name": "ATS",
        "livemode": "false",
        "scopes": ["jobs:read"],
        "cidrs": "",
        "expires_at": "2031-01-01",
    }
    made = me.act("/area/keys/", "create", **fields)
    [key] = re.findall(r"ct_test_[\w-]{43}", made.text)
    page = me.get("/area/keys/").text
    assert key not in page
    assert "jobs:read" in page
    assert Api(tenant.http, key).get("/key/").json()["expires_at"] == "2031-01-01T00:00:00.000Z"
    id = me.get("/api/v1/area/keys/").json()["results"][0]["id"]
    assert f'name="fields.key_id" value="{id}"' in page
    following = me.act("/area/keys/", "rotate", key_id=id, overlap_hours="1")
    assert re.findall(r"ct_test_[\w-]{43}", following.text) != [key]
    done = me.act("/area/keys/", "revoke", key_id=id)
    assert done.headers["Location"] == "/area/keys/?done=revoke"
    assert "The key is revoked." in me.get(done.headers["Location"]).text


def test_what_is_wrong_with_a_form_is_said_at_its_field_and_what_was_typed_stays(me: Person) -> None:
    wrong = me.act(
        "/area/keys/", "create", name="", livemode="true", cidrs="203.0.113.7/24", scopes=["jobs:read"]
    )
    assert wrong.status_code == 400
    assert (
        'id="create-name" aria-invalid="true" aria-describedby="create-name-help create-name-fault"'
        in wrong.text
    )
    wrong = me.act(
        "/area/keys/", "create", name="ATS", livemode="true", cidrs="203.0.113.7/24", scopes=["jobs:read"]
    )
    assert 'id="create-cidrs" aria-invalid="true"' in wrong.text
    assert 'value="203.0.113.7/24"' in wrong.text
    assert 'value="jobs:read" checked' in wrong.text


def test_who_has_not_confirmed_is_asked_to_before_keys_are_changed(tenant: Tenant, me: Person) -> None:
    age(MemberSession, proven_at=timedelta(minutes=11))
    page = me.get("/area/keys/").text
    assert "confirm who you are" in page
    assert 'value="create"' not in page
    assert me.act("/area/keys/", "create", name="ATS", livemode="true").status_code == 403
    [email] = set(re.findall(r'name="fields.email" value="([^"]+)"', page))
    assert me.act("/area/keys/", "ask_code", email=email).status_code == 303
    code, _ = asked(tenant, email)
    assert me.act("/area/keys/", "confirm", code=code).status_code == 303
    assert me.act("/area/keys/", "create", name="ATS", livemode="true").status_code == 200


def test_what_others_write_is_text_on_every_page(tenant: Tenant) -> None:
    tenant.live.post(
        "/webhooks/create/", {"url": "https://hooks.example.com/x", "events": ["*"], "name": EVIL[:80]}
    )
    slug = tenant.live.assessment(title=EVIL)["slug"]
    tenant.live.invitation(slug, name=EVIL)
    tenant.live.patch("/org/", {"name": EVIL})
    tenant.live.get("/jobs/<script>/", headers={"User-Agent": EVIL})
    other = a_member(tenant)
    me = Person(tenant, livemode=True)
    me.act("/area/keys/", "create", name=EVIL, livemode="true")
    for section in LISTED:
        page = me.get(section.path).text
        assert "<script>alert" not in page, section.path
        assert "<img src=x" not in page, section.path
    assert other.email in me.get("/area/members/").text


def test_the_mode_is_switched_for_the_whole_area(tenant: Tenant, me: Person) -> None:
    assert 'class="area is-test"' in me.get("/area/").text
    moved = me.act("/area/", "mode", livemode="true", next="/area/webhooks/")
    assert moved.headers["Location"] == "/area/webhooks/"
    kept = moved.headers["Set-Cookie"].partition(";")[0]
    me.api.headers["Cookie"] = f"{me.api.headers['Cookie'].partition(';')[0]}; {kept}"
    assert 'class="area is-live"' in me.get("/area/").text
    tenant.live.post(
        "/webhooks/create/", {"url": "https://hooks.example.com/x", "events": ["*"], "name": "Live"}
    )
    assert ">Live</a>" in me.get("/area/webhooks/").text


def test_a_webhook_of_another_organisation_is_not_there(tenant: Tenant, other: Tenant) -> None:
    hook = {"url": "https://hooks.example.com/x", "events": ["*"]}
    made = other.live.post("/webhooks/create/", hook).json()["id"]
    me = Person(tenant, livemode=True)
    assert me.get(f"/area/webhooks/{made}/").status_code == 404
    assert me.act(f"/area/webhooks/{made}/", "delete").status_code == 404
    assert other.live.get(f"/webhooks/{made}/").status_code == 200


def test_what_is_done_on_a_page_is_told_of_as_the_operation_that_did_it(tenant: Tenant) -> None:
    me = Person(tenant, livemode=True)
    me.act("/area/keys/", "create", name="ATS", livemode="true")
    [told] = log(tenant.live, channel="area", action="create_key")
    assert (told["actor"]["type"], told["resource_type"]) == ("member", "api_key")
    assert log(tenant.live, action="change_keys_on_page") == []


def test_members_are_invited_changed_and_removed_on_the_page(tenant: Tenant, me: Person) -> None:
    email, other = address(), a_member(tenant, "member")
    assert me.act("/area/members/", "invite", email=email, role="developer").status_code == 303
    again = me.act("/area/members/", "invite", email=email, role="developer")
    assert (again.status_code, "DUPLICATE_KEY" in again.text) == (409, True)
    user = str(other.user_id)
    assert me.act("/area/members/", "change", user_id=user, role="reviewer").status_code == 303
    assert me.act("/area/members/", "remove", user_id=user).status_code == 303
    page = me.get("/area/members/").text
    assert email in page
    assert other.email not in page


def test_signing_out_on_the_page_ends_the_session(me: Person) -> None:
    done = me.act("/area/", "sign_out")
    assert (done.headers["Location"], cookie(done)) == ("/area/sign-in/", "")
    assert me.get("/area/").status_code == 303


def test_an_action_that_there_is_none_of_is_refused(me: Person) -> None:
    for at in ("/area/", "/area/keys/", "/area/sessions/"):
        assert me.act(at, "drop_everything").status_code == 400


@pytest.mark.parametrize("tag", ["ar", "de"])
def test_the_area_speaks_the_language_of_the_browser(me: Person, at_home: None, tag: str) -> None:
    me.api.headers["Accept-Language"] = tag
    for section in LISTED:
        assert f'<html lang="{tag}"' in me.get(section.path).text, section.path
    refused = me.act("/area/keys/", "create", name="", livemode="true").text
    assert tongues.of(tag).tell(say("The request is not valid.")) in refused
    me.api.headers.pop("Cookie")
    assert f'<html lang="{tag}"' in me.get("/area/sign-in/").text
