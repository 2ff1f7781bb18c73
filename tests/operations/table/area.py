"""The area: signing in, sessions, keys and members."""

import dataclasses
from typing import Any
from uuid import UUID

from sqlalchemy import delete

import store
from gateways import openid
from rules import links
from store.accounts import members, sign_ins
from store.accounts.members import Member
from store.accounts.passkeys import Passkey
from tests.api import Api, owner_session
from tests.company import CLIENT, SECRET, company
from tests.device import Device
from tests.operations import states
from tests.operations.rows import FORM, Ids, Row, State, nothing


def a_person(api: Api) -> Member:
    """The owner whose sessions the rows are asked with."""
    owner_session(api)
    with store.transaction() as session:
        organisation = UUID(api.get("/org/").json()["id"])
        found = members.of(session, session.get_one(members.Organisation, organisation))
        return next(one for one in found if one.name == "Grace Hopper")


def a_code(api: Api) -> Ids:
    """A code and a link that somebody was mailed."""
    person = a_person(api)
    with store.transaction() as session:
        made = sign_ins.make(session, session.get_one(Member, person.id))
        assert made
        return {"owner": person.email, "code": made[1], "link": made[2]}


def a_session(api: Api) -> Ids:
    """Another session of the person who asks."""
    owner_session(api)
    headers = owner_session(api)
    shown = api.http.get("/api/v1/area/me/", headers=headers).json()
    return {"session_id": shown["session"]["id"]}


def a_key(api: Api) -> Ids:
    made = {"name": "To be changed", "livemode": False}
    answer = api.http.post("/api/v1/area/keys/", json=made, headers=owner_session(api))
    return {"key_id": answer.json()["id"]}


def begun(api: Api, at: str, headers: Ids | None = None) -> tuple[Any, str]:
    """What something was begun with, and what the browser keeps of it."""
    answer = api.http.post(f"/api/v1/area/{at}", headers=headers)
    return answer.json(), answer.headers["Set-Cookie"].partition(";")[0]


def a_company(api: Api) -> Ids:
    """A company's sign-in, which says that somebody is the owner."""
    person, there = a_person(api), company()
    there.tell(claims={"email": person.email})
    openid.configure(
        issuer=there.issuer,
        client_id=CLIENT,
        client_secret=SECRET,
        organisation=api.get("/org/").json()["slug"],
        name="Northwind",
        allow_private=True,
    )
    return {}


def back_from_a_company(api: Api) -> Ids:
    """What a browser comes back with from a company's sign-in."""
    a_company(api)
    shown, kept = begun(api, "sign-in/company/")
    return {**company().sign_in(shown["authorization_url"]), "kept": kept}


def a_device(api: Api) -> tuple[Device, Ids]:
    """A device whose passkey is the owner's."""
    device, session = Device(links.origin()), owner_session(api)
    shown, kept = begun(api, "passkeys/options/", session)
    made = {"name": "A laptop", "credential": device.make(shown["options"])}
    session["Cookie"] += f"; {kept}"
    answer = api.http.post("/api/v1/area/passkeys/", json=made, headers=session)
    return device, {"passkey_id": answer.json()["id"]}


def a_passkey(api: Api) -> Ids:
    ids = a_device(api)[1]
    with store.transaction() as session:  # of twenty at most, whoever asked before
        owner = session.get_one(Passkey, UUID(ids["passkey_id"])).member_id
        others = delete(Passkey).where(Passkey.member_id == owner, Passkey.id != UUID(ids["passkey_id"]))
        session.execute(others)
    return ids


def a_made_passkey(api: Api) -> Ids:
    """What a browser has made of the options that it was given."""
    a_passkey(api)
    shown, kept = begun(api, "passkeys/options/", owner_session(api))
    return {"credential": Device(links.origin()).make(shown["options"]), "kept": kept}  # type: ignore[dict-item]


def a_signed_passkey(api: Api) -> Ids:
    """What a browser has signed in with."""
    a_passkey(api)
    device = a_device(api)[0]
    shown, kept = begun(api, "sign-in/passkey/")
    return {"credential": device.sign(shown["options"]), "kept": kept}  # type: ignore[dict-item]


