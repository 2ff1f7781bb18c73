"""Profiles: one for each person of an organisation and mode, by address."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ForeignKey,
    Index,
    Text,
    UniqueConstraint,
    bindparam,
    case,
    cast,
    func,
    literal_column,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, array
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.caller import Caller
from rules.clock import now
from rules.errors import NotFound
from store.database import listing
from store.database.base import ANYONE, Base, Owned, Updated, visible
from store.database.engine import Change, Means
from store.database.ids import new_id
from store.database.prepared import Prepared, rows

HERE = text("gone_at IS NULL")
SEARCHED_BY = "ix_candidates_letters"


class Candidate(Base, Owned, Updated):
    """What an organisation knows of a person.

    A row that is gone was merged or erased. One that was merged keeps its address, which leads to the survivor.
    """

    __tablename__ = "candidates"
    __table_args__ = (
        UniqueConstraint("organisation_id", "livemode", "email_key"),
        # What changed since a moment, and what is archived, is sifted out in the index, in the list's order.
        Index(
            "ix_candidates_owner",
            "organisation_id",
            "livemode",
            "id",
            "updated_at",
            "archived_at",
            postgresql_where=HERE,
        ),
        Index(
            "ix_candidates_owner_updated_at",
            "organisation_id",
            "livemode",
            "updated_at",
            postgresql_where=HERE,
        ),
        Index("ix_candidates_tags", "tags", postgresql_using="gin", postgresql_where=text("tags <> '{}'")),
        Index(
            SEARCHED_BY,
            text("letters(full_name, email, tags)"),
            postgresql_using="gin",  # of all rows: PostgreSQL plans by no statistics of a partial index
        ),
        Index("ix_candidates_merged", "merged_into", postgresql_where=text("merged_into IS NOT NULL")),
    )

    email: Mapped[str]
    email_key: Mapped[str]  # case-folded: what makes two addresses the same
    full_name: Mapped[str] = mapped_column(default="")
    phone: Mapped[str] = mapped_column(default="")
    source_summary: Mapped[str] = mapped_column(default="")
    tags: Mapped[list[str]] = mapped_column(default=list)
    last_activity_at: Mapped[datetime | None]
    archived_at: Mapped[datetime | None]
    gone_at: Mapped[datetime | None]  # merged or erased
    merged_into: Mapped[UUID | None] = mapped_column(ForeignKey("candidates.id"))


# By address, so that two of these never wait for each other in a circle. Whoever holds a survivor notes its activity.
MEET = """
    INSERT INTO candidates AS known (
        id, created_at, updated_at, last_activity_at, organisation_id, livemode, email, email_key, full_name, phone,
        source_summary, tags
    )
    SELECT one.profile, :moment, :moment, :moment, :organisation_id, :livemode, one.email, one.email_key, one.name,
           coalesce(one.phone, ''), one.source, '{}'
    FROM jsonb_to_recordset(CAST(:candidates AS jsonb)) AS one (
        profile uuid, email text, email_key text, name text, phone text, source text
    )
"""
MET = """
    ORDER BY one.email_key COLLATE "C"
    ON CONFLICT (organisation_id, livemode, email_key) DO UPDATE SET
        full_name = coalesce(nullif(known.full_name, ''), excluded.full_name),
        phone = coalesce(nullif(known.phone, ''), excluded.phone),
        last_activity_at = excluded.last_activity_at, updated_at = excluded.updated_at
    RETURNING email_key, coalesce(merged_into, id) AS id, merged_into
"""
FOLLOW = """
    UPDATE candidates SET last_activity_at = :moment, updated_at = :moment
    WHERE id IN (
        SELECT id FROM candidates WHERE id IN (SELECT merged_into FROM met) FOR NO KEY UPDATE SKIP LOCKED
    )
