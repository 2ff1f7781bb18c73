"""The work that every peer does, without a framework: the same SQL, the same Redis script, the same answers.

Each peer adds what its framework is for: routing, reading and checking a request, an answer. Statements come from the
product as it prepared them (BENCH_STATEMENTS), so that all sides send PostgreSQL the same text; a row is a mapping.
"""

import gc
import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import email_validator
import orjson
from uuid_utils.compat import uuid7

DATABASE_URL, REDIS_URL, BASE_URL = (os.environ[name] for name in ("DATABASE_URL", "REDIS_URL", "BASE_URL"))
GIVEN = json.loads(Path(os.environ["BENCH_STATEMENTS"]).read_text())
SQL, LUA = GIVEN["sql"], GIVEN["lua"]
# All take locks of the same rows: who lets more of them in than it is best with has them wait in PostgreSQL.
INVITES_AT_ONCE = int(os.environ["BENCH_INVITES_AT_ONCE"])
# As the product sets its connections.
SETTINGS = GIVEN["settings"]
USUAL_EMAIL = re.compile(GIVEN["usual_email"])
PREFIX = "/api/v1/public"
UNLIMITED = 2**31 - 1
email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()
Row = Mapping[str, Any]


def started() -> None:
    """Look for garbage as the product does once it has started: not in what stays, and seldom in the rest."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


class Asked(NamedTuple):
    """What the audit log keeps of a request."""

    id: str
    path: str
    ip: str
    began: float


def asked(path: str, ip: str) -> Asked:
    return Asked(f"req_{uuid7().hex}", path, ip, time.perf_counter())


class Refused(Exception):
    """A refusal: status, code, message."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code

    def body(self, request_id: str) -> bytes:
        return orjson.dumps(
            {"error": {"code": self.code, "message": str(self), "details": {"request_id": request_id}}}
        )


# --- Who asks, and how often -----------------------------------------------------------------------------------

KEPT_SECONDS = 0.5
_kept: dict[str, tuple[float, Row | None]] = {}


def known(key: str) -> Row | None:
    """Return a key that was looked up within the last half second, as the product does."""
    kept = _kept.get(key)
    return kept[1] if kept and kept[0] > time.monotonic() else None


def keep(key: str, row: Row | None) -> Row | None:
    _kept[key] = (time.monotonic() + KEPT_SECONDS, row)
    return row


def bearer(authorization: str | None) -> str:
    scheme, _, key = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not key.startswith("ct_"):
        raise Refused(401, "INVALID_API_KEY", "The API key is missing, unknown or revoked.")
    return key


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def check(row: Row | None, scope: str) -> Row:
    if row is None or row["revoked_at"] or (row["expires_at"] and row["expires_at"] <= datetime.now(UTC)):
        raise Refused(401, "INVALID_API_KEY", "The API key is missing, unknown or revoked.")
    if row["scopes"] and scope not in row["scopes"]:
        raise Refused(403, "INSUFFICIENT_SCOPE", "The key lacks a scope.")
    return row


def limit_arguments(row: Row, *, reads: bool) -> tuple[list[str], list[int]]:
    kind = "reads" if reads else "writes"
    return [f"limit:{row['organisation_id']}:{kind}"], [int(time.time() * 1000), UNLIMITED, 3_600_000]


