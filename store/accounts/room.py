"""How many bytes of files are kept for each organisation, and that there are never more than it has room for."""

from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, ForeignKey, bindparam, func, select, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from rules.caller import Caller
from rules.errors import LimitReached
from store.accounts.organisations import Organisation
from store.database.base import ANYONE, Base
from store.database.prepared import Prepared

MB = 1_000_000
_most = 10_000 * MB


class FilesKept(Base):
    """What the files of one organisation come to, in both modes: counted as they are kept, and never added up."""

    __tablename__ = "files_kept"

    organisation_id: Mapped[UUID] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    bytes: Mapped[int] = mapped_column(BigInteger)


def configure(*, most_mb: int) -> None:
    """Set how much room each organisation has from now on."""
    global _most  # noqa: PLW0603 - one process, one room
    _most = most_mb * MB


_USED = Prepared(
    select(func.coalesce(func.max(FilesKept.bytes), 0).label("bytes")).where(
        FilesKept.organisation_id == ANYONE.organisation_id
    )
)
USED = "(SELECT bytes FROM files_kept WHERE organisation_id = :organisation_id) AS used"  # None: nothing yet
TAKE = """
    INSERT INTO files_kept AS kept (organisation_id, bytes)
    SELECT :organisation_id, CAST(:size AS bigint) WHERE CAST(:size AS bigint) BETWEEN 1 AND CAST(:most AS bigint)
    ON CONFLICT (organisation_id) DO UPDATE SET bytes = kept.bytes + excluded.bytes
    WHERE kept.bytes + excluded.bytes <= CAST(:most AS bigint)
    RETURNING bytes
"""
_TAKE = Prepared(text(TAKE))
_GIVE_BACK = Prepared(
    text("UPDATE files_kept SET bytes = greatest(0, bytes - :size) WHERE organisation_id = :organisation_id")
)


def used(session: Session, caller: Caller) -> int:
    """Return how many bytes are kept for the caller's organisation."""
    return int(_USED.first(session, caller).bytes)


def check(caller: Caller, used: int, size: int) -> None:
    """Refuse files for which there is no room: LIMIT_REACHED."""
    if size and used + size > _most:
        # Who has neither key nor session is nobody of the organisation's.
        known = {"limit": _most // MB, "used": used // MB} if caller.key_id or caller.person else {}
        raise LimitReached("The organisation's room for files is used up.", **known)


def take(session: Session, caller: Caller, size: int) -> None:
    """Count files that are kept, or refuse, however many come at once."""
    if size:
        taken(caller, _TAKE.first(session, caller, **terms(size)), size)


def terms(size: int) -> dict[str, int]:
    """Return what TAKE is given for files of so many bytes."""
    return {"size": size, "most": _most}


def taken(caller: Caller, row: Any, size: int) -> None:
    """Refuse files that TAKE gave no row for."""
    if row is None:
        check(caller, _most, size)


def give_back(session: Session, organisation_id: UUID, size: int) -> None:
    """Count no longer what was let go."""
    _GIVE_BACK.run(session, organisation_id=organisation_id, size=size)


def nearly_full(session: Session, *, share: float, limit: int) -> list[tuple[str, float]]:
    """Return organisations that have used such a share of their room, the fullest first: slug and share."""
    rows = select(Organisation.slug, FilesKept.bytes / bindparam("most", float(_most))).join(
        Organisation, Organisation.id == FilesKept.organisation_id
    )
    full = rows.where(FilesKept.bytes >= share * _most).order_by(FilesKept.bytes.desc()).limit(limit)
    return [(slug, float(used)) for slug, used in session.execute(full)]
