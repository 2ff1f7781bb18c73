"""The pages of the area. They show and change nothing by themselves: each calls the operations of its table."""

import hmac
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from gateways import openid
from handlers import pages
from rules import brand, links, tokens
from rules.caller import Caller
from rules.clock import iso, now
from rules.errors import CsrfFailed, InsufficientScope, Invalid
from rules.events import EVENTS
from rules.words import say
from schemas import area as schemas
from schemas import people
from schemas.sections import Section
from schemas.views import Call, Called, Redirect, View, refusing

Body = dict[str, Any]
# Within the service the address of the page that a form is on is no secret, and shows that it is our own.
HEADERS = pages.HEADERS | {"Referrer-Policy": "same-origin"}


def show_area(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show how the organisation stands."""
    return show("home", call, caller, query)


def change_area(call: Call, caller: Caller | None, body: Body) -> Redirect:
    """Switch between live and test, or sign out."""
    if caller is None:
        return _to_sign_in(schemas.HOME)
    check(caller, body)
    if body["action"] == "sign_out":
        return Redirect(schemas.SIGN_IN, HEADERS | call("sign_out", csrf_token=body["csrf_token"]).headers)
    if body["action"] != "mode":
        raise Invalid.at("/action", say("There is no such action."))
    is_live = body["fields"].get("livemode") == "true"
    return Redirect(schemas.local(body["fields"].get("next")), HEADERS | people.mode(livemode=is_live))


def show_keys_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show the keys, and the form of a new one."""
    return show("keys", call, caller, query)


def change_keys_on_page(call: Call, caller: Caller | None, body: Body) -> View | Redirect:
    """Make, follow or revoke a key."""
    return act("keys", call, caller, body)


def show_webhooks_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show the webhooks of a mode, and the form of a new one."""
    return show("webhooks", call, caller, query)


def change_webhooks_on_page(call: Call, caller: Caller | None, body: Body) -> View | Redirect:
    """Make a webhook."""
    return act("webhooks", call, caller, body)


def show_webhook_page(call: Call, caller: Caller | None, id: str, **query: Any) -> View | Redirect:
    """Show a webhook with its deliveries."""
    return show("webhook", call, caller, query, id=id)


def change_webhook_on_page(call: Call, caller: Caller | None, id: str, body: Body) -> View | Redirect:
    """Test, change or delete a webhook, or send something again."""
    return act("webhook", call, caller, body, id=id)


def show_events_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show what happened."""
    return show("events", call, caller, query)


def show_requests_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show the requests of keys, each refusal with what it means."""
    return show("requests", call, caller, query)


def show_members_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show the members, who is invited, and what the roles include."""
    return show("members", call, caller, query)


def change_members_on_page(call: Call, caller: Caller | None, body: Body) -> View | Redirect:
    """Invite, change or remove somebody."""
    return act("members", call, caller, body)


def show_sessions_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show where the person is signed in."""
    return show("sessions", call, caller, query)


def change_sessions_on_page(call: Call, caller: Caller | None, body: Body) -> View | Redirect:
    """End sessions."""
    return act("sessions", call, caller, body)


def show_sign_in_page(caller: Caller | None, next: str | None) -> View | Redirect:
    """Ask for an address to mail a code to."""
    return Redirect(schemas.local(next), HEADERS) if caller else _sign_in_page(next=schemas.local(next))


def sign_in_on_page(call: Call, body: Body) -> View | Redirect:
    """Have a code mailed, or sign in with one."""
    email, after = body["email"].strip(), schemas.local(body["next"])
    if not body["code"]:
        asked = call("sign_in_by_mail", body={"email": email})
        return _sign_in_page(email=email, next=after, is_asked=asked.error is None, refused=asked)
    answer = call("sign_in_by_code", body={"email": email, "code": body["code"].replace(" ", "")})
    if answer.error:
        return _sign_in_page(email=email, next=after, is_asked=True, refused=answer)
    return Redirect(after, HEADERS | answer.headers)


def show_sign_in_link_page(token: str) -> View:
    """Show the button of a link: programs that look at mails open links too, and press no buttons."""
    return _sign_in_page(token=token)


def sign_in_by_link_on_page(call: Call, token: str) -> View | Redirect:
    """Sign in with a link."""
    answer = call("sign_in_by_code", body={"token": token})
    return _sign_in_page(refused=answer) if answer.error else Redirect(schemas.HOME, HEADERS | answer.headers)


def show_company_sign_in_page(call: Call, next: str | None) -> View | Redirect:
    """Lead to the company's own sign-in."""
    answer = call("begin_company_sign_in", body={"next": next} if next else {})
    if answer.error:
        return _sign_in_page(refused=answer)
    return Redirect(answer.body["authorization_url"], HEADERS | answer.headers)


def show_company_code_page(
    call: Call, kept: Callable[[str], str | None], code: str | None, state: str | None, error: str | None
) -> View | Redirect:
    """Sign in with what the company's own sign-in leads back with, and go on to the page that it was begun for."""
    answer = call("sign_in_by_company", body={"code": code or error or "none", "state": state or "none"})
    if answer.error:
        return _sign_in_page(refused=answer)
    after = tokens.leads_to(kept(links.starting_cookie()) or "")
    return Redirect(schemas.local(after), HEADERS | answer.headers)


def _sign_in_page(*, refused: Called | None = None, **values: Any) -> View:
    return pages.page(
        "area/sign-in.html",
        status=refused.status if refused and refused.error else 200,
        headers=HEADERS,
        refused=refused,
        is_safe=schemas.is_safe_here(),
        company=openid.name(),
        **values,
    )


def _to_sign_in(path: str) -> Redirect:
    return Redirect(f"{schemas.SIGN_IN}?next={quote(path, safe='/')}", HEADERS)


def check(caller: Caller, body: Body) -> None:
    """Refuse a form that was not made for this session."""
    assert caller.person
    if not hmac.compare_digest(caller.person.token.encode(), body["csrf_token"].encode()):
        raise CsrfFailed


def act(
    name: str, call: Call, caller: Caller | None, body: Body, *, more: Body | None = None, **path: Any
) -> View | Redirect:
    """Do what a form asks for; where it is refused, or shows something once, show the page again."""
    section = schemas.SECTIONS[name]
    here = section.path.format(**path)
    if caller is None:
        return _to_sign_in(here)
    check(caller, body)
    action = section.actions.get(body["action"])
    if action is None:
        raise Invalid.at("/action", say("There is no such action."))
    wanted: Body = {one: str(body["fields"].get(one, "")) for one in action.path} | path
    query = {one: str(body["fields"].get(one, "")) for one in action.query}
    asked = action.asked(body["fields"])
    answer = call(action.operation, csrf_token=body["csrf_token"], query=query, body=asked, **wanted)
    if answer.error is None and not action.shows:
        return Redirect(
            action.leads_to.format(**answer.body or {}) or f"{here}?done={body['action']}", HEADERS
        )
    return show(name, call, caller, {}, answer=answer, given=body, more=more, **path)


def show(
    name: str,
    call: Call,
    caller: Caller | None,
    query: Body,
    *,
    answer: Called | None = None,
    given: Body | None = None,
    more: Body | None = None,
    **path: Any,
) -> View | Redirect:
    """Show a page with what its operations answer, and with the answer to a form of it; who is nobody signs in."""
    section = schemas.SECTIONS[name]
    here = section.path.format(**path)
    if caller is None:
        return _to_sign_in(here)
    asked = {"cursor" if one == "page" else one: value for one, value in query.items() if one != "done"}
    asked |= {one: read(asked[one]) for one, read in section.filters.items() if one in asked}
    read = {
        what: call(
            operation,
            query={**section.always.get(what, {}), **(asked if what == section.asks else {})},
            **path,
        )
        for what, operation in section.reads.items()
    }
    me = call("get_me")
    if me.error:  # it has just ended
        return _to_sign_in(here)
    failed = next((one for one in read.values() if one.error), None) if section.needs else None
    if section.needs and section.needs not in caller.scopes:
        failed = refusing(
            InsufficientScope("The role does not include what this needs.", required_scope=section.needs)
        )
    shown = {what: None if one.error else one.body for what, one in read.items()}
    action = section.actions.get(given["action"]) if given else None
    return pages.page(
        "area/refused.html" if failed else section.template,
        status=(failed or answer or me).status if failed or (answer and answer.error) else 200,
        headers=HEADERS,
        otherwise=me.body["organisation"]["language"],
        me=me.body,
        can=caller.scopes,
        livemode=caller.livemode,
        section=section,
        here=here,
        sections=_listed(caller),
        beside=_beside(section, caller),
        read=shown,
        asked=asked,
        failed=failed,
        refused=answer if answer and answer.error else None,
        made=answer.body if answer and not answer.error else None,
        is_new=answer is not None and answer.status == 201,
        done=action.done
        if action and answer and not answer.error
        else schemas.said(section, query.get("done")),
        given=given or {"action": "", "fields": {}},
        is_proven=me.body["session"]["proven_until"] > iso(now()),
        opened=schemas.opened,
        ink=brand.ink,
        onward_from=schemas.onward,
        events=EVENTS,
        **({} if failed else section.makes(shown)),
        **(more or {}),
    )


def _beside(section: Section, caller: Caller) -> list[Section]:
    """Return the sections that a page belongs to, or that belong to it."""
    whole = section.under or section.path
    found = [
        one for one in schemas.SECTIONS.values() if whole in (one.under, one.path) and "{" not in one.path
    ]
    return [one for one in found if not one.needs or one.needs in caller.scopes]


def _listed(caller: Caller) -> list[Section]:
    return [
        one
        for one in schemas.SECTIONS.values()
        if one.is_listed and (not one.needs or one.needs in caller.scopes)
    ]
