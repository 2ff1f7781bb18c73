"""What the area shows: who is signed in and from where, roles, keys and what is mailed to sign in."""

from datetime import datetime
from typing import Any

from rules import links, roles
from rules.caller import Person
from rules.clock import iso
from schemas.views import Told

BEGUN_SECONDS = 600  # for which a browser keeps what a sign-in by others began with
LIVES_DAYS = 400  # the most that browsers keep a cookie; the server ends its session long before


def me(row: Any, person: Person, language: str) -> dict[str, Any]:
    """Show who is signed in, what they may do, and the token that their changes carry."""
    return {
        "user_id": str(row.user_id),
        "name": row.name,
        "email": row.email,
        "role": row.role,
        "scopes": sorted(roles.scopes(row.role)),
        "squads": row.squads,
        "has_passkey": row.has_passkey,
        "organisation": {
            "id": str(row.organisation.id),
            "name": row.organisation.name,
            "slug": row.organisation.slug,
            "plan": row.organisation.plan,
            "language": language,
        },
        "session": {
            "id": str(person.session_id),
            "expires_at": iso(row.session.expires_at),
            "proven_until": iso(person.proven_at + roles.PROVEN_FOR),
        },
        "csrf_token": person.token,
    }


def confirmed(proven_at: datetime) -> dict[str, Any]:
    """Say until when keys and members can be changed."""
    return {"proven_until": iso(proven_at + roles.PROVEN_FOR)}


def session(row: Any, person: Person) -> dict[str, Any]:
    """Show one of a person's sessions."""
    return {
        "id": str(row.id),
        "is_current": row.id == person.session_id,
        "created_at": iso(row.created_at),
        "seen_at": iso(row.seen_at),
        "expires_at": iso(row.expires_at),
        "address": row.address,
        "agent": row.agent,
    }


def role(name: str) -> dict[str, Any]:
    """Show a role with its scopes."""
    one = roles.ROLES[name]
    return {
        "role": name,
        "description": one.description,
        "scopes": sorted(one.scopes),
        "sees_all_squads": one.sees_all,
    }


def invite(row: Any) -> dict[str, Any]:
    """Show a new invite, whose link is in the mail alone."""
    return {
        "id": str(row.id),
        "email": row.email,
        "role": row.role,
        "created_at": iso(row.created_at),
        "expires_at": iso(row.expires_at),
    }


def key(row: Any) -> dict[str, Any]:
    """Show an API key without the key itself."""
    moments = {
        name: getattr(row, name) for name in ("created_at", "expires_at", "revoked_at", "last_used_at")
    }
    return {
        "id": str(row.id),
        "name": row.name,
        "livemode": row.livemode,
        "prefix": row.prefix,
        "scopes": row.scopes,
        "cidrs": row.cidrs,
        "last_used_from": row.last_used_from,
        **{name: moment and iso(moment) for name, moment in moments.items()},
    }


def signed_in(shown: dict[str, Any], token: str) -> Told:
    """Answer with the cookie of a new session."""
    return Told(shown, {"Set-Cookie": _cookie(token, LIVES_DAYS * 86_400), "Cache-Control": "no-store"})


def signed_out() -> Told:
    """Answer with the cookie taken away."""
    return Told(None, {"Set-Cookie": _cookie("", 0)})


def begun(shown: dict[str, Any], secret: str) -> Told:
    """Answer with the cookie that binds what was begun to the browser."""
    kept = _cookie(secret, BEGUN_SECONDS, links.starting_cookie())
    return Told(shown, {"Set-Cookie": kept, "Cache-Control": "no-store"})


def mode(*, livemode: bool) -> dict[str, str]:
    """Return the header by which a browser keeps in which mode its person looks at the area."""
    secure = "; Secure" if links.is_secure() else ""
    value = str(livemode).lower()
    return {"Set-Cookie": f"area-livemode={value}; Path=/area/; HttpOnly; SameSite=Lax{secure}"}


def _cookie(value: str, seconds: int, name: str = "") -> str:
    secure = "; Secure" if links.is_secure() else ""
    return f"{name or links.cookie()}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"


def sign_in_mail(email: str, organisation_name: str, code: str, token: str) -> dict[str, Any]:
    """Tell the mail to sign in with what it says."""
    return {
        "template": "sign-in",
        "to": email,
        "livemode": True,  # members belong to both modes, and their mail goes out
        "organisation_name": organisation_name,
        "code": code,
        "sign_in_url": links.sign_in(token),
    }


def key_ending_mail(key: Any, organisation_name: str, email: str) -> dict[str, Any]:
    """Tell the mail that a key ends soon what it says."""
    return {
        "template": "key-ending",
        "to": email,
        "livemode": True,
        "organisation_name": organisation_name,
        "key_name": key.name,
        "prefix": key.prefix,
        "expires_at": iso(key.expires_at),
        "keys_url": links.area_keys(),
    }
