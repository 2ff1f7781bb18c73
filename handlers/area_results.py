"""The area's pages of invitations and results, which call operations as its other pages do."""

from dataclasses import replace
from typing import Any

from handlers import area
from rules.applications import attempt
from rules.caller import Caller
from schemas import invitees
from schemas.files import Stream
from schemas.views import Call, Redirect, View, refusing

Body = dict[str, Any]


def show_invitations_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show who is invited to what."""
    return area.show("invitations", call, caller, query)


def show_invite_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show the forms to invite one candidate, or those of a file."""
    return area.show("invite", call, caller, query)


def invite_on_page(call: Call, caller: Caller | None, body: Body) -> View | Redirect:
    """Invite one candidate or many; of a file, show first what would become of each line."""
    if caller is None or body["action"] == "create":
        return area.act("invite", call, caller, body)
    area.check(caller, body)
    read: Body = {}
    fault = attempt(lambda: read.update(_lines(body)))
    if fault:
        return area.show("invite", call, caller, {}, answer=refusing(fault), given=body)
    return area.act("invite", call, caller, body, more=read)


def _lines(body: Body) -> Body:
    """Read a file that was sent, and keep its text among the form's fields; return what of it cannot be sent."""
    if body.get("file") and body["file"].content:  # browsers send an empty one where none was chosen
        body["fields"]["candidates"] = invitees.text(body["file"].content)
    return {"unsent": invitees.read(body["fields"].get("candidates"))[1]}


def show_invitation_page(call: Call, caller: Caller | None, token: str, **query: Any) -> View | Redirect:
    """Show one invitation, and what can be done with it."""
    return area.show("invitation", call, caller, query, token=token)


def change_invitation_on_page(call: Call, caller: Caller | None, token: str, body: Body) -> View | Redirect:
    """Change, remind of, reopen, repeat or cancel an invitation."""
    return area.act("invitation", call, caller, body, token=token)


def show_results_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show the assessments whose results can be read."""
    return area.show("results", call, caller, query)


def show_assessment_results_page(
    call: Call, caller: Caller | None, slug: str, **query: Any
) -> View | Redirect:
    """Show who has taken an assessment, and how."""
    return area.show("results_of", call, caller, query, slug=slug)


def show_comparison_page(call: Call, caller: Caller | None, slug: str, **query: Any) -> View | Redirect:
    """Show some candidates side by side; of fewer than two, the list to choose from."""
    if len(query["invite_token"] or ()) < 2:
        return area.show("results_of", call, caller, {"done": "too_few"}, slug=slug)
    return area.show("comparison", call, caller, query, slug=slug)


def download_results(call: Call, caller: Caller | None, slug: str, **query: Any) -> Stream | View | Redirect:
    """Hand the results of an assessment on as a file."""
    answer = call("export_results", query=query, slug=slug) if caller else None
    if answer and answer.file:
        return _handed_on(answer.file)
    return area.show("results_of", call, caller, {}, answer=answer, slug=slug)


def show_result_page(call: Call, caller: Caller | None, token: str, **query: Any) -> View | Redirect:
    """Show a candidate's report."""
    return area.show("report", call, caller, query, token=token)


def change_result_on_page(call: Call, caller: Caller | None, token: str, body: Body) -> View | Redirect:
    """Make a link to a report, or take one back."""
    return area.act("report", call, caller, body, token=token)


def download_report(call: Call, caller: Caller | None, token: str) -> Stream | View | Redirect:
    """Hand a report on as PDF."""
    answer = call("get_report", token=token) if caller else None
    if answer and answer.file:
        return _handed_on(answer.file)
    return area.show("report", call, caller, {}, answer=answer, token=token)


def _handed_on(file: Stream) -> Stream:
    """Hand on what an operation answered, with the headers of every page."""
    return replace(file, headers=area.HEADERS | file.headers)