def limit_headers(answer: list[int]) -> dict[str, str]:
    if answer[0]:
        raise Refused(429, "RATE_LIMITED", "Too many requests.")
    return {
        "X-RateLimit-Limit": str(UNLIMITED),
        "X-RateLimit-Remaining": str(max(0, UNLIMITED - answer[1])),
        "X-RateLimit-Reset": str(-(-answer[2] // 1000)),
    }


def month() -> Any:
    return datetime.now(UTC).date().replace(day=1)


# --- What is asked for -----------------------------------------------------------------------------------------


def page_size(text: str) -> int:
    size = int(text)
    if not 1 <= size <= 100:
        raise Refused(400, "VALIDATION_ERROR", "page_size")
    return size


def address(text: str) -> str:
    text = text.strip()
    if len(text) <= GIVEN["short_email"] and USUAL_EMAIL.fullmatch(text):
        return text
    return email_validator.validate_email(text, check_deliverability=False).normalized


def candidate(body: dict) -> dict:
    """Return the row of an invitation to make."""
    email = address(body["email"])
    return {
        "id": uuid7(),
        "profile": uuid7(),
        "token": secrets.token_urlsafe(32),
        "email_key": email.casefold(),
        "source": "Invitation",
        "email": email,
        "name": body["name"],
        "role": body["role"],
        "external_id": body["external_id"],
        "expires_at": datetime.now(UTC) + timedelta(days=body["expires_days"]),
        "extra_time_percent": body["extra_time_percent"],
        "tags": body["tags"],
        "language": None,
    }


def wanted(row: Mapping, slug: str) -> dict:
    """Return what the statement takes that looks before an invite."""
    return {"key": slug, "id": None, "email": row["email_key"], "external_id": row["external_id"]}


OF_PAGE = ("slug", "title", "time_limit_minutes", "language")
NOBODY = UUID(int=0)


def check_free(found: Row | None) -> None:
    """Refuse what cannot be invited to."""
    if found is None:
        raise Refused(404, "NOT_FOUND", "There is no such assessment.")
    if found["page_status"] != "active":
        raise Refused(403, "ASSESSMENT_NOT_ACTIVE", "The assessment is not active.")


def invited(caller: Row, found: Row, row: dict, slug: str, request: Asked) -> tuple[Row, dict]:
    """Return an invitation that is to be made, and what the statement takes that makes it."""
    made = {**row, "status": "pending", "assessment_id": found["assessment_id"]}
    data = event_data(made, found["assessment.slug"], found["assessment.title"])
    event = {"id": uuid7(), "number": 1, "type": "invitation.created", "data": data}
    moment = datetime.now(UTC)
    return made, {
        **wanted(row, slug),
        "count": 1,
        "limit": UNLIMITED,
        "moment": moment,
        "candidates": orjson.dumps([row]).decode(),
        "seen": orjson.dumps([found[f"assessment.{name}"] for name in OF_PAGE]).decode(),
        "told": 1,
        "events": orjson.dumps([event]).decode(),
        "entries": audited(caller, made, request),
        # No mail is asked for.
        "owner": NOBODY,
        "mode": True,
        "due_at": None,
        "job": "",
        "items": "[]",
    }


def audited(caller: Row, made: Row, request: Asked) -> str:
    """Write a row of the audit log."""
    id = uuid7()
    entry = {
        "id": id,
        "occurred_at": datetime.fromtimestamp((id.int >> 80) / 1000, UTC),
        "organisation_id": caller["organisation_id"],
        "livemode": caller["livemode"],
        "channel": "public_api",
        "actor_type": "key",
        "actor_id": caller["id"],
        "action": "create_invitation",
        "method": "POST",
        "path": request.path,
        "outcome": "success",
        "status_code": 201,
        "error_code": None,
        "ip": request.ip,
        "request_id": request.id,
        "resource_type": "invitation",
        "resource_id": str(made["id"]),
        "duration_ms": round((time.perf_counter() - request.began) * 1000),
    }
    return orjson.dumps([entry], _text_of).decode()


def _text_of(value: object) -> str:
    """Write an id of a driver's own class, which orjson does not know."""
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(type(value))


# --- What is answered ------------------------------------------------------------------------------------------


def iso(moment: datetime | None) -> str | None:
    """Write a moment, which every driver gives in UTC, as fast as ours is written."""
    return moment and "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ" % (  # noqa: UP031 - half of isoformat's time
        moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, moment.microsecond // 1000
    )  # fmt: skip


# How PostgreSQL is to take a parameter whose type its statement leaves open.
_TYPES = {
    "organisation_id": "uuid",
    "livemode": "boolean",
    "month": "date",
    "count": "integer",
    "limit": "integer",
    "moment": "timestamptz",
    "told": "integer",
}


def numbered(statement: str) -> tuple[str, list[str]]:
    """Write a statement with $1, $2 … for its names; return these in their order."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement)))

    def place(match: re.Match) -> str:
        name = match.group(1)
        return f"${names.index(name) + 1}" + (f"::{_TYPES[name]}" if name in _TYPES else "")

    return re.sub(r"%\((\w+)\)s", place, statement).replace("%%", "%"), names


def take_url(token: str) -> str:
    return f"{BASE_URL}/take/{token}"


def created(one: Row, message: str) -> dict:
    answer = {
        "message": message,
        "invite_token": one["token"],
        "invite_url": take_url(one["token"]),
        "expires_at": iso(one["expires_at"]),
        "status": one["status"],
    }
    return answer if one["external_id"] is None else answer | {"external_id": one["external_id"]}


def event_data(one: Row, slug: str, title: str) -> dict:
    data = {
        "invitation_id": str(one["id"]),
        "invite_token": one["token"],
        "email": one["email"],
        "candidate_name": one["name"],
        "assessment_id": str(one["assessment_id"]),
        "assessment_slug": slug,
        "assessment_title": title,
        "status": one["status"],
        "expires_at": iso(one["expires_at"]),
        "external_id": one["external_id"],
    }
    return {name: value for name, value in data.items() if value is not None}
