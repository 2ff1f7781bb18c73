"""Talking in an interview's room: from browser to browser, which find each other by signals that the room passes on."""

import hmac
from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from rules.errors import Invalid

LONGEST_TEXT = 16_000  # characters of what a browser says of itself: a few thousand are usual
RELAY_HOURS = 12  # that a name and password for a relay are good for: longer than an interview
RELAYS = ("turn:", "turns:")

# What each kind of signal says, beside whom it is from and to whom it goes; without `to` it is for all who are there.
KINDS: dict[str, dict[str, type]] = {
    "here": {"mic": bool, "muted": bool, "asks": bool},
    "offer": {"sdp": str},
    "answer": {"sdp": str},
    "candidate": {"candidate": str, "mid": str, "line": int},
    "leave": {},
}
TO_ONE = ("offer", "answer", "candidate")

_servers: tuple[str, ...] = ()
_secret = ""


def configure(servers: tuple[str, ...], *, secret: str) -> None:
    """Say by which servers browsers find each other, and the secret that is shared with those that relay."""
    global _servers, _secret
    for url in servers:
        if not url.startswith(("stun:", "stuns:", *RELAYS)):
            raise ValueError(f"ICE_SERVERS has {url!r}, which begins neither with stun: nor with turn:.")
    _servers, _secret = servers, secret


def offered(room: Any) -> bool:
    """Say whether a room's people can speak: where it is meant to be spoken, and people are on both sides."""
    return bool(room.voice_mode and room.human_can_join and room.interviewer_mode != "ai_only")


def require(*, offered: bool, status: str) -> None:
    """Refuse signals where nobody can speak: in rooms that are not meant to be spoken, and before anybody waits."""
    if not offered:
        raise Invalid.at("/voice", "is for rooms with `voice_mode` alone, where people interview")
    if status not in ("waiting", "active"):
        raise Invalid.at("/voice", "begins when somebody has joined")


def servers(name: str, moment: datetime) -> list[dict[str, Any]]:
    """List the servers for somebody: whoever relays has a name and a password that are good for some hours."""
    made: list[dict[str, Any]] = []
    for url in _servers:
        if url.startswith(RELAYS) and _secret:
            until = int((moment + timedelta(hours=RELAY_HOURS)).timestamp())
            who = f"{until}:{name}"
            password = b64encode(hmac.digest(_secret.encode(), who.encode(), "sha1")).decode()
            made.append({"urls": [url], "username": who, "credential": password})
        else:
            made.append({"urls": [url], "username": "", "credential": ""})
    return made


def signal(given: Mapping[str, Any], pointer: str = "") -> dict[str, Any]:
    """Return a signal as it is passed on: what is known and nothing else; or refuse."""
    kind = given.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise Invalid.at(f"{pointer}/kind", f"must be one of {', '.join(KINDS)}")
    said: dict[str, Any] = {"kind": kind, "from": _id(given, "from", pointer)}
    if kind in TO_ONE or given.get("to") is not None:
        said["to"] = _id(given, "to", pointer)
    for name, form in KINDS[kind].items():
        value: Any = given.get(name)
        fits = type(value) is form  # True is no number
        if not fits:
            raise Invalid.at(f"{pointer}/{name}", f"must be there in a signal of the kind {kind}")
        if isinstance(value, str) and (len(value) > LONGEST_TEXT or not value.isascii() or "\x00" in value):
            raise Invalid.at(
                f"{pointer}/{name}", f"must have no more than {LONGEST_TEXT} characters, of ASCII"
            )
        if form is int and not 0 <= value < 1000:
            raise Invalid.at(f"{pointer}/{name}", "must be a number of a line")
        said[name] = value
    if "sdp" in said and not said["sdp"].startswith("v=0"):
        raise Invalid.at(f"{pointer}/sdp", "must be a description of a session")
    return said


def _id(given: Mapping[str, Any], name: str, pointer: str) -> str:
    try:
        return str(UUID(str(given[name])))
    except (KeyError, ValueError):
        raise Invalid.at(f"{pointer}/{name}", "must be a UUID") from None
