"""The pages of an organisation's settings; each calls the operations of its section, as all of the area do."""

from dataclasses import replace
from typing import Any

from handlers import area
from rules.caller import Caller
from schemas.area_settings import DAYS, SETTINGS
from schemas.files import Stream
from schemas.views import Call, Redirect, View

Body = dict[str, Any]


def show_settings_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show the organisation's name, and whether its people are mailed."""
    return area.show("settings", call, caller, query)


def change_settings_on_page(call: Call, caller: Caller | None, body: Body) -> View | Redirect:
    """Change them."""
    return area.act("settings", call, caller, body)


def show_branding_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show how pages and mails look."""
    return area.show("branding", call, caller, query)


def change_branding_on_page(call: Call, caller: Caller | None, body: Body) -> View | Redirect:
    """Change how pages and mails look, or let the logo go."""
    return area.act("branding", call, caller, body)


def upload_logo_on_page(call: Call, caller: Caller | None, body: Body) -> View | Redirect:
    """Keep a logo."""
    if caller is None:
        return area.show("branding", call, caller, {})
    area.check(caller, body)
    logo = body["logo"].content if body.get("logo") else b""
    answer = call("upload_logo", csrf_token=body["csrf_token"], upload=("logo", logo))
    if answer.error is None:
        return Redirect(f"{SETTINGS}branding/?done=logo", area.HEADERS)
    given = {"action": "logo", "fields": {}}
    return area.show("branding", call, caller, {}, answer=answer, given=given)


def show_privacy_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show what candidates agree to, and how long data is kept."""
    return area.show("privacy", call, caller, query)


def change_privacy_on_page(call: Call, caller: Caller | None, body: Body) -> View | Redirect:
    """Change what candidates agree to, or how long data is kept."""
    return area.act("privacy", call, caller, body)


def show_mail_templates_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show the mails that candidates get, in each language."""
    return area.show("mail_templates", call, caller, query)


def show_mail_template_page(
    call: Call, caller: Caller | None, kind: str, language: str, **query: Any
) -> View | Redirect:
    """Show a mail's words and how it looks."""
    return area.show("mail_template", call, caller, query, kind=kind, language=language)


def change_mail_template_on_page(
    call: Call, caller: Caller | None, kind: str, language: str, body: Body
) -> View | Redirect:
    """Change a mail's words."""
    return area.act("mail_template", call, caller, body, kind=kind, language=language)


def show_squads_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show the squads."""
    return area.show("squads", call, caller, query)


def change_squads_on_page(call: Call, caller: Caller | None, body: Body) -> View | Redirect:
    """Make a squad."""
    return area.act("squads", call, caller, body)


def show_squad_page(call: Call, caller: Caller | None, team_id: str, **query: Any) -> View | Redirect:
    """Show a squad with its members."""
    return area.show("squad", call, caller, query, team_id=team_id)


def change_squad_on_page(call: Call, caller: Caller | None, team_id: str, body: Body) -> View | Redirect:
    """Rename or delete a squad, or change who belongs to it."""
    return area.act("squad", call, caller, body, team_id=team_id)


def show_usage_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show what the plan includes, and what is used day by day."""
    return area.show("usage", call, caller, query)


def show_audit_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show what was done, by whom."""
    return area.show("audit", call, caller, query)


def change_audit_on_page(call: Call, caller: Caller | None, body: Body) -> View | Redirect:
    """Verify the newest rows."""
    return area.act("audit", call, caller, body)


def download_audit_log(call: Call, caller: Caller | None, **query: Any) -> View | Redirect | Stream:
    """Hand out what the page shows as a file; where that is refused, the page says why."""
    if caller is None:
        return area.show("audit", call, caller, {})
    asked = {name: DAYS[name](value) if name in DAYS else value for name, value in query.items()}
    answer = call("export_audit_log", query=asked)
    if answer.file is None:
        return area.show("audit", call, caller, {}, answer=answer)
    return replace(answer.file, headers=area.HEADERS | answer.file.headers)
