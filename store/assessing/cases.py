"""Cases: the platform's catalogue and each organisation's own."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy import CheckConstraint, ForeignKey, Index, Numeric, Select, case, select, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.caller import Caller
from rules.clock import now
from rules.errors import NotFound
from store.database import listing
from store.database.base import ANYONE, Anyone, Base, Identified, Updated

CATALOGUE = UUID("5f3c4d1e-8a52-4c0b-9d1f-2f6f1d1f7a10")  # the name space of the catalogue's ids


class Case(Base, Identified, Updated):
    """One task; a row without an organisation belongs to the platform's catalogue."""

    __tablename__ = "cases"
    __table_args__ = (
        Index("ix_cases_test", "organisation_id", postgresql_where=text("NOT livemode")),
        CheckConstraint("(organisation_id IS NULL) = (case_number IS NOT NULL)", name="platform_or_org"),
        *(
            Index(name, "organisation_id", "livemode", key, postgresql_where=text("deleted_at IS NULL"))
            for name, key in {"ix_cases_owner": "id", "ix_cases_owner_updated_at": "updated_at"}.items()
        ),
    )

    organisation_id: Mapped[UUID | None] = mapped_column(ForeignKey("organisations.id"))
    livemode: Mapped[bool | None]
    case_number: Mapped[int | None] = mapped_column(unique=True)
    track: Mapped[str | None]
    title: Mapped[str]
    case_type: Mapped[str]
    difficulty: Mapped[str]
    description: Mapped[str] = mapped_column(default="")
    question: Mapped[str] = mapped_column(default="")  # Markdown
    points: Mapped[int] = mapped_column(default=10)
    time_limit_minutes: Mapped[int | None]
    options: Mapped[list[Any]] = mapped_column(default=list)
    allow_multiple: Mapped[bool] = mapped_column(default=False)
    accepted_answers: Mapped[list[str]] = mapped_column(default=list)
    answer_number: Mapped[Decimal | None] = mapped_column(Numeric)
    tolerance: Mapped[Decimal | None] = mapped_column(Numeric)
    language: Mapped[str | None]
    languages: Mapped[list[str]] = mapped_column(default=list, server_default="{}")  # to choose among
    starter_code: Mapped[str] = mapped_column(default="")
    test_cases: Mapped[list[Any]] = mapped_column(default=list)
    rubric: Mapped[str] = mapped_column(default="")
    tags: Mapped[list[str]] = mapped_column(default=list)
    deleted_at: Mapped[datetime | None]

    @property
    def source(self) -> str:
        """Whose case it is: platform or org."""
        return "platform" if self.organisation_id is None else "org"


SOURCE = case((Case.organisation_id.is_(None), "platform"), else_="org").label("source")


def own(caller: Caller | Anyone) -> Select[Case]:
    """Select the caller's own cases that are not deleted."""
    return select(Case).where(
        Case.organisation_id == caller.organisation_id,
        Case.livemode == caller.livemode,
        Case.deleted_at.is_(None),
    )


def get(session: Session, caller: Caller, id: UUID, *, for_update: bool = False) -> Case:
    """Load one of the caller's own cases, or raise NotFound."""
    found = own(caller).where(Case.id == id)
    row = session.scalars(found.with_for_update() if for_update else found).first()
    if row is None:
        raise NotFound("There is no such case.")
    return row


LIST = listing.Listing(own(ANYONE), {"-id": (Case.id,)}, {"updated_after": listing.updated_after(Case)})
PLATFORM = listing.Listing(
    select(Case).where(Case.organisation_id.is_(None), Case.deleted_at.is_(None)),
    {"case_number": (Case.case_number,)},
    {
        "search": listing.search(Case.title),
        "difficulty": listing.equals(Case.difficulty),
        "case_type": listing.equals(Case.case_type),
        "track": listing.equals(Case.track),
    },
)


def create(session: Session, caller: Caller, content: Mapping[str, Any]) -> Case:
    """Make a case of the caller's own."""
    case = Case(organisation_id=caller.organisation_id, livemode=caller.livemode, **content)
    session.add(case)
    session.flush()
    return case


def find_all(session: Session, caller: Caller, ids: Collection[UUID]) -> dict[UUID, Case]:
    """Load cases by id: the caller's own and the platform's."""
    theirs = (Case.organisation_id == caller.organisation_id) & (Case.livemode == caller.livemode)
    rows = select(Case).where(
        Case.id.in_(ids), Case.deleted_at.is_(None), theirs | Case.organisation_id.is_(None)
    )
    return {case.id: case for case in session.scalars(rows)}


def load_catalogue(session: Session, entries: Iterable[Mapping[str, Any]]) -> None:
    """Bring the platform's cases to what the catalogue says; an entry keeps its id by its slug.

    What has left the catalogue is deleted softly: assessments keep it.
    """
    known = {case.id: case for case in session.scalars(select(Case).where(Case.organisation_id.is_(None)))}
    for entry in entries:
        id = uuid5(CATALOGUE, str(entry["slug"]))
        case = known.pop(id, None) or Case(id=id)
        case.change({name: value for name, value in entry.items() if name not in ("slug", "solution")})
        session.add(case)
    for case in known.values():
        case.deleted_at = case.deleted_at or now()
    session.flush()
