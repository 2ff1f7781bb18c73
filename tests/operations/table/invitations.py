"""Invitations, results, webhooks, deliveries and events."""

from tests.operations import states
from tests.operations.rows import Row
from tests.operations.table.assessments import LONG_AGO

INVITED = {
    "email": "{email}",
    "name": "Ada Lovelace",
    "role": "Engineer",
    "expires_days": 7,
    "send_email": True,
    "extra_time_percent": 25,
    "tags": ["spring"],
}

ROWS = {
    "list_assessment_invitations": Row(
        states.an_invitation, query={"status": "pending", "updated_after": LONG_AGO}
    ),
    "create_invitation": Row(
        states.an_assessment,
        INVITED,
        status=201,
        also=(Row(states.an_invitation, {"email": "{person}", "external_id": "{external}"}),),
    ),
    "bulk_invite": Row(
        states.an_assessment,
        {
            "candidates": [{"email": "{email}", "name": "Ada", "role": "Engineer", "external_id": None}],
            "expires_days": 7,
            "tags": ["spring"],
        },
        status=201,
    ),
    "preview_bulk_invite": Row(
        states.an_invitation,
        {"candidates": [{"email": "{email}", "name": "Ada", "role": "", "external_id": None}]},
    ),
    "list_invitations": Row(
        states.an_invitation,
        query={
            "assessment": "{slug}",
            "status": "pending",
            "email": "{person}",
            "external_id": "{external}",
            "tag": "spring",
            "updated_after": LONG_AGO,
        },
    ),
    "get_invitation": Row(states.an_invitation),
    "update_invitation": Row(
        states.an_invitation,
        {
            "expires_at": "2027-03-01T10:00:00.000Z",
            "extra_time_percent": 50,
            "name": "Ada",
            "role": "Engineer",
            "tags": ["spring"],
        },
        also=(Row(states.a_sitting, {"extra_time_percent": 100}),),
    ),
    "cancel_invitation": Row(states.an_invitation, status=204, answers=None),
    "remind_invitation": Row(states.an_invitation),
    "reopen_invitation": Row(states.an_expired_invitation, {"expires_days": 3}),
    "retake_invitation": Row(states.a_pass, {"expires_days": 3, "send_email": True}, status=201),
    "get_result": Row(states.a_submission, also=(Row(states.a_pass), Row(states.an_invitation))),
    "get_report": Row(
        states.a_submission, answers="application/pdf", also=(Row(states.a_pass, answers="application/pdf"),)
    ),
    "share_report": Row(states.a_submission, {"expires_days": 7}, status=201),
    "list_shared_reports": Row(states.a_share),
    "revoke_shared_report": Row(states.a_share, status=204, answers=None),
    "get_review": Row(states.a_review),
    "list_reviews": Row(states.a_submission, query={"assessment": "{slug}", "claimed": "false"}),
    "claim_review": Row(states.a_review, also=(Row(states.a_claimed_review),)),
    "release_review": Row(states.a_review, also=(Row(states.a_claimed_review),)),
    "review_result": Row(
        states.a_submission, {"cases": [{"case_order": 1, "score": "7.50", "comment": "Writes are missing."}]}
    ),
    "list_webhooks": Row(states.a_webhook, query={"updated_after": LONG_AGO}),
    "create_webhook": Row(
        body={
            "url": "https://hooks.example.com/ats",
            "events": ["job.created", "*"],
            "name": "ATS",
            "description": "Ours",
        },
        status=201,
    ),
    "get_webhook": Row(states.a_webhook),
    "update_webhook": Row(
        states.a_verified_webhook,
        {"name": "Our ATS", "events": ["*"], "is_active": False},
        also=(Row(states.a_webhook, {"url": "https://hooks.example.com/moved"}),),
    ),
    "delete_webhook": Row(states.a_webhook, status=204, answers=None),
    "test_webhook": Row(states.a_webhook),
    "rotate_webhook_secret": Row(states.a_webhook, {"overlap_hours": 12}),
    "list_deliveries": Row(
        states.a_delivery, query={"status": "pending", "event_type": "job.created", "since": LONG_AGO}
    ),
    "retry_delivery": Row(states.a_delivery),
    "replay_deliveries": Row(
        states.a_verified_webhook, {"since": LONG_AGO, "types": ["job.created"], "only_failed": False}
    ),
    "list_events": Row(states.a_job, query={"type": "job.created", "since": LONG_AGO}),
}