def a_confirming_passkey(api: Api) -> Ids:
    """What a browser has confirmed with whose person it is."""
    a_passkey(api)
    device = a_device(api)[0]
    shown, kept = begun(api, "confirm/passkey/", owner_session(api))
    return {"credential": device.sign(shown["options"]), "kept": kept}  # type: ignore[dict-item]


KEY = {
    "name": "Applicant tracking system",
    "livemode": True,
    "scopes": ["jobs:read", "applications:write"],
    "cidrs": ["203.0.113.0/24"],
    "expires_at": "2031-01-01T12:00:00.000Z",
}
PAGE = "text/html"
NO_TOKEN = {"csrf_token": "", "action": "create"}


def a_link(api: Api) -> Ids:
    """The token of a mail's link."""
    return {"token": a_code(api)["link"]}


def a_form(action: str, state: State = nothing, **fields: Any) -> Row:
    """A form of a page, which leads to another one."""
    body = {"csrf_token": "{csrf_token}", "action": action, "fields": fields}
    return Row(state, body, status=303, media=FORM, answers=None)


def a_page(action: str, state: State = nothing, **fields: Any) -> Row:
    """A form that shows something once, on the page itself."""
    return dataclasses.replace(a_form(action, state, **fields), status=200, answers=PAGE)


NOBODY = Row(status=303, answers=None, is_signed_in=False)


def shown(state: State = nothing, **query: Any) -> Row:
    """A page; who is not signed in is led to the page to do so."""
    nobody = dataclasses.replace(NOBODY, state=state, query=query)
    return Row(state, query=query, answers=PAGE, also=(nobody,))


