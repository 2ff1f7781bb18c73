"""Real ids, addresses and cursors for Schemathesis: what it makes up would lead nowhere.

A case that is meant to be accepted gets the id of something that exists (makers.py), and fields that fit each other
(fits.py). Cases that are meant to be refused stay as they are, and steps that follow a link keep what it gave them.
"""

import copy
import ipaddress
import json
import uuid
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import httpx
import schemathesis
from schemathesis import Case, HookContext
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.core.parameters import ParameterLocation

from rules import links
from tests.contract import forms, people
from tests.contract.deeds import FILTERS, LISTS, OF_ONE
from tests.contract.fits import FITS, Request
from tests.contract.makers import call, http, ids, room_for_an_inbox, shared

# What the last answers of chains of steps held: a link gave what is among it. The newest stand last.
answered: dict[str, None] = {}
REMEMBERED = 50_000
# The first and the last day of a span: any other, or the same where it may have some days alone.
SPANS = {("date_from", "date_to"): max, ("start", "end"): min}
# What expires, or is gone, when one of these was asked.
MOVES_ALL = {"advance_test_clock", "take_test_invitation", "play_test_interview", "reset_test_mode"}


def is_chained(case: Case[Any]) -> bool:
    return case.meta is not None and case.meta.phase.name.value == "stateful"


