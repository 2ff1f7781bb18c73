"""The pages of an organisation's settings: its name, how it looks and writes, its squads, use and audit log."""

from collections.abc import Mapping, Sequence
from typing import Any

from rules.words import say
from schemas.sections import Action, Section, is_true, line, moment, optional, text, whole, whole_or_none

SETTINGS = "/area/settings/"
SAVED = say("It is saved.")
READS, WRITES = "organisation:read", "organisation:write"
DAYS = {"since": moment, "until": moment}  # filters of the audit log
# Of a chart: what its picture is drawn in, and what stands above each other in one bar of a day.
WIDTH, HEIGHT = 720, 160
CHARTS = {
    "requests": ("api_reads", "api_writes"),
    "invitations": ("invitations",),
    "sessions": ("completions", "unfinished"),
}


def charts(read: Mapping[str, Any]) -> dict[str, Any]:
    """Draw what was used day by day: bars with their places in the picture."""
    days = (read.get("usage") or {}).get("series", [])
    days = [{**day, "unfinished": max(0, day["sessions"] - day["completions"])} for day in days]
    return {"charts": {name: _bars(days, parts) for name, parts in CHARTS.items()}, "size": (WIDTH, HEIGHT)}


def _bars(days: Sequence[Mapping[str, Any]], parts: Sequence[str]) -> dict[str, Any]:
    most = max((sum(day[part] for part in parts) for day in days), default=0)
    step = WIDTH / max(1, len(days))
    drawn = []
    for number, day in enumerate(days):
        foot = float(HEIGHT)
        for kind, part in enumerate(parts):
            height = HEIGHT * day[part] / (most or 1)
            foot -= height
            if height:
                drawn.append(
                    {
                        "kind": kind,
                        "x": round(number * step, 1),
                        "y": round(foot, 1),
                        "width": round(max(1.0, step - 2), 1),
                        "height": round(height, 1),
                    }
                )
    return {"most": most, "bars": drawn}


SECTIONS = {
    "settings": Section(
        say("Settings"),
        SETTINGS,
        "area/settings/organisation.html",
        {"organisation": "get_organisation"},
        needs=READS,
        actions={
            "update": Action(
                "update_organisation",
                {"name": line, "notify_on_candidate_completion": is_true},
                done=SAVED,
            ),
        },
    ),
    "branding": Section(
        say("Branding"),
        f"{SETTINGS}branding/",
        "area/settings/branding.html",
        {"settings": "get_settings"},
        needs=READS,
        actions={
            "update": Action(
                "update_settings",
                {
                    "language": line,
                    "colour": optional,
                    "help_contact": line,
                    "reply_to": optional,
                    "welcome_html": text,
                    "closing_html": text,
                },
                done=SAVED,
            ),
            "remove_logo": Action("delete_logo", done=say("The logo is removed.")),
        },
        is_listed=False,
        under=SETTINGS,
        says={"logo": say("The logo is kept.")},
    ),
    "privacy": Section(
        say("Privacy and retention"),
        f"{SETTINGS}privacy/",
        "area/settings/privacy.html",
        {"settings": "get_settings"},
        needs=READS,
        actions={
            "update": Action(
                "update_settings",
                {
                    "privacy_html": text,
                    "privacy_url": optional,
                    "consent_required": is_true,
                    "source_tracking": is_true,
                    "receipt_mail": is_true,
                },
                done=SAVED,
            ),
            "keep": Action(
                "update_settings",
                {"candidates": whole_or_none, "recordings": whole, "events": whole},
                inside="retention_days",
                done=SAVED,
            ),
        },
        is_listed=False,
        under=SETTINGS,
    ),
    "mail_templates": Section(
        say("Mails"),
        f"{SETTINGS}mail/",
        "area/settings/mails.html",
        {"mails": "list_mail_templates"},
        needs=READS,
        is_listed=False,
        under=SETTINGS,
    ),
    "mail_template": Section(
        say("Mail to candidates"),
        SETTINGS + "mail/{kind}/{language}/",
        "area/settings/mail.html",
        {"mail": "get_mail_template"},
        needs=READS,
        actions={
            "update": Action("update_mail_template", {"subject": line, "body_text": text}, done=SAVED),
        },
        is_listed=False,
        under=SETTINGS,
    ),
    "squads": Section(
        say("Squads"),
        f"{SETTINGS}squads/",
        "area/settings/squads.html",
        {"squads": "list_squads"},
        "squads",
        READS,
        {"create": Action("create_squad", {"name": line}, done=say("The squad is made."))},
        is_listed=False,
        under=SETTINGS,
        says={"deleted": say("The squad is deleted.")},
    ),
    "squad": Section(
        say("Squad"),
        SETTINGS + "squads/{team_id}/",
        "area/settings/squad.html",
        {"squad": "get_squad", "members": "list_squad_members", "team": "list_team"},
        "members",
        READS,
        {
            "rename": Action("update_squad", {"name": line}, done=SAVED),
            "add": Action("add_squad_member", {"user_id": line}, done=say("They belong to it now.")),
            "remove": Action(
                "remove_squad_member", query=("user_id",), done=say("They belong to it no more.")
            ),
            "delete": Action("delete_squad", leads_to=f"{SETTINGS}squads/?done=deleted"),
        },
        is_listed=False,
        always={"team": {"page_size": 100}},
        under=SETTINGS,
    ),
    "usage": Section(
        say("Plan and usage"),
        f"{SETTINGS}usage/",
        "area/settings/usage.html",
        {"billing": "get_billing", "usage": "get_usage"},
        "usage",
        READS,
        is_listed=False,
        makes=charts,
        under=SETTINGS,
    ),
    "audit": Section(
        say("Audit log"),
        f"{SETTINGS}audit/",
        "area/settings/audit.html",
        {"rows": "list_audit_log"},
        "rows",
        READS,
        {"verify": Action("verify_audit_log", shows=True, done=say("The newest rows were looked at."))},
        is_listed=False,
        filters=DAYS,
        under=SETTINGS,
    ),
}
