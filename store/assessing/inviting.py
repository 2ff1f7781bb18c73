"""How an invitation is made: once for each candidate, and never more than the month has."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy import ARRAY, Select, Text, bindparam, func, select, text, union_all
from sqlalchemy.orm import Session

from rules.caller import Caller
from rules.candidates import SOURCES
from rules.clock import month, now
from rules.errors import InviteQuotaExceeded
from rules.invitations import INVITED_FOR, check_active, check_newest, check_quota, check_retake
from rules.tokens import new_token
from store import events, outbox
from store.accounts import organisations
from store.assessing.assessments import Assessment
from store.assessing.invitations import COLUMNS, Invitation, keep
from store.auditing import trail
from store.database.base import ANYONE, visible
from store.database.engine import Change
from store.database.ids import new_id
from store.database.prepared import Prepared, rows
from store.people import candidates

SOURCE = SOURCES["invitation"]
# What a retake has of the invitation before it.
SAME = ("email", "name", "role", "external_id", "tags", "extra_time_percent", "enrollment_id", "language")

# Each is found whole in an index of its own: with OR between them, or looked for by the ids that were found, PostgreSQL
# reads all of an assessment's invitations where most have few, also of the one that has thousands.
_ALIKE = (Invitation.email_key == bindparam("email"), Invitation.external_id == bindparam("external_id"))


def known(columns: Collection[str]) -> Select[Any]:
    """Write what reads who was invited before: by reference first, then by address; of retakes the newest."""
    read = [getattr(Invitation, name) for name in sorted({*columns, "external_id", "attempt"})]
    mine = visible(ANYONE, Invitation).with_only_columns(*read)
    of_assessment = mine.where(Invitation.assessment_id == bindparam("assessment_id"))
    found = union_all(*(of_assessment.where(alike) for alike in _ALIKE)).subquery("known").columns
    by_reference = (found.external_id == bindparam("external_id")).desc().nulls_last()
    return select(*(found[name] for name in columns)).order_by(by_reference, found.attempt.desc()).limit(1)


_EXISTING = Prepared(known(COLUMNS))
# Whether many are found one by one or all are read depends on how many each are.
_AMONG = Prepared(
    visible(ANYONE, Invitation)
    .with_only_columns(Invitation.email_key, Invitation.external_id)
    .where(
        Invitation.assessment_id == bindparam("assessment_id"),
        (Invitation.email_key == func.any(bindparam("emails", type_=ARRAY(Text()))))
        | (Invitation.external_id == func.any(bindparam("external_ids", type_=ARRAY(Text())))),
    ),
    planned_by_values=True,
)


def existing(
    session: Change, caller: Caller, assessment: Any, *, email: str, external_id: str | None
) -> Any | None:
    """Read who was invited before: by reference first, then by address in any case; of retakes the newest."""
    return _EXISTING.first(
        session, caller, assessment_id=assessment.id, email=email.casefold(), external_id=external_id
    )


def existing_among(
    session: Session, assessment: Assessment, *, emails: Collection[str], external_ids: Collection[str]
) -> tuple[set[str], set[str]]:
    """Return which addresses (case-folded) and which references were invited before."""
    rows = _AMONG.all(
        session,
        organisation_id=assessment.organisation_id,
        livemode=assessment.livemode,
        assessment_id=assessment.id,
        emails=list(emails),
        external_ids=list(external_ids),
    )
    return {email for email, _ in rows}, {external_id for _, external_id in rows if external_id is not None}


_INSERT = """
    INSERT INTO invitations (
        id, created_at, updated_at, organisation_id, livemode, assessment_id, status,
        token, email, email_key, name, role, external_id, tags, extra_time_percent, expires_at, enrollment_id,
        candidate_id, attempt, retake_of, language
    )
    SELECT one.id, :moment, :moment, :organisation_id, :livemode, :assessment_id, 'pending',
           one.token, one.email, one.email_key, one.name, one.role, one.external_id,
           one.tags, one.extra_time_percent, one.expires_at, one.enrollment_id, {candidate},
           coalesce(one.attempt, 1), one.retake_of, one.language
    FROM jsonb_to_recordset(CAST(:candidates AS jsonb)) AS one (
        id uuid, token text, email text, email_key text, name text, role text, external_id text,
        tags text[], extra_time_percent int, expires_at timestamptz, enrollment_id uuid, candidate_id uuid,
        attempt int, retake_of text, language text
    )
