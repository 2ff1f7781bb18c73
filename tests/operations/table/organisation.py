"""The organisation's own: its key, its people, its squads, and what of its plan is used."""

from tests.operations import states
from tests.operations.rows import MULTIPART, Row

SETTINGS = {
    "language": "en",
    "reply_to": "jobs@northwind.example",
    "help_contact": "Ada Lovelace, +351 555 0100",
    "colour": states.COLOUR,
    "welcome_html": "<p>Nice to meet you.</p>",
    "closing_html": "<p>We answer within a week.</p>",
    "privacy_html": "<p>We keep your data for six months.</p>",
    "privacy_url": "https://northwind.example/privacy",
    "receipt_mail": True,
    "consent_required": True,
    "source_tracking": True,
    "retention_days": {"candidates": 365, "recordings": 90, "events": 7},
}

ROWS = {
    "get_settings": Row(),
    "update_settings": Row(body=SETTINGS),
    "upload_logo": Row(body={}, media=MULTIPART, files={"logo": ("logo.png", states.LOGO, "image/png")}),
    "delete_logo": Row(states.a_logo),
    "list_mail_templates": Row(),
    "get_mail_template": Row(states.a_mail_template),
    "update_mail_template": Row(
        states.a_mail_template,
        {"subject": "Your task for {{organisation_name}}", "body_text": "Begin: {{ invite_url }}"},
    ),
    "get_key": Row(),
    "get_billing": Row(),
    "get_stats": Row(states.a_submission, also=(Row(states.a_squad, query={"team_slug": "{team_slug}"}),)),
    "list_team": Row(states.a_member),
    "list_member_invites": Row(states.a_member_invite, query={"status": "pending"}),
    "update_squad": Row(states.a_squad, {"name": "Platform and tools"}),
    "delete_squad": Row(states.a_squad),
    "list_squad_members": Row(states.a_member_of_a_squad),
    "add_squad_member": Row(
        states.a_squad_beside_a_member,
        {"user_id": "{user_id}"},
        status=201,
        also=(Row(states.a_member_of_a_squad, {"user_id": "{user_id}"}),),
    ),
    "remove_squad_member": Row(states.a_member_of_a_squad, query={"user_id": "{user_id}"}),
}