def texts(value: Any) -> Iterator[str]:
    """Find every text in an answer."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts(one)


def without_nul(value: Any) -> Any:
    """Leave out what no JSON may hold that is taken: where any value may stand, no schema can say so."""
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, list):
        return [without_nul(one) for one in value]
    if isinstance(value, dict):
        return {without_nul(name): without_nul(one) for name, one in value.items()}
    return value


def media_that_says(body: Any, media_type: str | None) -> str | None:
    """Have a body be JSON that has nothing but nulls and empty lists: a form would have no field."""
    return "application/json" if body and all(one in (None, []) for one in body.values()) else media_type


def as_it_is_said(body: Any, operation: str, media_type: str | None) -> Any:
    """Make a body one that can be sent as it is meant."""
    body = without_nul(body)
    if body and media_type == forms.MULTIPART:
        # Schemathesis writes null as a word, which of a text is a text.
        texts_of = forms.body_schema(operation).get("properties", {})
        body = {
            name: one
            for name, one in body.items()
            if one is not None or texts_of.get(name, {}).get("type") != "string"
        }
    return body


def in_order(query: Any) -> Any:
    """Have a span of days begin before it ends, and be as long as it may be: no schema can say so of two of them."""
    for (start, end), last in SPANS.items():
        days = [query[name] for name in (start, end) if query and name in query]
        query = {**query, start: min(days), end: last(days)} if days else query
    return query


def with_real(query: Any, real: Mapping[str, str]) -> Any:
    """Have a query name who is there."""
    found = {"user_id": real.get("user_id"), "invite_token": [real.get("token"), real.get("other_token")]}
    return query and {name: found.get(name) or value for name, value in query.items()}


def is_answered(value: Any) -> bool:
    return isinstance(value, str) and value in answered


# Whoever signs in has no session yet.
@schemathesis.auth(refresh_interval=None).apply_to(path_regex=r"^(/api/v1)?/area/(?!sign-in)")
class OfAMember:
    """A session of somebody who has just shown who they are, as a browser sends it; no key."""

    def get(self, case: Case[Any], context: Any) -> str:
        """Begin one."""
        return people.a_session_of_a_chain() if is_chained(case) else people.a_session()

    def set(self, case: Case[Any], data: str, context: Any) -> None:
        """Send its cookie, and its token with every change."""
        case.cookies.update(people.cookies(data))
        case.headers.update(people.headers(data))


@schemathesis.hook
def after_call(context: HookContext, case: Case[Any], response: Any) -> None:
    """Remember what a link may be followed with, and forget what there was before the test world was moved."""
    operation = case.operation.definition.raw["operationId"]
    if operation in MOVES_ALL:
        shared.cache_clear()
    if operation == "update_settings" and response.status_code == 200:
        # A form that was meant to be refused may be one that asks for consent, which nobody here gives.
        call("PATCH", "/org/settings/", {"consent_required": False})
    if not is_chained(case) or "json" not in response.headers.get("content-type", [""])[0]:
        return
    for text in texts(response.json()):
        answered.pop(text, None)
        answered[text] = None
    for old in list(answered)[:-REMEMBERED]:
        del answered[old]


@schemathesis.hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
    """Put what exists into a case that is meant to be accepted."""
    operation, chained = case.operation.definition.raw["operationId"], is_chained(case)
    if chained:
        shared.cache_clear()  # the steps before may have changed it
    if "/area/" in case.operation.path:
        # Signing in is limited by address; each of these is somebody else's.
        case.headers["X-Forwarded-For"] = str(ipaddress.IPv6Address(uuid.uuid4().int))
    if operation == "create_test_inbox":
        room_for_an_inbox()
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    body = copy.deepcopy(case.body) if isinstance(case.body, dict) else None
    case.media_type = media_that_says(body, case.media_type)
    if body != (sayable := as_it_is_said(body, operation, case.media_type)):
        case.body = body = sayable
    real: Mapping[str, str] = {}
    if case.path_parameters and not (chained and any(map(is_answered, case.path_parameters.values()))):
        real = what_exists(case, operation, body)
        case.path_parameters = {name: real.get(name, value) for name, value in case.path_parameters.items()}
        case.query = with_real(case.query, real)
    if operation in FITS and body is not None:
        path = {name: str(value) for name, value in case.path_parameters.items()}
        FITS[operation](
            body,
            Request(
                {**real, **path},
                case.media_type,
                lambda text: chained and is_answered(text),
                operation,
                session_of(case),
            ),
        )
        case.body = body
    if case.headers and "Idempotency-Key" in case.headers:
        # The same key for another request is refused: this one is of this request alone.
        case.headers["Idempotency-Key"] = case.headers["Idempotency-Key"][:200] + uuid.uuid4().hex
    case.query = in_order(case.query)
    if case.query:
        case.query = with_cursor(case, operation, case.query)


def with_cursor(case: Case[Any], operation: str, query: dict[str, Any]) -> dict[str, Any]:
    """Have a query go on where its list does, and ask a page for what there is."""
    name, place = "cursor", httpx.URL(case.operation.base_url or "").path.rstrip("/") + case.formatted_path
    if operation in LISTS:
        name, place = "page", LISTS[operation].format(**case.path_parameters or {})
        wanted = FILTERS | OF_ONE.get(operation, {})
        query = {one: wanted.get(one, value) for one, value in query.items()}
    if name not in query:
        return query
    following = cursor(place)
    # The cursor is of the list in its own order.
    query = {one: value for one, value in query.items() if one not in (name, "ordering")}
    return {**query, name: following} if following else query


def session_of(case: Case[Any]) -> str:
    """Return the token of the session that asks."""
    return str(case.cookies.get(links.cookie(), ""))


def what_exists(case: Case[Any], operation: str, body: Any) -> Mapping[str, str]:
    """Return what the path of an operation may name."""
    if operation == "end_session":
        return people.another_session(session_of(case))
    real = ids(operation, case.operation.path)
    if operation == "save_answer" and body:
        return {**real, "assessment_case_id": real[kind_of_case(body["answer"])]}
    return real


def kind_of_case(answer: Any) -> str:
    """Name the type of case that an answer is for."""
    if isinstance(answer, list):
        return "mcq"
    return "numeric" if isinstance(answer, (int, float)) else "text"


@cache
def cursor(path: str) -> str | None:
    """Return a cursor that the list of this path made; None where it has a single page."""
    answer = (people.browser() if "/area/" in path else http).get(path, params={"page_size": 1})
    if not answer.headers["content-type"].startswith("application/json"):
        return None  # a page for people
    following = answer.json()["next"]
    return httpx.URL(following).params["cursor"] if following else None


@schemathesis.serializer(forms.URLENCODED)
def form(context: schemathesis.SerializationContext, value: Any) -> Any:
    """Write a form as the document's description has it."""
    if not isinstance(value, dict):
        return value if isinstance(value, (str, bytes)) else json.dumps(value).encode()
    given = context.case.body if isinstance(context.case.body, dict) else value
    return forms.write(given, forms.body_schema(context.case.operation.definition.raw["operationId"]))


@schemathesis.hook
def filter_failure(context: HookContext, failure: Any, case: Case[Any], response: Any) -> bool:
    """Excuse one failure: nothing is wrong but the body, and the form that was sent is how a valid body is written."""
    if not isinstance(failure, AcceptedNegativeData) or case.media_type not in (
        forms.URLENCODED,
        forms.MULTIPART,
    ):
        return True
    wrong = (
        {where for where, part in case.meta.components.items() if part.mode.is_negative}
        if case.meta
        else set()
    )
    if wrong != {ParameterLocation.BODY}:
        return True
    content, content_type = response.request.body or b"", response.request.headers.get("Content-Type", "")
    content = content.encode() if isinstance(content, str) else content
    schema = forms.body_schema(case.operation.definition.raw["operationId"])
    return not forms.tells_a_valid_body(content, content_type, schema)
