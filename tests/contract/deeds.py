"""The area's pages: the lists that they show, and what their forms ask for."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from rules.clock import now
from tests.contract.makers import PUBLIC, an_address, an_assessment, shared
from tests.contract.people import (
    MODE,
    Ids,
    a_code,
    a_colleague,
    a_key,
    an_email,
    an_open_invite,
    another_session,
)

# The list that a page shows, a page of it at a time.
LISTS = {
    "show_invitations_page": f"{PUBLIC}/invites/",
    "show_results_page": f"{PUBLIC}/assessments/",
    "show_assessment_results_page": f"{PUBLIC}/assessments/{{slug}}/results/",
    "download_results": f"{PUBLIC}/assessments/{{slug}}/results/",
    "show_reviews_page": f"{PUBLIC}/reviews/",
    "show_cases_page": f"{PUBLIC}/cases/",
    "show_keys_page": "/api/v1/area/keys/",
    "show_webhooks_page": f"{PUBLIC}/webhooks/",
    "show_webhook_page": f"{PUBLIC}/webhooks/{{id}}/deliveries/",
    "show_events_page": f"{PUBLIC}/events/",
    "show_requests_page": f"{PUBLIC}/org/requests/",
    "show_members_page": f"{PUBLIC}/org/team/",
    "show_squads_page": f"{PUBLIC}/org/squads/",
    "show_squad_page": f"{PUBLIC}/org/squads/{{team_id}}/members/",
    "show_audit_page": f"{PUBLIC}/org/audit-log/",
    # These are no lists, and take the same filters.
    "download_audit_log": f"{PUBLIC}/org/audit-log/",
    "show_usage_page": f"{PUBLIC}/org/usage/",
}
# Pages take any text so that they can say what is wrong with it; here nothing is.
FILTERS = {
    "status": "failed",
    "type": "invitation.created",
    "code": "VALIDATION_ERROR",
    "operation": "create_invitation",
    "action": "create_job",
    "channel": "area",
    "outcome": "success",
    "search": "create",
    "since": "2026-11-01",
    "until": "2031-11-01",
    "start": f"{now():%Y-%m}-01",
    "end": f"{now():%Y-%m-%d}",
    "export_format": "csv",
}
# Where a page has others.
OF_ONE = {
    "show_invitations_page": {"status": "pending"},
    "show_assessment_results_page": {"status": "completed", "passed": "true"},
    "download_results": {"status": "completed", "passed": "true"},
    "show_reviews_page": {"claimed": "false"},
}
# What each form needs: by whose session it is, and what stands in the page's path.
Fields = dict[str, Any]
CONFIRM: dict[str, Callable[[str, Ids], Fields]] = {
    "ask_code": lambda token, path: {"email": an_email()},
    "confirm": lambda token, path: {"code": a_code(token)},
}


def _terms() -> Fields:
    return {**shared(an_assessment), "expires_days": "7", "extra_time_percent": "0", "send_email": "true"}


_CASE = {"title": "Of a form", "difficulty": "easy", "points": "10"}
DEEDS: dict[str, dict[str, Callable[[str, Ids], Fields]]] = {
    "change_area": {
        "mode": lambda token, path: {"livemode": MODE, "next": "/area/keys/"},
        "sign_out": lambda token, path: {},
    },
    "change_keys_on_page": {
        **CONFIRM,
        "create": lambda token, path: {
            "name": "Of a form",
            "livemode": MODE,
            "scopes": ["jobs:read"],
            "cidrs": "203.0.113.0/24",
            "expires_at": "",
        },
        "rotate": lambda token, path: {**a_key(), "overlap_hours": "24"},
        "update": lambda token, path: {**a_key(), "name": "Of a form", "cidrs": "", "expires_at": ""},
        "revoke": lambda token, path: a_key(),
    },
    "invite_on_page": {
        "create": lambda token, path: {**_terms(), "email": an_email(), "name": "Ada"},
        "preview": lambda token, path: {**_terms(), "candidates": f"email\n{an_email()}"},
        "bulk": lambda token, path: {**_terms(), "candidates": f"{an_email()},Ada"},
    },
    "change_invitation_on_page": {
        "change": lambda token, path: {"name": "Ada", "tags": "spring, berlin"},
        "remind": lambda token, path: {},
        "cancel": lambda token, path: {},
    },
    "change_result_on_page": {
        "share": lambda token, path: {"expires_days": "7"},
        "revoke": lambda token, path: {"share_id": path.get("share_id", str(uuid4()))},
    },
    "change_reviews_on_page": {"begin": lambda token, path: {}},
    "change_review_on_page": {
        "claim": lambda token, path: {},
        "score": lambda token, path: {"score": "1", "comment": "Sound."},
        "skip": lambda token, path: {},
        "release": lambda token, path: {},
    },
    "create_case_on_page": {
        "mcq": lambda token, path: {
            **_CASE,
            "option_0_text": "Yes",
            "option_0_correct": "true",
            "option_1_text": "No",
        },
        "numeric": lambda token, path: {**_CASE, "answer_number": "42", "tolerance": "0.5"},
        "text": lambda token, path: {**_CASE, "accepted_answers": "etag"},
        "coding": lambda token, path: {**_CASE, "language": "python", "test_0_output": "42"},
    },
    "change_webhooks_on_page": {
        "create": lambda token, path: {"name": "Of a form", "url": an_address(), "events": ["*"]},
    },
    "change_webhook_on_page": {
        "test": lambda token, path: {},
        "update": lambda token, path: {"name": "Of a form", "url": an_address(), "events": ["*"]},
        "pause": lambda token, path: {"is_active": "false"},
        "rotate": lambda token, path: {"overlap_hours": "24"},
        "replay": lambda token, path: {"since": f"{now():%Y}-01-01", "until": f"{now():%Y-%m-%d}"},
        "resend": lambda token, path: {"delivery_id": path.get("delivery_id", str(uuid4()))},
        "delete": lambda token, path: {},
    },
    "change_members_on_page": {
        **CONFIRM,
        "invite": lambda token, path: {"email": an_email(), "role": "developer"},
        "take_back": lambda token, path: an_open_invite(),
        "change": lambda token, path: {**a_colleague(), "role": "developer"},
        "unbind": lambda token, path: a_colleague(),
        "remove": lambda token, path: a_colleague(),
    },
    "change_settings_on_page": {"update": lambda token, path: {"name": "Northwind Labs"}},
    "change_branding_on_page": {
        "update": lambda token, path: {"language": "en", "colour": "", "reply_to": ""},
        "remove_logo": lambda token, path: {},
    },
    "change_privacy_on_page": {
        "update": lambda token, path: {"privacy_url": "", "privacy_html": "<p>We keep it.</p>"},
        "keep": lambda token, path: {"candidates": "", "recordings": "90", "events": "30"},
    },
    "change_mail_template_on_page": {"update": lambda token, path: {"subject": "", "body_text": ""}},
    "change_squads_on_page": {"create": lambda token, path: {"name": "Of a form"}},
    "change_squad_on_page": {
        "rename": lambda token, path: {"name": "Of a form"},
        "add": lambda token, path: a_colleague(),
        # Others look at the squad: it is not deleted.
        "remove": lambda token, path: a_colleague(),
    },
    "change_audit_on_page": {"verify": lambda token, path: {}},
    "change_sessions_on_page": {
        "end": lambda token, path: another_session(token),
        "end_others": lambda token, path: {},
        "remove_passkey": lambda token, path: {"passkey_id": path.get("passkey_id", str(uuid4()))},
        **CONFIRM,
    },
}
