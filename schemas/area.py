"""The pages of the area as one table: where each is, what it shows, and what its forms do: operations, nothing else."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from rules import links, signatures
from rules.words import say
from schemas import area_cases, area_results, area_reviews, area_settings, document
from schemas.sections import Action, Section, is_true, line, lines, many, moment, whole

HOME = "/area/"
SIGN_IN = "/area/sign-in/"
_LOCAL = re.compile(r"/area/[\w/.?=&%-]*")
_NEAR = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")

CONFIRM = {
    "ask_code": Action("sign_in_by_mail", {"email": line}, done=say("A code is on its way to you.")),
    "confirm": Action(
        "confirm_identity", {"code": line}, done=say("Thank you. You can change things for ten minutes.")
    ),
}
_SECTIONS = {
    "home": Section(
        say("Overview"),
        HOME,
        "area/home.html",
        {"billing": "get_billing", "usage": "get_usage", "health": "get_developer_health"},
    ),
    "keys": Section(
        say("API keys"),
        "/area/keys/",
        "area/keys.html",
        {"keys": "list_keys"},
        "keys",
        "keys:manage",
        {
            **CONFIRM,
            "create": Action(
                "create_key",
                {
                    "name": line,
                    "livemode": is_true,
                    "scopes": many,
                    "cidrs": lines,
                    "expires_at": moment,
                },
                shows=True,
                done=say("The key is made."),
            ),
            "rotate": Action(
                "rotate_key",
                {"overlap_hours": whole},
                ("key_id",),
                shows=True,
                done=say("The key that follows is made."),
            ),
            "update": Action(
                "update_key",
                {"name": line, "scopes": many, "cidrs": lines, "expires_at": moment},
                ("key_id",),
                done=say("The key is changed."),
            ),
            "revoke": Action("revoke_key", None, ("key_id",), done=say("The key is revoked.")),
        },
    ),
    "webhooks": Section(
        say("Webhooks"),
        "/area/webhooks/",
        "area/webhooks.html",
        {"webhooks": "list_webhooks"},
        "webhooks",
        "webhooks:read",
        {
            "create": Action(
                "create_webhook",
                {"name": line, "url": line, "events": many},
                shows=True,
                done=say("The webhook is made. Test it to switch it on."),
            ),
        },
        says={"deleted": say("The webhook is deleted.")},
    ),
    "webhook": Section(
        say("Webhook"),
        "/area/webhooks/{id}/",
        "area/webhook.html",
        {"webhook": "get_webhook", "deliveries": "list_deliveries"},
        "deliveries",
        "webhooks:read",
        {
            "test": Action(
                "test_webhook", None, done=say("The endpoint has answered: it is verified and active.")
            ),
            "update": Action(
                "update_webhook",
                {"name": line, "url": line, "events": many},
                done=say("The webhook is changed."),
            ),
            "pause": Action("update_webhook", {"is_active": is_true}, done=say("The webhook is paused.")),
            "rotate": Action(
                "rotate_webhook_secret",
                {"overlap_hours": whole},
                shows=True,
                done=say("There is a new secret."),
            ),
            "resend": Action("retry_delivery", None, ("delivery_id",), done=say("It is sent again.")),
            "replay": Action(
                "replay_deliveries",
                {"since": moment, "until": moment},
                done=say("What happened then is sent again."),
            ),
            "delete": Action("delete_webhook", leads_to="/area/webhooks/?done=deleted"),
        },
        is_listed=False,
        makes=lambda _read: {"agent": signatures.USER_AGENT},
    ),
    "events": Section(
        say("Events"),
        "/area/events/",
        "area/events.html",
        {"events": "list_events"},
        "events",
        "webhooks:read",
    ),
    "requests": Section(
        say("Requests"),
        "/area/requests/",
        "area/requests.html",
        {"requests": "list_requests"},
        "requests",
        "organisation:read",
    ),
    "members": Section(
        say("Members"),
        "/area/members/",
        "area/members.html",
        {"team": "list_team", "invites": "list_member_invites", "roles": "list_roles"},
        "team",
        "organisation:read",
        {
            **CONFIRM,
            "invite": Action(
                "invite_member", {"email": line, "role": line}, done=say("The invite is on its way.")
            ),
            "take_back": Action(
                "revoke_member_invite", None, ("invite_id",), done=say("The invite is taken back.")
            ),
            "change": Action("change_member", {"role": line}, ("user_id",), done=say("The role is changed.")),
            "unbind": Action(
                "unbind_company_sign_in",
                None,
                ("user_id",),
                done=say("They are bound to nobody there any more."),
            ),
            "remove": Action("remove_member", None, ("user_id",), done=say("They are no member any more.")),
        },
    ),
    "sessions": Section(
        say("Your sign-in"),
        "/area/sessions/",
        "area/sessions.html",
        {"sessions": "list_sessions", "passkeys": "list_passkeys"},
        actions={
            **CONFIRM,
            "remove_passkey": Action(
                "delete_passkey", None, ("passkey_id",), done=say("The passkey is removed.")
            ),
            "end": Action("end_session", None, ("session_id",), done=say("The session has ended.")),
            "end_others": Action("end_other_sessions", None, done=say("All other sessions have ended.")),
        },
        says={"add_passkey": say("The passkey is added.")},
    ),
}
SECTIONS = {
    "home": _SECTIONS["home"],
    **area_results.SECTIONS,
    **area_reviews.SECTIONS,
    **area_cases.SECTIONS,
    **_SECTIONS,
    **area_settings.SECTIONS,
}


def said(section: Section, done: str | None) -> str:
    """Return what a page says of what was done last; nothing for what no form of it does."""
    action = section.actions.get(done or "")
    return action.done if action else section.says.get(done or "", "")


def local(address: str | None) -> str:
    """Return a page of the area to go to; the first one for an address that is none of its."""
    return address if address and _LOCAL.fullmatch(address) else HOME


def onward(address: str | None, asked: Mapping[str, Any]) -> str:
    """Return the query of a list's next page, with what was asked for; nothing at the list's end."""
    cursor = parse_qs(urlsplit(address or "").query).get("cursor")
    kept = {name: value for name, value in asked.items() if name != "cursor" and value not in (None, "")}
    return urlencode(kept | {"page": cursor[0]}) if cursor else ""


def is_safe_here() -> bool:
    """Say whether a session's cookie is safe: by https, or on one's own machine."""
    return links.is_secure() or bool(_NEAR.fullmatch(links.origin()))


@cache
def opened() -> dict[str, list[str]]:
    """Say what each scope of a key opens: the summaries of the operations that need it."""
    found: dict[str, list[str]] = {}
    for item in document.read("openapi")["paths"].values():
        for operation in item.values():
            for need in operation.get("security", ()) if isinstance(operation, dict) else ():
                for scope in need.get("bearer", ()):
                    found.setdefault(scope, []).append(operation["summary"])
    return found
