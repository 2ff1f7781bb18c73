"""The area's pages of the organisation's own cases, which call operations as its other pages do."""

from typing import Any

from handlers import area
from rules.caller import Caller
from schemas import area_cases
from schemas.views import Call, Redirect, View

Body = dict[str, Any]


def show_cases_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show the organisation's own cases."""
    return area.show("cases", call, caller, query)


def show_new_case_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show the form of a new case of one type."""
    return area.show("new_case", call, caller, query)


def create_case_on_page(call: Call, caller: Caller | None, body: Body) -> View | Redirect:
    """Make a case; a refusal names rows by their places among those that were filled in, and so they stand again."""
    return area.act("new_case", call, caller, body | {"fields": area_cases.packed(body["fields"])})
