"""Recordings of sittings: what is known of them. Their chunks are kept by gateways.files, each under its key."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ForeignKey,
    Index,
    UniqueConstraint,
    bindparam,
    delete,
    func,
    select,
    update,
)
from sqlalchemy.orm import Mapped, Session, contains_eager, mapped_column, relationship

from rules import recordings as rules
from rules.clock import now
from rules.retention import RECORDINGS_MOST_DAYS
from store import outbox
from store.accounts import room
from store.assessing.invitations import Invitation
from store.assessing.sessions import CandidateSession, Sitting
from store.branding.settings import Settings
from store.database import secrets
from store.database.aside import Row
from store.database.base import Base, Owned, Party
from store.database.due import Due, DueByOwner
from store.database.engine import Means
from store.database.prepared import Prepared

SEALED = "recordings:"


class Recording(Base, Owned):
    """One track of one sitting, from its beginning to a reload or the end."""

    __tablename__ = "recordings"
    __table_args__ = (
        UniqueConstraint("session_id", "track"),
        Index("ix_recordings_owner", "organisation_id", "livemode", "created_at"),
        Index("ix_recordings_kept_until", "kept_until"),
    )

    session_id: Mapped[UUID] = mapped_column(ForeignKey("sessions.id", ondelete="CASCADE"))
    track: Mapped[UUID]  # as the candidate's page calls it
    kind: Mapped[str]  # session, screen, webcam
    media_type: Mapped[str]
    started_ms: Mapped[int]  # after the sitting's start
    duration_ms: Mapped[int] = mapped_column(default=0)
    chunks: Mapped[int] = mapped_column(default=0)  # 0 to one less, none missing
    size_bytes: Mapped[int] = mapped_column(BigInteger, default=0)
    kept_until: Mapped[datetime]  # as the candidate was told; earlier where fewer days are set since

    session: Mapped[CandidateSession] = relationship(lazy="raise")


class RecordingChunk(Base):
    """A part of a recording, as it was sent."""

    __tablename__ = "recording_chunks"

    recording_id: Mapped[UUID] = mapped_column(
        ForeignKey("recordings.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(primary_key=True)
    size_bytes: Mapped[int]
    key: Mapped[str] = mapped_column(unique=True)


DUE = Due("recordings", Recording, Recording.kept_until)
# Of organisations that have set fewer days since.
SOONER = DueByOwner(
    "recordings kept shorter",
    Recording,
    Recording.created_at,
    days=Settings.recordings_days,
    are_set=Settings.recordings_days.is_not(None),
    most=timedelta(days=RECORDINGS_MOST_DAYS),
)


def track(session: Session, sitting: Sitting, track: UUID) -> Recording | None:
    """Find a track of a sitting; None before its first chunk."""
    if sitting.session is None:
        return None
    mine = select(Recording).where(Recording.session_id == sitting.session.id, Recording.track == track)
    return session.scalars(mine.execution_options(populate_existing=True)).first()


def check_room(session: Session, sitting: Sitting, found: Recording | None, size: int) -> None:
    """Refuse what the sitting has no room for: LIMIT_REACHED."""
    assert sitting.session is not None
    sums = select(func.count(), func.coalesce(func.sum(Recording.size_bytes), 0))
    tracks, held = session.execute(sums.where(Recording.session_id == sitting.session.id)).one()
    rules.check_sitting(tracks + (found is None), held, size)


def begin(session: Session, sitting: Sitting, days: int, **values: Any) -> Recording:
    """Note a track that has begun; it is kept for so many days."""
    assert sitting.session is not None
    made = Recording(
        organisation_id=sitting.invitation.organisation_id,
        livemode=sitting.invitation.livemode,
        session_id=sitting.session.id,
        kept_until=sitting.moment + timedelta(days=days),
        **values,
    )
    session.add(made)
    session.flush()
    return made


def add(session: Session, recording: Recording, file: dict[str, Any], duration_ms: int) -> None:
    """Note a chunk that has been kept."""
    session.add(
        RecordingChunk(
            recording_id=recording.id,
            number=recording.chunks,
            size_bytes=file["size_bytes"],
            key=file["key"],
        )
    )
    recording.chunks += 1
    recording.duration_ms += duration_ms
    recording.size_bytes += file["size_bytes"]


def seal(session_id: UUID) -> str:
    """Return the token of a link to a sitting's recordings, good for a while from now."""
    return secrets.encrypt(f"{SEALED}{session_id}")


