"""What all tables share, and the one door to their rows."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Protocol, TypeVar
from uuid import UUID

from sqlalchemy import (
    Boolean,
    ColumnElement,
    DateTime,
    ForeignKey,
    MetaData,
    Select,
    Text,
    Uuid,
    any_,
    bindparam,
    literal,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    Session,
    declared_attr,
    joinedload,
    mapped_column,
    selectinload,
)

from rules import slugs
from rules.caller import Caller
from rules.clock import now
from store.database.ids import new_id


class Base(DeclarativeBase):
    """The declarative base; constraints are named so that migrations can name them too."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_N_label)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads this class attribute
        datetime: DateTime(timezone=True),
        str: Text(),
        UUID: Uuid(),
        list[str]: ARRAY(Text()),
        dict[str, Any]: JSONB(),
        list[Any]: JSONB(),
    }

    def change(self, values: Mapping[str, Any]) -> None:
        """Change columns by their names; a status is none of them, for it moves (store.events)."""
        assert "status" not in values
        for name, value in values.items():
            setattr(self, name, value)


class Identified:
    """A row with a UUIDv7."""

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    created_at: Mapped[datetime] = mapped_column(default=now)


class Updated:
    """A row that says when it last changed."""

    updated_at: Mapped[datetime] = mapped_column(default=now, onupdate=now)


class Owned(Identified):
    """A row of one organisation in one mode."""

    @declared_attr
    @classmethod
    def organisation_id(cls) -> Mapped[UUID]:
        """The owner."""
        return mapped_column(ForeignKey("organisations.id"))

    livemode: Mapped[bool]


Party = tuple[UUID, bool]  # an organisation, and whether in live mode
NOBODY = UUID(int=0)  # whose is what no organisation asked for


class Owner(Protocol):
    """Whatever belongs to one organisation in one mode: a row or a caller."""

    @property
    def organisation_id(self) -> UUID: ...  # noqa: D102
    @property
    def livemode(self) -> bool: ...  # noqa: D102


Row = TypeVar("Row", bound=Owned)


class Anyone:
    """The caller of a statement that is prepared before there is one (store.database.prepared)."""

    organisation_id = bindparam("organisation_id", type_=Uuid())
    livemode = bindparam("livemode", type_=Boolean())


ANYONE = Anyone()


def free_slug(
    session: Session, caller: Caller, model: Any, title: str, *, otherwise: str, reserved: Collection[str]
) -> str:
    """Return a slug that no row of the caller's has, in its mode where rows have one.

    The organisation row must be locked.
    """
    base = slugs.base(title, otherwise)
    like = (model.slug == base) | model.slug.like(f"{base}-%")
    mine = select(model.slug).where(model.organisation_id == caller.organisation_id, like)
    if issubclass(model, Owned):
        mine = mine.where(model.livemode == caller.livemode)
    return slugs.free(base, {*session.scalars(mine), *reserved})


def beside(*relations: Any, locked: bool) -> list[Any]:
    """Say how a statement loads what its rows are related to: joined, or by itself once the rows are locked.

    A row that was changed while its lock was waited for is read anew; what is joined to it is as old as the wait.
    """
    load = selectinload if locked else joinedload
    return [load(one) for one in relations]


# Which squads see a row: those that its own team_id names, or those of the row that it belongs to. What is in no line
# is everybody's, and so is what belongs to no squad.
SQUAD_BY = {
    "jobs": "team_id",
    "assessments": "team_id",
    "pipelines": "team_id",
    "applications": "job_id",
    "attachments": "application_id",
    "offers": "job_id",
    "invitations": "assessment_id",
    "sessions": "assessment_id",
    "recordings": "session_id",
    "enrollments": "pipeline_id",
    "enrollment_notes": "enrollment_id",
    "interviews": "pipeline_enrollment_id",
}


class OfSquads(ColumnElement[bool]):
    """What a statement asks of rows where it is made for who sees some squads alone; nothing for all others."""

    inherit_cache = False
    type = Boolean()

    def __init__(self, model: Any) -> None:
        self.model = model


@compiles(OfSquads)
def _write_of_squads(element: OfSquads, compiler: Any, **options: Any) -> str:
    if not getattr(compiler.dialect, "of_squads", False):
        return "true"
    squads = bindparam("squads", type_=ARRAY(Uuid()))
    return f"({compiler.process(_of_squads(element.model.__table__, squads), **options)})"


def _of_squads(table: Any, squads: ColumnElement[Any], alias: Any = None) -> ColumnElement[bool]:
    column: ColumnElement[Any] = (table if alias is None else alias).c[SQUAD_BY[table.name]]
    if column.key == "team_id":
        return column.is_(None) | (column == any_(squads))
    [reference] = table.c[column.key].foreign_keys
    parent = reference.column.table
    other = parent.alias()
    inside = column.in_(select(other.c.id).where(_of_squads(parent, squads, other)))
    return column.is_(None) | inside if table.c[column.key].nullable else inside


def visible(caller: Caller | Anyone, model: type[Row]) -> Select[Row]:
    """Select the rows this caller may see: its organisation's, in its mode, and of its squads where it has some."""
    mine = select(model).where(
        model.organisation_id == caller.organisation_id, model.livemode == caller.livemode
    )
    table: Any = model.__table__  # type: ignore[attr-defined]  # every model has one
    if table.name not in SQUAD_BY:
        return mine
    if isinstance(caller, Anyone):
        return mine.where(OfSquads(model))
    if caller.squads is None:
        return mine
    return mine.where(_of_squads(table, literal(list(caller.squads), ARRAY(Uuid()))))
