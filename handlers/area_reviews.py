"""The review desk: answers that wait, one after the other, without whose they are unless that is wanted."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from handlers import area
from rules.caller import Caller
from rules.errors import Invalid
from rules.words import say
from schemas import area_reviews as schemas
from schemas.views import Call, Called, Redirect, View

Body = dict[str, Any]
QUEUE = "/area/reviews/"
# By the action of a form. Whoever scores an answer takes it in hand first: so nobody scores what another one reads.
DEEDS = {
    "claim": "claim_review",
    "release": "release_review",
    "score": "claim_review",
    "skip": "release_review",
}


def show_reviews_page(call: Call, caller: Caller | None, **query: Any) -> View | Redirect:
    """Show what waits, and who has what in hand."""
    return area.show("reviews", call, caller, query, more={"names": query.pop("names")})


def change_reviews_on_page(call: Call, caller: Caller | None, body: Body) -> View | Redirect:
    """Begin with the first answer that nobody has in hand."""
    if caller is None:
        return area.show("reviews", call, caller, {})
    area.check(caller, body)
    if body["action"] != "begin":
        raise Invalid.at("/action", say("There is no such action."))
    return _onward(call, caller, body, None, "claim")


def show_review_page(call: Call, caller: Caller | None, id: UUID, **query: Any) -> View | Redirect:
    """Show one answer beside what it is judged by."""
    return _review(call, caller, id, query, names=query.pop("names"))


def change_review_on_page(call: Call, caller: Caller | None, id: UUID, body: Body) -> View | Redirect:
    """Take an answer in hand, let it go, score it, or go on with the next one."""
    if caller is None:
        return area.show("review", call, caller, {}, id=id)
    area.check(caller, body)
    action, csrf_token = body["action"], body["csrf_token"]
    if action not in DEEDS:
        raise Invalid.at("/action", say("There is no such action."))
    answer = call(DEEDS[action], csrf_token=csrf_token, id=id)
    if answer.error is None and action == "score":
        given = schemas.score(body["fields"], answer.body["case_order"])
        token = answer.body["invite_token"]
        answer = call("review_result", csrf_token=csrf_token, body=given, token=token)
    if answer.error and action != "skip":
        return _review(call, caller, id, _asked(body), names=_names(body), answer=answer, given=body)
    if action in ("score", "skip"):  # what somebody else has in hand is left as it is
        return _onward(call, caller, body, id, action)
    return Redirect(_address(QUEUE if action == "release" else f"{QUEUE}{id}/", body, action), area.HEADERS)


def _review(
    call: Call,
    caller: Caller | None,
    id: UUID,
    query: Body,
    *,
    names: bool,
    answer: Called | None = None,
    given: Body | None = None,
) -> View | Redirect:
    """Show one answer; where it waits no more, the queue, with what was written about it."""
    found = call("get_review", id=id) if caller else None
    if found and found.error and found.status == 404:
        more = {"names": names, "lost": given and given["fields"].get("comment")}
        return area.show("reviews", call, caller, {}, answer=found, given=given, more=more)
    person = None
    if found and found.error is None and names:
        invited = call("get_invitation", token=found.body["invite_token"])
        person = None if invited.error else invited.body
    more = {"names": names, "person": person, "narrowed": query}
    return area.show("review", call, caller, query, answer=answer, given=given, more=more, id=id)


def _waiting(call: Call, caller: Caller, body: Body, id: UUID | None) -> Iterator[str]:
    """Give the answers to go on with: those that come after one in the queue, then from its beginning.

    Of each the next few, where one's own are, and then those that nobody has, however far away.
    """
    assert caller.person
    me = str(caller.person.user_id)
    for place in ({"after": id}, {}) if id else ({},):
        for hand in ({}, {"claimed": "false"}):
            query = {"page_size": schemas.NEXT, **place, **hand, **_asked(body)}
            answer = call("list_reviews", query=query)
            yield from schemas.free([] if answer.error else answer.body["results"], me, but=str(id))


def _onward(call: Call, caller: Caller, body: Body, after: UUID | None, done: str) -> Redirect:
    """Take the first of what waits in hand that nobody has taken meanwhile, and lead there."""
    ids, token = _waiting(call, caller, body, after), body["csrf_token"]
    id = next((one for one in ids if call("claim_review", csrf_token=token, id=one).error is None), None)
    return Redirect(_address(f"{QUEUE}{id}/" if id else QUEUE, body, done if id else "nothing"), area.HEADERS)


def _asked(body: Body) -> Body:
    """Return what the queue was narrowed to."""
    assessment = str(body["fields"].get("assessment", ""))
    return {"assessment": assessment} if assessment else {}


def _names(body: Body) -> bool:
    return bool(body["fields"].get("names") == "true")


def _address(path: str, body: Body, done: str) -> str:
    """Return where to go on, as the desk was looked at: narrowed to an assessment, with names or without."""
    kept = {"names": "true"} if _names(body) else {}
    return f"{path}?{urlencode({**_asked(body), **kept, 'done': done})}"