"""
_BY_ADDRESS = 'ORDER BY one.email_key COLLATE "C"'
# Whose profile is known is not met again: locks that come after the profile's are held by then.
_KNOWN = _INSERT.format(candidate="one.candidate_id")
NEW = _INSERT.format(candidate="met.id") + " JOIN met ON met.email_key = one.email_key"
# What an event and a mail tell of an invitation's assessment.
OF_PAGE = ("slug", "title", "time_limit_minutes", "language")
COUNT = f"""
    UPDATE assessments
    SET invitation_count = invitation_count + (SELECT count(*) FROM made), updated_at = :moment
    WHERE id = :assessment_id AND EXISTS (SELECT FROM made)
    RETURNING {", ".join(OF_PAGE)}
"""  # noqa: S608
COUNTED = ", ".join(f'counted.{name} AS "assessment.{name}"' for name in OF_PAGE)
_MADE = ", ".join(f"made.{name}" for name in COLUMNS) + ", " + COUNTED
_CREATE = Prepared(
    text(f"""
    WITH met AS ({candidates.MEET} {candidates.MET}), followed AS ({candidates.FOLLOW}),
         made AS ({NEW} {_BY_ADDRESS} ON CONFLICT DO NOTHING RETURNING *), counted AS ({COUNT})
    SELECT {_MADE} FROM made, counted
    """)  # noqa: S608 - parts of our own
)
_CREATE_KNOWN = Prepared(
    text(f"""
    WITH made AS ({_KNOWN} {_BY_ADDRESS} ON CONFLICT DO NOTHING RETURNING *), counted AS ({COUNT})
    SELECT {_MADE} FROM made, counted
    """)  # noqa: S608
)
# The unit and the invitation in one step: from the first to the commit, all invites of an organisation queue.
_TAKE_AND_CREATE = Prepared(
    text(f"""
    WITH taken AS ({organisations.TAKE.format(where="")}),
         met AS ({candidates.MEET} CROSS JOIN taken {candidates.MET}), followed AS ({candidates.FOLLOW}),
         made AS ({NEW} ON CONFLICT DO NOTHING RETURNING *),
         counted AS ({COUNT})
    SELECT EXISTS (SELECT FROM taken) AS granted, {_MADE}
    FROM (SELECT) AS always LEFT JOIN made ON true LEFT JOIN counted ON true
    """)  # noqa: S608
)
_TAKE_AND_CREATE_KNOWN = Prepared(
    text(f"""
    WITH taken AS ({organisations.TAKE.format(where="")}),
         made AS ({_KNOWN} CROSS JOIN taken ON CONFLICT DO NOTHING RETURNING *),
         counted AS ({COUNT})
    SELECT EXISTS (SELECT FROM taken) AS granted, {_MADE}
    FROM (SELECT) AS always LEFT JOIN made ON true LEFT JOIN counted ON true
    """)  # noqa: S608
)


def invite(
    session: Change,
    caller: Caller,
    assessment: Any,
    candidate: Mapping[str, Any],
    show: events.Shape,
) -> tuple[Any, bool]:
    """Invite a candidate once, with its event; return the invitation and whether it is new, or refuse."""
    check_active(assessment.status)
    return _meet(session, caller, assessment, candidate, show)


def retake(
    session: Session,
    caller: Caller,
    former: Invitation,
    candidate: Mapping[str, Any],
    show: events.Shape,
) -> Any:
    """Invite the person of a locked invitation once more, with its event, or refuse; `candidate` says what differs."""
    check_retake(former.status, former.email, former.assessment.status)
    newest = existing(session, caller, former.assessment, email=former.email, external_id=None)
    check_newest(former.id, newest)
    same = {name: getattr(former, name) for name in SAME}
    again = {"attempt": former.attempt + 1, "retake_of": former.token}
    made, _ = _create(session, caller, former.assessment, {**same, **again, **candidate})
    if made is None:
        used = organisations.invites_used(session, caller)
        raise InviteQuotaExceeded(limit=caller.plan.invites, used=used)
    events.record(session, "invitation.created", made, show(made))
    return made


class Shows(Protocol):
    """How invitations and mails about them look outside."""

    def invitation_event(self, invitation: Any, /) -> dict[str, Any]:
        """Return the data of invitation.created."""

    def invitation_mail(self, invitation: Any, organisation_name: str, /) -> dict[str, Any]:
        """Return the mail that goes with an invitation, as outbox work."""


def meet(
    session: Session,
    caller: Caller,
    assessment: Any,
    person: Mapping[str, Any],
    shows: Shows,
    *,
    send_email: bool,
) -> tuple[Any, bool]:
    """Invite somebody for a week, or find the invitation that is there, of an assessment that is no more active too.

    It is kept from being cancelled before this transaction ends.
    """
    candidate = {**terms(), **person}
    found, new = _meet(session, caller, assessment, candidate, shows.invitation_event)
    while not new and not keep(session, found.id):  # cancelled since it was read
        found, new = _meet(session, caller, assessment, candidate, shows.invitation_event)
    if new and send_email:
        mail(session, caller, [found], shows)
    return found, new


def terms() -> dict[str, Any]:
    """Return what an invitation is like that nobody asked for in words of their own."""
    return {
        "role": "",
        "external_id": None,
        "tags": [],
        "extra_time_percent": 0,
        "expires_at": now() + INVITED_FOR,
    }


def mail(session: Change, caller: Caller, invited: Sequence[Any], shows: Shows) -> None:
    """Mail candidates the links of their invitations."""
    name = organisations.name(session, caller)
    outbox.add_all(session, caller, "mail", [shows.invitation_mail(one, name) for one in invited])


def _meet(
    session: Change, caller: Caller, assessment: Any, candidate: Mapping[str, Any], show: events.Shape
) -> tuple[Any, bool]:
    named = {"email": candidate["email"], "external_id": candidate.get("external_id")}
    found = existing(session, caller, assessment, **named)
    while found is None:
        check_active(assessment.status)
        made, granted = _create(session, caller, assessment, candidate)
        if made:
            events.record(session, "invitation.created", made, show(made))
            return made, True
        # Somebody else was faster, or nothing is left of the month.
        found = existing(session, caller, assessment, **named)
        if granted:  # once more where what was in the way has been cancelled since
            organisations.give_back_invites(session, caller, 1)
        elif found is None:
            check_quota(caller.plan.invites, organisations.invites_used(session, caller), 0)
    trail.about(session, "invitation", found)
    return found, False


def _create(
    session: Change, caller: Caller, assessment: Any, candidate: Mapping[str, Any]
) -> tuple[Any | None, bool]:
    """Take a unit and make an invitation; return it (None: another is in the way) and whether a unit was taken."""
    if not caller.livemode:
        return next(iter(create_all(session, caller, assessment, [candidate])), None), True
    limit = organisations.limit(caller)
    terms = {"month": month(), "count": 1, "limit": limit, "assessment_id": assessment.id, "moment": now()}
    create = _TAKE_AND_CREATE_KNOWN if candidate.get("candidate_id") else _TAKE_AND_CREATE
    made = create.first(session, caller, candidates=written([candidate]), **terms)
    return (made if made.id else None), made.granted


def create_all(
    session: Change, caller: Caller, assessment: Any, people: Sequence[Mapping[str, Any]]
) -> list[Any]:
    """Make invitations in one statement and return them with their assessment; their units are taken already.

    Those whom somebody else invited meanwhile are left out. Rows go in by address, so that two of these never wait
    for each other in a circle. Either all of them have a `candidate_id`, or none has.
    """
    if not people:
        return []
    create = _CREATE_KNOWN if people[0].get("candidate_id") else _CREATE
    return create.all(session, caller, assessment_id=assessment.id, moment=now(), candidates=written(people))


def written(people: Sequence[Mapping[str, Any]]) -> str:
    """Write people as the rows that NEW reads."""
    return rows([row(one) for one in people])


def row(person: Mapping[str, Any]) -> dict[str, Any]:
    """Return what NEW reads of one."""
    return {
        "id": new_id(),
        "profile": new_id(),
        "token": new_token(),
        "email_key": person["email"].casefold(),
        "source": SOURCE,
        **person,
    }
