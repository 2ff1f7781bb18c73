"""The area's pages of invitations and results, as a table like that of the others."""

from datetime import datetime
from typing import Any

from rules import invitations as rules
from rules.clock import iso, now
from rules.words import say
from schemas import invitees, shared_reports
from schemas.sections import Action, Fields, Section, is_true, line, lines, moment, optional, whole

# What a page offers of an invitation in each state; the operations decide.
OFFERED = {
    "change": {"pending"},
    "extend": {"started"},
    "remind": {"pending", "started"},
    "cancel": {"pending", "expired"},
    "reopen": {"expired"},
    "retake": {"completed"},
}
_TERMS = {"expires_days": whole, "extra_time_percent": whole, "send_email": is_true, "tags": lines}


def _offered(read: Fields) -> dict[str, Any]:
    """Say what may be done with an invitation now, and when it may be reminded of again."""
    one = read["invitation"]
    offered = {action for action, states in OFFERED.items() if one["status"] in states}
    again = None
    if one["reminded_at"]:
        again = datetime.fromisoformat(one["reminded_at"]) + rules.REMIND_EVERY
    if again and again > now():
        offered.discard("remind")
    if not one["email"]:  # somebody who was erased
        offered &= {"cancel"}
    return {"offered": offered, "again_at": again and "remind" not in offered and iso(again)}


def _report(read: Fields) -> dict[str, Any]:
    """Show a result as the pages of reports do; nothing of one that there is none of yet."""
    result = read["result"]
    if result["status"] != "completed":
        return {"report": None}
    waits = any(one["status"] == "pending_review" for one in result["cases"])
    return {"report": shared_reports.page(result, read["invitation"]["role"]), "needs_reviewer": waits}


def _compared(read: Fields) -> dict[str, Any]:
    """List what the candidates of a comparison have, each of whom may have had other cases: tags, and cases' titles."""
    results = read["comparison"]["results"]
    cases = {one["assessment_case_id"]: one["case_title"] for result in results for one in result["cases"]}
    return {"tags": sorted({one["tag"] for result in results for one in result["skills"]}), "cases": cases}


SECTIONS = {
    "invitations": Section(
        say("Invitations"),
        "/area/invitations/",
        "area/invitations.html",
        {"invitations": "list_invitations", "assessments": "list_assessments"},
        "invitations",
        "invitations:read",
        always={"assessments": {"page_size": 100}},
        says={"cancelled": say("The invitation is cancelled.")},
    ),
    "invite": Section(
        say("Invite"),
        "/area/invite/",
        "area/invite.html",
        {"assessments": "list_assessments"},
        needs="invitations:write",
        actions={
            "create": Action(
                "create_invitation",
                {"email": line, "name": line, "role": line, "external_id": optional, **_TERMS},
                ("slug",),
                shows=True,
            ),
            "preview": Action(
                "preview_bulk_invite", {"candidates": invitees.candidates}, ("slug",), shows=True
            ),
            "bulk": Action(
                "bulk_invite", {"candidates": invitees.candidates, **_TERMS}, ("slug",), shows=True
            ),
        },
        is_listed=False,
        always={"assessments": {"page_size": 100, "status": "active"}},
    ),
    "invitation": Section(
        say("Invitation"),
        "/area/invitations/{token}/",
        "area/invitation.html",
        {"invitation": "get_invitation"},
        needs="invitations:read",
        actions={
            "change": Action(
                "update_invitation",
                {
                    "name": line,
                    "role": line,
                    "tags": lines,
                    "extra_time_percent": whole,
                    "expires_at": moment,
                },
                done=say("The invitation is changed."),
                in_part=True,
            ),
            "remind": Action("remind_invitation", done=say("The reminder is on its way.")),
            "reopen": Action(
                "reopen_invitation", {"expires_days": whole}, done=say("The invitation is open again.")
            ),
            "retake": Action(
                "retake_invitation",
                {"expires_days": whole, "send_email": is_true},
                done=say("The candidate is invited once more: this is the new invitation."),
                leads_to="/area/invitations/{invite_token}/?done=retake",
            ),
            "cancel": Action("cancel_invitation", leads_to="/area/invitations/?done=cancelled"),
        },
        is_listed=False,
        makes=_offered,
    ),
    "results": Section(
        say("Results"),
        "/area/results/",
        "area/results.html",
        {"assessments": "list_assessments"},
        "assessments",
        "candidates:read",
    ),
    "results_of": Section(
        say("Results"),
        "/area/assessments/{slug}/results/",
        "area/results-of.html",
        {"assessment": "get_assessment", "results": "list_results"},
        "results",
        "candidates:read",
        is_listed=False,
        says={"too_few": say("Tick two to ten candidates to compare them.")},
    ),
    "comparison": Section(
        say("Comparison"),
        "/area/assessments/{slug}/comparison/",
        "area/comparison.html",
        {"comparison": "compare_results"},
        "comparison",
        "candidates:read",
        is_listed=False,
        makes=_compared,
    ),
    "report": Section(
        say("Report"),
        "/area/invitations/{token}/report/",
        "area/report.html",
        {"result": "get_result", "invitation": "get_invitation", "shares": "list_shared_reports"},
        needs="candidates:read",
        actions={
            "share": Action(
                "share_report", {"expires_days": whole}, shows=True, done=say("The link is made.")
            ),
            "revoke": Action(
                "revoke_shared_report", None, ("share_id",), done=say("The link is taken back.")
            ),
        },
        is_listed=False,
        makes=_report,
    ),
}
