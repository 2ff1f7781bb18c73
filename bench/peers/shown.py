"""What every peer answers: the same bodies, of rows that are mappings."""

import base64
import json
from uuid import UUID

import work


def meta(used: int) -> dict:
    return {"plan": "enterprise", "invite_limit": None, "invites_used": used, "invites_remaining": None}


def assessment(one: work.Row, used: int) -> dict:
    return {
        "id": str(one["id"]),
        "created_at": work.iso(one["created_at"]),
        "updated_at": work.iso(one["updated_at"]),
        "title": one["title"],
        "slug": one["slug"],
        "description": one["description"],
        "status": one["status"],
        "case_count": one["case_count"],
        "time_limit_minutes": one["time_limit_minutes"],
        "passing_score": one["passing_score"],
        "invitation_count": one["invitation_count"],
        "enforce_fullscreen": one["enforce_fullscreen"],
        "copy_paste_disabled": one["copy_paste_disabled"],
        "livemode": one["livemode"],
        "team": None,
        "session_recording_enabled": one["session_recording_enabled"],
        "screen_recording_enabled": one["screen_recording_enabled"],
        "webcam_recording_enabled": one["webcam_recording_enabled"],
        "notify_on_completion": one["notify_on_completion"],
        "violation_review_threshold": one["violation_review_threshold"],
        "pool_mode": one["pool_mode"],
        "assignment_size": one["assignment_size"],
        "shuffle_strategy": one["shuffle_strategy"],
        "language": one["language"],
        "meta": meta(used),
    }


def invitation(one: work.Row, slug: str, title: str) -> dict:
    return {
        "invite_token": one["token"],
        "invite_url": work.take_url(one["token"]),
        "email": one["email"],
        "name": one["name"],
        "role": one["role"],
        "status": one["status"],
        "external_id": one["external_id"],
        "tags": one["tags"],
        "extra_time_percent": one["extra_time_percent"],
        "language": one["language"],
        "assessment": {"slug": slug, "title": title},
        "candidate_id": str(one["candidate_id"]),
        "retake_of": one["retake_of"],
        "created_at": work.iso(one["created_at"]),
        "updated_at": work.iso(one["updated_at"]),
        "expires_at": work.iso(one["expires_at"]),
        "started_at": work.iso(one["started_at"]),
        "completed_at": work.iso(one["completed_at"]),
        "reminded_at": work.iso(one["reminded_at"]),
        "mail_error": one["mail_error"],
    }


def page(shown: list[dict], last_id: UUID, *, more: bool, size: int, used: int) -> dict:
    """Build the envelope of a first page."""
    following = None
    if more:
        text = json.dumps(["n", str(last_id)], separators=(",", ":"))
        cursor = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
        following = f"{work.BASE_URL}{work.PREFIX}/invites/?page_size={size}&cursor={cursor}"
    return {"next": following, "previous": None, "results": shown, "meta": meta(used)}


def invitations(rows: list[work.Row], size: int) -> dict:
    """Build the envelope of the rows that the product's statement gives, of which there may be one too many."""
    shown = [invitation(row, row["assessment.slug"], row["assessment.title"]) for row in rows[:size]]
    used = rows[0]["invites_used"] if rows else 0
    return page(shown, rows[len(shown) - 1]["id"], more=len(rows) > size, size=size, used=used)
