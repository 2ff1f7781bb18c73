"""The pages of the area as one table: where each is, what it shows, and what its forms do: operations, nothing else."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

from rules import links
from rules.words import say
from schemas import document

HOME = "/area/"
SIGN_IN = "/area/sign-in/"
_LOCAL = re.compile(r"/area/[\w/.?=&%-]*")
_NEAR = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")

Fields = Mapping[str, Any]


def _text(given: Any) -> str:
    return given if isinstance(given, str) else ""


def _line(given: Any) -> str:
    return _text(given).strip()


def _many(given: Any) -> list[str]:
    return [one for one in (given if isinstance(given, list) else [given]) if isinstance(one, str) and one]


def _lines(given: Any) -> list[str]:
    return [one.strip() for one in _text(given).replace(",", "\n").splitlines() if one.strip()]


def _whole(given: Any) -> Any:
    return int(given) if _text(given).isdecimal() and len(given) < 10 else given


def _is_true(given: Any) -> bool:
    return bool(given == "true")


def _moment(given: Any) -> str | None:
    """A day of a form's field, as the moment at which it begins."""
    return f"{given}T00:00:00Z" if _line(given) else None


@dataclass(frozen=True)
class Action:
    """What a form does: an operation, and how it reads its fields; those of the path are texts."""

    operation: str
    body: Mapping[str, Callable[[Any], Any]] | None = None
    path: tuple[str, ...] = ()
    shows: bool = False  # the answer holds what is shown once: it stands on the page itself
    done: str = ""  # what is said once it has succeeded
    leads_to: str = ""  # another page than the form's

    def asked(self, fields: Fields) -> dict[str, Any] | None:
        """Return the operation's body."""
        return (
            self.body
            if self.body is None
            else {name: read(fields.get(name)) for name, read in self.body.items()}
        )


@dataclass(frozen=True)
class Section:
    """One page: what it needs of a role, what it reads, and what its forms do."""

    title: str
    path: str
    template: str
    reads: Mapping[str, str] = field(default_factory=dict)  # operations by the names of their answers
    asks: str = ""  # which of them takes what the page's address asks for
    needs: str = ""
    actions: Mapping[str, Action] = field(default_factory=dict)
    is_listed: bool = True  # in the navigation


CONFIRM = {
    "ask_code": Action("sign_in_by_mail", {"email": _line}, done=say("A code is on its way to you.")),
    "confirm": Action(
        "confirm_identity", {"code": _line}, done=say("Thank you. You can change things for ten minutes.")
    ),
}
SECTIONS = {
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
                    "name": _line,
                    "livemode": _is_true,
                    "scopes": _many,
                    "cidrs": _lines,
                    "expires_at": _moment,
                },
                shows=True,
                done=say("The key is made."),
            ),
            "rotate": Action(
                "rotate_key",
                {"overlap_hours": _whole},
                ("key_id",),
                shows=True,
                done=say("The key that follows is made."),
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
                {"name": _line, "url": _line, "events": _many},
                shows=True,
                done=say("The webhook is made. Test it to switch it on."),
            ),
        },
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
                {"name": _line, "url": _line, "events": _many},
                done=say("The webhook is changed."),
            ),
            "pause": Action("update_webhook", {"is_active": _is_true}, done=say("The webhook is paused.")),
            "rotate": Action(
                "rotate_webhook_secret",
                {"overlap_hours": _whole},
                shows=True,
                done=say("There is a new secret."),
            ),
            "resend": Action("retry_delivery", None, ("delivery_id",), done=say("It is sent again.")),
            "replay": Action(
                "replay_deliveries",
                {"since": _moment, "until": _moment},
                done=say("What happened then is sent again."),
            ),
            "delete": Action(
                "delete_webhook",
                None,
                done=say("The webhook is deleted."),
                leads_to="/area/webhooks/?done=deleted",
            ),
        },
        is_listed=False,
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
                "invite_member", {"email": _line, "role": _line}, done=say("The invite is on its way.")
            ),
            "take_back": Action(
                "revoke_member_invite", None, ("invite_id",), done=say("The invite is taken back.")
            ),
            "change": Action(
                "change_member", {"role": _line}, ("user_id",), done=say("The role is changed.")
            ),
            "remove": Action("remove_member", None, ("user_id",), done=say("They are no member any more.")),
        },
    ),
    "sessions": Section(
        say("Your sessions"),
        "/area/sessions/",
        "area/sessions.html",
        {"sessions": "list_sessions"},
        actions={
            "end": Action("end_session", None, ("session_id",), done=say("The session has ended.")),
            "end_others": Action("end_other_sessions", None, done=say("All other sessions have ended.")),
        },
    ),
}


def named(action: Action, given: Mapping[str, str]) -> dict[str, str]:
    """Return what the operation's path names, of what a form and its page's address give."""
    return {name: value for name, value in given.items() if name in (*action.path, "id")}


def said(section: Section, done: str | None) -> str:
    """Return what a page says of what was done last; nothing for what no form of it does."""
    if section.path == "/area/webhooks/" and done == "deleted":
        return SECTIONS["webhook"].actions["delete"].done
    action = section.actions.get(done or "")
    return action.done if action else ""


def local(address: str | None) -> str:
    """Return a page of the area to go to; the first one for an address that is none of its."""
    return address if address and _LOCAL.fullmatch(address) else HOME


def cursor(address: str | None) -> str:
    """Return where a list goes on, by the address of its next page; nothing at its end."""
    return parse_qs(urlsplit(address or "").query).get("cursor", [""])[0]


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
