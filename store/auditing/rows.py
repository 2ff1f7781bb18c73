"""The tables of the audit log: what waits to be sealed, what is, each chain's head, and the anchors."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, Index, LargeBinary, text
from sqlalchemy.orm import Mapped, mapped_column

from store.database.base import Base

# What a key of a mode sees: its rows, and those of no mode.
MODES = {True: "livemode IS NOT FALSE", False: "livemode IS NOT TRUE"}
# What filters ask for; the last columns of each index sift it out there.
_ASKED = ("channel", "outcome", "action")
# Requests by a key, and what they are looked for by.
REQUESTS = "channel = 'public_api' AND request_id IS NOT NULL"
_LOOKED_FOR = ["status_code", "error_code", "action", "actor_id"]


def _indexes() -> tuple[Index, ...]:
    made = [Index("uq_audit_rows_number", "organisation_id", "number", unique=True)]
    for mode, where in MODES.items():
        for first in ((), ("channel",), ("outcome",), ("action",)):
            name = "_".join(("ix_audit_rows", "live" if mode else "test", *first))
            more = [one for one in _ASKED if one not in first]
            columns = ("organisation_id", *first, "id")
            made.append(Index(name, *columns, postgresql_where=text(where), postgresql_include=more))
        requests = "ix_audit_rows_" + ("live" if mode else "test") + "_requests"
        made.append(
            Index(
                requests, "organisation_id", "id",
                postgresql_where=text(f"{where} AND {REQUESTS}"), postgresql_include=_LOOKED_FOR,
            )
        )  # fmt: skip
    return tuple(made)


class _Told:
    """What a row of the log says: ids and codes, never a name, a text or a token.

    No references: a row outlives what it tells of, and takes no lock of it.
    """

    id: Mapped[UUID] = mapped_column(primary_key=True)
    occurred_at: Mapped[datetime]  # the moment in the id
    organisation_id: Mapped[UUID]  # rules.audit.INSTANCE where it is nobody's
    livemode: Mapped[bool | None]
    channel: Mapped[str]
    actor_type: Mapped[str]
    actor_id: Mapped[UUID | None]
    action: Mapped[str]
    method: Mapped[str | None]
    path: Mapped[str | None]
    outcome: Mapped[str]
    status_code: Mapped[int | None]
    error_code: Mapped[str | None]
    ip: Mapped[str | None]
    request_id: Mapped[str | None]
    resource_type: Mapped[str | None]
    resource_id: Mapped[str | None]
    duration_ms: Mapped[int | None]  # until the row was written


class AuditWaiting(Base, _Told):
    """A row that no sealer has taken yet; it has no index but its id, so that a request pays for nothing else."""

    __tablename__ = "audit_waiting"


class AuditRow(Base, _Told):
    """A sealed row: its place in its organisation's chain, and the hash that ties it to the row before."""

    __tablename__ = "audit_rows"

    __table_args__ = _indexes()

    number: Mapped[int] = mapped_column(BigInteger)
    hash: Mapped[bytes] = mapped_column(LargeBinary)


class AuditChain(Base):
    """The head of one organisation's chain, sealed; its row is the lock of whoever seals."""

    __tablename__ = "audit_chains"

    organisation_id: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger)
    hash: Mapped[bytes] = mapped_column(LargeBinary)
    anchor: Mapped[int] = mapped_column(BigInteger)  # the newest anchor of this chain
    anchored_number: Mapped[int] = mapped_column(BigInteger)
    anchored_at: Mapped[datetime | None]
    seal: Mapped[str]  # what only who has the instance's key can make of number, hash and anchor


class AuditAnchor(Base):
    """A place in a chain as it stood at a moment, tied to the anchor before it, whosever that was."""

    __tablename__ = "audit_anchors"

    anchor: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    organisation_id: Mapped[UUID]
    number: Mapped[int] = mapped_column(BigInteger)
    hash: Mapped[bytes] = mapped_column(LargeBinary)
    anchored_at: Mapped[datetime]
    digest: Mapped[bytes] = mapped_column(LargeBinary)  # of all this and of the digest of the anchor before
    seal: Mapped[str]  # the same of the digest
