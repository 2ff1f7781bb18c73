"""An invite as one statement: what the organisation's other invites wait for is held for that and the commit alone."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlalchemy import text

from rules.caller import Caller
from rules.clock import month, now
from rules.errors import NotFound
from rules.invitations import check_active
from store import events
from store.accounts import organisations
from store.assessing import assessments, inviting
from store.assessing.assessments import Assessment
from store.assessing.invitations import Invitation
from store.auditing import trail
from store.database.engine import Change
from store.database.named import by_key_of_anyone, uuid
from store.database.prepared import Prepared, named
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


@cache
def _statement(*, livemode: bool, of_squads: bool) -> Prepared:
    """Write an invite as one statement: who was invited before, the unit, the profile, the invitation."""
    page = by_key_of_anyone(Assessment).with_only_columns(Assessment.id, Assessment.status)
    mine = named(page, of_squads=of_squads)
    known = named(inviting.KNOWN.with_only_columns(*(getattr(Invitation, name) for name in SHOWN)))
    parts = f"""
        was AS ({known}), taken AS ({_TAKEN[livemode]}),
        met AS ({candidates.MEET} CROSS JOIN taken {candidates.MET}), followed AS ({candidates.FOLLOW}),
        made AS ({inviting.NEW} ON CONFLICT DO NOTHING RETURNING *), counted AS ({inviting.COUNT})
    """.replace(":assessment_id", "(SELECT id FROM page)").replace("invitations.", "")
    made = ", ".join(f"made.{name}" for name in TOLD)
    was = ", ".join(f'was.{name} AS "was.{name}"' for name in SHOWN)
    whole = f"""
        WITH page AS ({mine.replace("assessments.", "")}), {parts}
        SELECT page.status AS page_status, EXISTS (SELECT FROM taken) AS granted,
               (SELECT name FROM organisations WHERE id = :organisation_id) AS sender,
               {made}, {inviting.COUNTED}, {was}
        FROM page LEFT JOIN was ON true LEFT JOIN made ON true LEFT JOIN counted ON true
    """  # noqa: S608
    # psycopg looks anew for the parameters of what is longer than 4,096 characters, each time.
    return Prepared(text(" ".join(whole.split())))


def invite(
    session: Change, caller: Caller, key: str, candidate: Mapping[str, Any], show: events.Shape
) -> tuple[Any, bool, str]:
    """Invite as `inviting.invite` does to the assessment of a slug or id, or raise NotFound.

    That is one statement where nobody is in the way. Returns the organisation's name too.
    """
    found = _try(session, caller, key, candidate)
    if found is None:
        raise NotFound("There is no such assessment.")
    check_active(found.page_status)
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


def _try(session: Change, caller: Caller, key: str, candidate: Mapping[str, Any]) -> Any | None:
    statement = _statement(livemode=caller.livemode, of_squads=caller.squads is not None)
    return statement.first(
        session,
        caller,
        key=key,
        id=uuid(key),
        month=month(),
        count=1,
        limit=organisations.limit(caller),
        moment=now(),
        email=candidate["email"].casefold(),
        external_id=candidate["external_id"],
        candidates=inviting.written([candidate]),
    )
