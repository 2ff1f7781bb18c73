"""The pages of an organisation's settings, and what verifies its audit log."""

import dataclasses

from tests.api import Api
from tests.operations import states
from tests.operations.rows import FORM, MULTIPART, Ids, Row
from tests.operations.table.area import NO_TOKEN, NOBODY, a_form, a_page, shown


def a_mail(api: Api) -> Ids:
    return {"kind": "invitation", "language": "ar"}


ROWS = {
    "verify_audit_log": Row(),
    "show_settings_page": shown(),
    "change_settings_on_page": a_form("update", name="Northwind", notify_on_candidate_completion="true"),
    "show_branding_page": shown(done="logo"),
    "change_branding_on_page": a_form("update", language="de", colour="#1f5eff", reply_to=""),
    "upload_logo_on_page": Row(
        body={"csrf_token": "{csrf_token}"},
        files={"logo": ("logo.png", states.LOGO, "image/png")},
        status=303,
        media=MULTIPART,
        answers=None,
    ),
    "show_privacy_page": shown(),
    "change_privacy_on_page": dataclasses.replace(
        a_form("update", privacy_html="<p>We keep it.</p>", consent_required="true"),
        also=(a_form("keep", candidates="", recordings="30", events="7"),),
    ),
    "show_mail_templates_page": shown(),
    "show_mail_template_page": shown(a_mail),
    "change_mail_template_on_page": a_form("update", a_mail, subject="Hello"),
    "show_squads_page": shown(states.a_squad),
    "change_squads_on_page": a_form("create", name="Platform team"),
    "show_squad_page": shown(states.a_member_of_a_squad),
    "change_squad_on_page": dataclasses.replace(
        a_form("rename", states.a_squad, name="Platform and tools"),
        also=(
            a_form("remove", states.a_member_of_a_squad, user_id="{user_id}"),
            a_form("delete", states.a_squad),
        ),
    ),
    "show_usage_page": shown(start="2026-11-01", end="2026-11-23"),
    "show_audit_page": shown(action="create_job", since="2026-11-01"),
    "change_audit_on_page": dataclasses.replace(
        a_page("verify"), also=(dataclasses.replace(NOBODY, body=NO_TOKEN, media=FORM),)
    ),
    "download_audit_log": Row(
        query={"export_format": "csv"},
        answers="text/csv",
        also=(Row(query={"export_format": "json"}), NOBODY),
    ),
}