ROWS = {
    "show_area": shown(),
    "change_area": a_form("mode", livemode="true", next="/area/keys/"),
    "show_sign_in_page": Row(
        answers=PAGE,
        is_signed_in=False,
        also=(Row(query={"next": "/area/keys/"}, status=303, answers=None),),
    ),
    "sign_in_on_page": Row(
        body={"email": "{email}", "next": "/area/keys/"},
        media=FORM,
        answers=PAGE,
        also=(Row(a_code, {"email": "{owner}", "code": "{code}"}, status=303, media=FORM, answers=None),),
    ),
    "show_sign_in_link_page": Row(a_link, answers=PAGE),
    "sign_in_by_link_on_page": Row(a_link, status=303, answers=None),
    "show_invitations_page": shown(
        states.an_invitation, assessment="{slug}", status="pending", email="{person}", tag="spring"
    ),
    "show_invite_page": shown(states.an_assessment, assessment="{slug}"),
    "invite_on_page": dataclasses.replace(
        a_page(
            "create",
            states.an_assessment,
            slug="{slug}",
            email="{email}",
            expires_days="7",
            extra_time_percent="0",
        ),
        also=(dataclasses.replace(NOBODY, body=NO_TOKEN, media=FORM),),
    ),
    "show_invitation_page": shown(states.an_invitation),
    "change_invitation_on_page": a_form(
        "change", states.an_invitation, name="Ada", role="", tags="spring, berlin"
    ),
    "show_results_page": shown(states.an_assessment, search="engineer"),
    "show_assessment_results_page": shown(states.a_submission, status="completed"),
    "show_comparison_page": shown(states.two_submissions, invite_token=["{token}", "{other_token}"]),
    "download_results": dataclasses.replace(
        shown(states.a_submission, status="completed"), answers="text/csv"
    ),
    "show_result_page": shown(states.a_share),
    "change_result_on_page": dataclasses.replace(
        a_page("share", states.a_submission, expires_days="7"),
        also=(a_form("revoke", states.a_share, share_id="{share_id}"),),
    ),
    "download_report": dataclasses.replace(shown(states.a_submission), answers="application/pdf"),
    "show_reviews_page": shown(states.a_review, assessment="{slug}", claimed="false", names="true"),
    "change_reviews_on_page": a_form("begin", states.a_review, assessment="{slug}"),
    "show_review_page": shown(states.a_review, assessment="{slug}", names="true"),
    "change_review_on_page": a_form("score", states.a_review, score="7.5", comment="Writes are missing."),
    "show_cases_page": shown(states.a_case),
    "show_new_case_page": shown(case_type="coding"),
    "create_case_on_page": dataclasses.replace(
        a_form("numeric", title="Half of 84", difficulty="easy", points="10", answer_number="42"),
        also=(dataclasses.replace(NOBODY, body=NO_TOKEN, media=FORM),),
    ),
    "show_company_sign_in_page": Row(a_company, query={"next": "/area/keys/"}, status=303, answers=None),
    "show_company_code_page": Row(
        back_from_a_company, query={"code": "{code}", "state": "{state}"}, status=303, answers=None
    ),
    "begin_company_sign_in": Row(a_company, {"next": "/area/keys/"}),
    "sign_in_by_company": Row(back_from_a_company, {"code": "{code}", "state": "{state}"}),
    "list_passkeys": Row(a_passkey),
    "begin_passkey": Row(),
    "create_passkey": Row(a_made_passkey, {"name": "A telephone", "credential": "{credential}"}, status=201),
    "delete_passkey": Row(a_passkey, status=204, answers=None),
    "begin_passkey_sign_in": Row(),
    "begin_passkey_confirmation": Row(a_passkey),
    "confirm_by_passkey": Row(a_confirming_passkey, {"credential": "{credential}"}),
    "sign_in_by_passkey": Row(a_signed_passkey, {"credential": "{credential}"}),
    "show_keys_page": shown(a_key, done="create"),
    "change_keys_on_page": dataclasses.replace(
        a_page("create", name="ATS", livemode="true", scopes=["jobs:read"], cidrs="203.0.113.0/24, ::/0"),
        also=(a_form("revoke", a_key, key_id="{key_id}"),),
    ),
    "show_webhooks_page": shown(states.a_webhook),
    "change_webhooks_on_page": dataclasses.replace(
        a_page("create", name="ATS", url="https://hooks.example.com/area", events=["*"]),
        also=(dataclasses.replace(NOBODY, body=NO_TOKEN, media=FORM),),
    ),
    "show_webhook_page": shown(states.a_webhook, status="failed"),
    "change_webhook_on_page": dataclasses.replace(
        a_page("rotate", states.a_webhook, overlap_hours="2"),
        also=(a_form("pause", states.a_webhook, is_active="false"),),
    ),
    "show_events_page": shown(type="job.created"),
    "show_requests_page": shown(code="NOT_FOUND", operation="create_job"),
    "show_members_page": shown(states.a_member_invite),
    "change_members_on_page": a_form("invite", email="{email}", role="developer"),
    "show_sessions_page": shown(a_session),
    "change_sessions_on_page": a_form("end", a_session, session_id="{session_id}"),
    "sign_in_by_mail": Row(body={"email": "{email}"}, status=202),
    "sign_in_by_code": Row(
        a_code, {"email": "{owner}", "code": "{code}"}, also=(Row(a_code, {"token": "{link}"}),)
    ),
    "sign_out": Row(status=204, answers=None),
    "confirm_identity": Row(a_code, {"code": "{code}"}),
    "get_me": Row(),
    "list_sessions": Row(a_session),
    "end_session": Row(a_session, status=204, answers=None),
    "end_other_sessions": Row(a_session),
    "list_keys": Row(a_key),
    "create_key": Row(body=KEY, status=201),
    "update_key": Row(a_key, {"name": "Changed", "scopes": ["jobs:read"], "cidrs": [], "expires_at": None}),
    "revoke_key": Row(a_key),
    "rotate_key": Row(a_key, {"overlap_hours": 2}, status=201),
    "list_roles": Row(),
    "invite_member": Row(body={"email": "{email}", "role": "developer"}, status=201),
    "revoke_member_invite": Row(states.a_member_invite, status=204, answers=None),
    "change_member": Row(states.a_member, {"role": "reviewer"}),
    "unbind_company_sign_in": Row(states.a_member, status=204, answers=None),
    "remove_member": Row(states.a_member, status=204, answers=None),
}