"""
_MEET = Prepared(
    text(f"WITH met AS ({MEET} {MET}), followed AS ({FOLLOW}) SELECT email_key, id FROM met")  # noqa: S608
)


def meet_all(session: Change, caller: Caller, people: Iterable[Mapping[str, Any]]) -> dict[str, UUID]:
    """Return the profiles of people by their case-folded addresses, made if need be; blanks are filled in.

    What is known already stays. Each has an email, a name, a source, and maybe a phone.
    """
    people = list(people)
    if not people:
        return {}
    written = rows([{"profile": new_id(), "email_key": one["email"].casefold(), **one} for one in people])
    met = _MEET.all(session, caller, candidates=written, moment=now())
    return {one.email_key: one.id for one in met}


# So many rows next to where a page begins are read; of a text that these do not have, the index finds few enough.
NEAR = 2_000

_WORDS = literal_column("' ' || spaced(candidates.full_name || ' ' || candidates.email)", Text())
_BOTH = "candidates.full_name || ' ' || candidates.email"
_AS_WRITTEN = literal_column(
    f"CASE WHEN octet_length({_BOTH}) = length({_BOTH}) THEN lower({_BOTH}) ELSE folded({_BOTH}) END", Text()
)
_LETTERS = literal_column("letters(candidates.full_name, candidates.email, candidates.tags)", ARRAY(Text()))
_ASKED = bindparam("search", type_=Text())
_WHOLE = cast(array([_ASKED]), ARRAY(Text()))
_WANTED = func.wanted(_ASKED, type_=Text())
_PARTS = func.trigrams(_WANTED, type_=ARRAY(Text()))
_INITIAL = cast(array([func.ltrim(_WANTED)]), ARRAY(Text()))
_FOUND = _LETTERS.contains(case((func.length(_WANTED) < 3, _INITIAL), else_=_PARTS)) | _LETTERS.contains(
    _WHOLE
)
# Signs are made blanks only where a blank is wanted, which PostgreSQL knows before it reads a row.
_MEANT = (
    func.strpos(case((func.strpos(_WANTED, " ") > 0, _WORDS), else_=_AS_WRITTEN), _WANTED) > 0
) | Candidate.tags.contains(_WHOLE)
_TAGGED = Candidate.tags != text("'{}'")  # only tells PostgreSQL that its index will do
LIST = listing.Listing(
    visible(ANYONE, Candidate).where(Candidate.gone_at.is_(None)),
    {"-id": (Candidate.id,)},
    {
        "search": listing.Filter(_MEANT, near=NEAR, found=_FOUND, instead={"": None}, skewed=True),
        "tag": listing.Filter(
            Candidate.tags.contains(bindparam("tag")) & _TAGGED, read=lambda tag: [tag], skewed=True
        ),
        "include_archived": listing.Filter(instead={True: None, False: Candidate.archived_at.is_(None)}),
        "updated_after": listing.updated_after(Candidate),
    },
)


def get(session: Session, caller: Caller, id: UUID, *, for_update: bool = False) -> Candidate:
    """Load one, or raise NotFound, with `merged_into` where it was merged."""
    [found] = hold(session, caller, [id]) if for_update else [_find(session, caller, id)]
    return found


def write_on(session: Session, caller: Caller, id: UUID) -> Candidate:
    """Load one that shows something more from now on, so that its `updated_at` moves, or raise NotFound.

    It is neither merged nor erased before this transaction ends.
    """
    theirs = visible(caller, Candidate).where(Candidate.id == id).with_only_columns(Candidate.id)
    # Whether it is gone is looked at once its lock has been waited for; whose it is does not change.
    here = (Candidate.id == theirs.scalar_subquery(), Candidate.gone_at.is_(None))
    written = update(Candidate).where(*here).values(updated_at=now()).returning(Candidate)
    anew = {"populate_existing": True, "synchronize_session": False}
    return session.scalars(written, execution_options=anew).first() or _find(session, caller, id)


def hold(session: Session, caller: Caller, ids: Iterable[UUID]) -> list[Candidate]:
    """Lock profiles with those that were merged into them, in the order of their addresses, or raise NotFound."""
    wanted = list(ids)
    named = Candidate.id.in_(wanted) | Candidate.merged_into.in_(wanted)
    locked = (
        visible(caller, Candidate)
        .where(named)
        .order_by(Candidate.email_key.collate("C"))
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    found = {one.id: one for one in session.scalars(locked)}
    return [_here(found.get(id)) for id in wanted]


def with_merged(session: Session, candidate: Candidate) -> list[Candidate]:
    """Return a profile with all that were merged into it."""
    merged = select(Candidate).where(Candidate.merged_into == candidate.id).order_by(Candidate.id)
    return [candidate, *session.scalars(merged)]


def _find(session: Session, caller: Caller, id: UUID) -> Candidate:
    return _here(session.scalars(visible(caller, Candidate).where(Candidate.id == id)).first())


def _here(row: Candidate | None) -> Candidate:
    if row is None or row.gone_at is not None:
        led = {"merged_into": str(row.merged_into)} if row and row.merged_into else {}
        raise NotFound("There is no such candidate.", **led)
    return row


_COUNTS = Prepared(
    text("""
    SELECT (SELECT count(*) FROM applications WHERE candidate_id = :id) AS application_count,
           (SELECT count(*) FROM invitations WHERE candidate_id = :id) AS invitation_count
    """)
)


def counts(means: Means, id: UUID) -> dict[str, int]:
    """Count a person's applications and invitations."""
    return dict(_COUNTS.first(means, id=id)._asdict())
