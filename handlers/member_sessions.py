"""Who is signed in, and from where else."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from rules.caller import Caller
from rules.errors import InvalidSession
from schemas import people as schemas
from store.accounts import signed_in
from store.branding import settings
from store.database.engine import Reading

Body = dict[str, Any]


def get_me(reading: Reading, caller: Caller) -> Body:
    """Show who asks, and the token with which their changes are taken."""
    assert caller.person
    row = signed_in.me(reading, caller.person.session_id)
    if row is None:
        raise InvalidSession
    language = settings.of(reading, caller.organisation_id).language
    return schemas.me(row, caller.person, language)


def list_sessions(reading: Reading, caller: Caller) -> Body:
    """List where the person is signed in, the newest session first."""
    person = caller.person
    assert person
    return {"sessions": [schemas.session(one, person) for one in signed_in.of(reading, person)]}


def end_session(session: Session, caller: Caller, session_id: UUID) -> None:
    """End one of the person's sessions."""
    assert caller.person
    signed_in.end(session, caller.person, session_id)


def end_other_sessions(session: Session, caller: Caller) -> Body:
    """End every session of the person but the one that asks."""
    assert caller.person
    return {"ended": signed_in.end_others(session, caller.person)}