def _sealed(token: str) -> UUID | None:
    opened = secrets.opened(token, rules.LINK_FOR) or ""
    return UUID(opened.removeprefix(SEALED)) if opened.startswith(SEALED) else None


_OWNER = Prepared(
    select(Invitation.organisation_id, Invitation.livemode)
    .join(CandidateSession, CandidateSession.invitation_id == Invitation.id)
    .where(CandidateSession.id == bindparam("session_id"))
)


def owner(means: Means, token: str) -> Party | None:
    """Say whose and of which mode the sitting of a link is; None where its time is over, or it is none."""
    session_id = _sealed(token)
    row = _OWNER.first(means, session_id=session_id) if session_id else None
    return row and (row.organisation_id, row.livemode)


def unseal(session: Session, token: str) -> CandidateSession | None:
    """Load the sitting of a link with its invitation and assessment; None where its time is over, or it is none."""
    session_id = _sealed(token)
    if session_id is None:
        return None
    found = (
        select(CandidateSession)
        .join(CandidateSession.invitation)
        .join(Invitation.assessment)
        .where(CandidateSession.id == session_id)
        .options(contains_eager(CandidateSession.invitation).contains_eager(Invitation.assessment))
    )
    return session.scalars(found).first()


def of(session: Session, candidate_session: CandidateSession) -> list[Recording]:
    """List a sitting's recordings in the order in which they began."""
    mine = select(Recording).where(Recording.session_id == candidate_session.id)
    return list(session.scalars(mine.order_by(Recording.started_ms, Recording.id).limit(rules.MOST_TRACKS)))


def key(session: Session, sitting: CandidateSession, recording_id: UUID, number: int) -> str | None:
    """Find the key of a chunk of a sitting's recordings."""
    chunk = select(RecordingChunk.key).join(Recording, Recording.id == RecordingChunk.recording_id)
    return session.scalar(
        chunk.where(
            Recording.session_id == sitting.id, Recording.id == recording_id, RecordingChunk.number == number
        )
    )


def let_go(due: Due) -> Any:
    """Return what deletes recordings that are due and says how many; their bytes go after it, as outbox work."""

    def delete_recordings(session: Session, rows: Sequence[Row]) -> int:
        gone = session.execute(
            select(
                Recording.id,
                Recording.organisation_id,
                Recording.livemode,
                Recording.size_bytes,
                Recording.session_id,
            )
            .where(*due.among(rows))
            .order_by(Recording.organisation_id, Recording.id)
        ).all()
        _changes(session, {one.session_id for one in gone})
        for one in gone:
            mine = RecordingChunk.recording_id == one.id
            keys = session.scalars(delete(RecordingChunk).where(mine).returning(RecordingChunk.key)).all()
            session.execute(delete(Recording).where(Recording.id == one.id))
            room.give_back(session, one.organisation_id, one.size_bytes)
            outbox.add(session, one, "discard", files=list(keys))
        return len(gone)

    return delete_recordings


def _changes(session: Session, ids: Iterable[UUID]) -> None:
    """Move the results that show recordings, in an order in which nobody waits for another in a circle."""
    held = select(CandidateSession.id).where(CandidateSession.id.in_(ids)).order_by(CandidateSession.id)
    held = held.with_for_update(key_share=True)
    moved = update(CandidateSession).where(CandidateSession.id.in_(held)).values(updated_at=now())
    session.execute(moved, execution_options={"synchronize_session": False})
