"""An invite as one statement: what the organisation's other invites wait for is held for that and the commit alone.

On an event loop that statement is the whole transaction, and another one, which locks nothing, has read before what
the event and the mail tell.
"""

from collections.abc import Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

import orjson
from sqlalchemy import text

from rules.caller import Caller
from rules.clock import month, now
from rules.errors import NotFound
from rules.invitations import check_active
from store import events, telling
from store.accounts import organisations
from store.assessing import assessments, inviting
from store.assessing.assessments import Assessment
from store.auditing import trail
from store.database.engine import Change
from store.database.named import by_key_of_anyone, uuid
from store.database.prepared import Bound, Prepared, is_on_loop, named, rows
from store.people import candidates

# What an answer, an event and a mail tell of an invitation that is new.
TOLD = (
    "id", "organisation_id", "livemode", "assessment_id", "token", "email", "name", "status", "external_id",
    "extra_time_percent", "expires_at", "retake_of", "enrollment_id", "language",
)  # fmt: skip
# What an answer tells of one that was there.
SHOWN = ("id", "organisation_id", "livemode", "token", "status", "external_id", "expires_at")

_FREE = "(SELECT status FROM page) = 'active' AND NOT EXISTS (SELECT FROM was)"
_TAKEN = {
    True: organisations.TAKE.format(where=f"AND {_FREE}"),
    False: f"SELECT 0 AS used WHERE {_FREE}",  # test mode costs nothing
}
_SENDER = "(SELECT name FROM organisations WHERE id = :organisation_id) AS sender"
_WAS = ", ".join(f'was.{name} AS "was.{name}"' for name in SHOWN)


def _found(*, of_squads: bool) -> str:
    """Write what is looked for first: the assessment, and who was invited before."""
    columns = (getattr(Assessment, name) for name in ("id", "status", *inviting.OF_PAGE))
    page = named(by_key_of_anyone(Assessment).with_only_columns(*columns), of_squads=of_squads)
    return f"page AS ({page.replace('assessments.', '')}), was AS ({named(inviting.known(SHOWN))})"


def _made(*, livemode: bool) -> str:
    """Write what is made: the unit, the profile, the invitation, its assessment's count."""
    return f"""
        taken AS ({_TAKEN[livemode]}),
        met AS ({candidates.MEET} CROSS JOIN taken {candidates.MET}), followed AS ({candidates.FOLLOW}),
        made AS ({inviting.NEW} ON CONFLICT DO NOTHING RETURNING *), counted AS ({inviting.COUNT})
    """


def _prepared(written: str) -> Prepared:
    of_page = written.replace(":assessment_id", "(SELECT id FROM page)").replace("invitations.", "")
    # psycopg looks anew for the parameters of what is longer than 4,096 characters, each time.
    return Prepared(text(" ".join(of_page.split())))


@cache
def _statement(*, livemode: bool, of_squads: bool) -> Prepared:
    """Write an invite as one statement of a transaction."""
    made = ", ".join(f"made.{name}" for name in TOLD)
    return _prepared(f"""
        WITH {_found(of_squads=of_squads)}, {_made(livemode=livemode)}
        SELECT page.status AS page_status, EXISTS (SELECT FROM taken) AS granted, {_SENDER},
               {made}, {inviting.COUNTED}, {_WAS}
        FROM page LEFT JOIN was ON true LEFT JOIN made ON true LEFT JOIN counted ON true
    """)  # noqa: S608


@cache
def _look(*, of_squads: bool) -> Prepared:
    """Write what is read before the change that stands alone."""
    shown = ", ".join(f'page.{name} AS "assessment.{name}"' for name in inviting.OF_PAGE)
    return _prepared(f"""
        WITH {_found(of_squads=of_squads)}
        SELECT page.status AS page_status, page.id AS assessment_id, {_SENDER}, {shown}, {_WAS}
        FROM page LEFT JOIN was ON true
    """)  # noqa: S608


@cache
def _alone(*, livemode: bool, of_squads: bool) -> Prepared:
    """Write the change that stands alone: nothing, where what was read has changed; a fault, where a unit is left."""
    same = f"(SELECT jsonb_build_array({', '.join(inviting.OF_PAGE)}) FROM page) = CAST(:seen AS jsonb)"  # noqa: S608
    made = _made(livemode=livemode).replace(_FREE, f"{_FREE} AND {same}")
    return _prepared(f"""
        WITH {_found(of_squads=of_squads)}, {made}, changed AS (SELECT FROM counted), {telling.PARTS}
        SELECT CASE WHEN EXISTS (SELECT FROM taken) THEN 1 / (SELECT CAST(count(*) AS int) FROM made) ELSE 0 END AS made
    """)  # noqa: S608


def invite(
    session: Change, caller: Caller, key: str, candidate: Mapping[str, Any], show: events.Shape
) -> tuple[Any, bool, str]:
    """Invite as `inviting.invite` does to the assessment of a slug or id, or raise NotFound.

    That is one statement where nobody is in the way. Returns the organisation's name too. Raises NeedsTransaction on
    an event loop where somebody is.
    """
    given = {"key": key, "id": uuid(key), "external_id": candidate["external_id"]}
    given["email"] = candidate["email"].casefold()
    on_loop = is_on_loop(session)
    found = _read(session, caller, given) if on_loop else _try(session, caller, given, candidate)
    if found is None:
        raise NotFound("There is no such assessment.")
    check_active(found.page_status)
    if on_loop:
        return _leave(session, caller, found, given, candidate, show), True, found.sender
    if found.was.id is not None:
        trail.about(session, "invitation", found.was)
        return found.was, False, found.sender
    if found.id is not None:
        events.record(session, "invitation.created", found, show(found))
        return found, True, found.sender
    if found.granted:
        organisations.give_back_invites(session, caller, 1)
    assessment = assessments.read(session, caller, key)
    return *inviting.invite(session, caller, assessment, candidate, show), found.sender


def _read(session: Change, caller: Caller, given: Mapping[str, Any]) -> Any | None:
    return _look(of_squads=caller.squads is not None).first(session, caller, **given)


def _try(
    session: Change, caller: Caller, given: Mapping[str, Any], candidate: Mapping[str, Any]
) -> Any | None:
    statement = _statement(livemode=caller.livemode, of_squads=caller.squads is not None)
    return statement.first(session, caller, **given, **_change(caller, inviting.row(candidate)))


def _change(caller: Caller, person: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the parts that make something take."""
    return {
        "month": month(),
        "count": 1,
        "limit": organisations.limit(caller),
        "moment": now(),
        "candidates": rows([person]),
    }


def _leave(
    session: Change,
    caller: Caller,
    found: Any,
    given: dict[str, Any],
    candidate: Mapping[str, Any],
    show: events.Shape,
) -> Any:
    """Leave the change to the end, and return what it will have made."""
    if found.was.id is not None:
        raise telling.NeedsTransaction
    person = inviting.row(candidate)
    whose = {"organisation_id": caller.organisation_id, "livemode": caller.livemode}
    unset = {
        "retake_of": None,
        "enrollment_id": None,
        "status": "pending",
        "assessment_id": found.assessment_id,
    }
    made = SimpleNamespace(**whose, **unset, **person, assessment=found.assessment)
    events.record(session, "invitation.created", made, show(made))
    squads = {} if caller.squads is None else {"squads": list(caller.squads)}
    seen = orjson.dumps([*found.assessment]).decode()
    values = {**given, **whose, **squads, "seen": seen, **_change(caller, person)}
    statement = _alone(livemode=caller.livemode, of_squads=caller.squads is not None)
    telling.leave(session, Bound(statement, values))
    return made
