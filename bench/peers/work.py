"""The work that every peer does, without a framework: the same SQL, the same Redis script, the same answers.

Each peer adds what its framework is for: routing, reading and checking a request, an answer. Statements come from the
product as it prepared them (BENCH_STATEMENTS), so that all sides send PostgreSQL the same text.
"""

import base64
import collections
import functools
import hashlib
import json
import os
import secrets
import time
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import email_validator
import orjson

DATABASE_URL, REDIS_URL, BASE_URL = (os.environ[name] for name in ("DATABASE_URL", "REDIS_URL", "BASE_URL"))
GIVEN = json.loads(Path(os.environ["BENCH_STATEMENTS"]).read_text())
SQL, LUA = GIVEN["sql"], GIVEN["lua"]
PREFIX = "/api/v1/public"
UNLIMITED = 2**31 - 1
email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()


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
_kept: dict[str, tuple[float, object]] = {}


def known(key: str):
    """Return a key that was looked up within the last half second, as the product does."""
    kept = _kept.get(key)
    return kept[1] if kept and kept[0] > time.monotonic() else None


def keep(key: str, row):
    _kept[key] = (time.monotonic() + KEPT_SECONDS, row)
    return row


def bearer(authorization: str | None) -> str:
    scheme, _, key = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not key.startswith("ct_"):
        raise Refused(401, "INVALID_API_KEY", "The API key is missing, unknown or revoked.")
    return key


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def check(row, scope: str):
    if row is None or row.revoked_at is not None or (row.expires_at and row.expires_at <= datetime.now(UTC)):
        raise Refused(401, "INVALID_API_KEY", "The API key is missing, unknown or revoked.")
    if row.scopes and scope not in row.scopes:
        raise Refused(403, "INSUFFICIENT_SCOPE", "The key lacks a scope.")
    return row


def limit_arguments(row, *, reads: bool) -> tuple[list[str], list[int]]:
    kind = "reads" if reads else "writes"
    return [f"limit:{row.organisation_id}:{kind}"], [int(time.time() * 1000), UNLIMITED, 3_600_000]


def limit_headers(answer: list[int]) -> dict[str, str]:
    if answer[0]:
        raise Refused(429, "RATE_LIMITED", "Too many requests.")
    return {
        "X-RateLimit-Limit": str(UNLIMITED),
        "X-RateLimit-Remaining": str(max(0, UNLIMITED - answer[1])),
        "X-RateLimit-Reset": str(-(-answer[2] // 1000)),
    }


def request_id() -> str:
    return f"req_{uuid.uuid4().hex}"


def month():
    return datetime.now(UTC).date().replace(day=1)


# --- What is asked for -----------------------------------------------------------------------------------------


def page_size(text: str) -> int:
    size = int(text)
    if not 1 <= size <= 100:
        raise Refused(400, "VALIDATION_ERROR", "page_size")
    return size


def after(cursor: str | None) -> uuid.UUID | None:
    if cursor is None:
        return None
    return uuid.UUID(json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))[1])


def address(text: str) -> str:
    return email_validator.validate_email(text.strip(), check_deliverability=False).normalized


def candidate(body: dict) -> dict:
    """Return the row of an invitation to make."""
    email = address(body["email"])
    return {
        "id": uuid.uuid4(),
        "token": secrets.token_urlsafe(32),
        "email_key": email.casefold(),
        "email": email,
        "name": body["name"],
        "role": body["role"],
        "external_id": body["external_id"],
        "expires_at": datetime.now(UTC) + timedelta(days=body["expires_days"]),
        "extra_time_percent": body["extra_time_percent"],
        "tags": body["tags"],
    }


# --- What is answered ------------------------------------------------------------------------------------------


def iso(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def meta(used: int) -> dict:
    return {"plan": "enterprise", "invite_limit": None, "invites_used": used, "invites_remaining": None}


def assessment(one, used: int) -> dict:
    return {
        "id": str(one.id),
        "created_at": iso(one.created_at),
        "updated_at": iso(one.updated_at),
        "title": one.title,
        "slug": one.slug,
        "description": one.description,
        "status": one.status,
        "case_count": one.case_count,
        "time_limit_minutes": one.time_limit_minutes,
        "passing_score": one.passing_score,
        "invitation_count": one.invitation_count,
        "enforce_fullscreen": one.enforce_fullscreen,
        "copy_paste_disabled": one.copy_paste_disabled,
        "livemode": one.livemode,
        "team": None,
        "session_recording_enabled": one.session_recording_enabled,
        "screen_recording_enabled": one.screen_recording_enabled,
        "webcam_recording_enabled": one.webcam_recording_enabled,
        "notify_on_completion": one.notify_on_completion,
        "violation_review_threshold": one.violation_review_threshold,
        "pool_mode": one.pool_mode,
        "assignment_size": one.assignment_size,
        "shuffle_strategy": one.shuffle_strategy,
        "meta": meta(used),
    }


def take_url(token: str) -> str:
    return f"{BASE_URL}/take/{token}"


def invitation(one, slug: str, title: str) -> dict:
    return {
        "invite_token": one.token,
        "invite_url": take_url(one.token),
        "email": one.email,
        "name": one.name,
        "role": one.role,
        "status": one.status,
        "external_id": one.external_id,
        "tags": one.tags,
        "extra_time_percent": one.extra_time_percent,
        "assessment": {"slug": slug, "title": title},
        "created_at": iso(one.created_at),
        "updated_at": iso(one.updated_at),
        "expires_at": iso(one.expires_at),
        "started_at": iso(one.started_at),
        "completed_at": iso(one.completed_at),
        "reminded_at": iso(one.reminded_at),
    }


def page(shown: list[dict], last_id, *, more: bool, size: int, used: int) -> dict:
    """Build the envelope of a first page."""
    following = None
    if more:
        text = json.dumps(["n", str(last_id)], separators=(",", ":"))
        cursor = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
        following = f"{BASE_URL}{PREFIX}/invites/?page_size={size}&cursor={cursor}"
    return {"next": following, "previous": None, "results": shown, "meta": meta(used)}


def created(one, message: str) -> dict:
    answer = {
        "message": message,
        "invite_token": one.token,
        "invite_url": take_url(one.token),
        "expires_at": iso(one.expires_at),
        "status": one.status,
    }
    return answer if one.external_id is None else answer | {"external_id": one.external_id}


def event_data(one, slug: str, title: str) -> dict:
    data = {
        "invitation_id": str(one.id),
        "invite_token": one.token,
        "email": one.email,
        "candidate_name": one.name,
        "assessment_id": str(one.assessment_id),
        "assessment_slug": slug,
        "assessment_title": title,
        "status": one.status,
        "expires_at": iso(one.expires_at),
        "external_id": one.external_id,
    }
    return {name: value for name, value in data.items() if value is not None}


@functools.cache
def _named(names: tuple[str, ...]):
    return collections.namedtuple("row", names)._make


def named(names: list[str]):
    """Return what makes a named tuple of a row's values."""
    return _named(tuple(names))
