"""Sealing: rows that wait get their numbers and hashes, batch by batch, each organisation's in one chain."""

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from rules import audit
from rules.clock import now
from store.auditing.rows import AuditWaiting
from store.database import secrets
from store.database.aside import Row
from store.database.due import Due
from store.database.prepared import Prepared, rows

log = logging.getLogger("hiring.audit")

DUE = Due("audit rows", AuditWaiting, AuditWaiting.occurred_at, order=AuditWaiting.id)

NAMES = [column.name for column in AuditWaiting.__table__.columns]
_AS_TEXT = {"id", "organisation_id", "actor_id"}
# What is hashed of a row, after its number, as values that are written in one way only.
FACTS = ", ".join(
    f"CAST({name} AS text) AS {name}" if name in _AS_TEXT
    else f"CAST(extract(epoch FROM {name}) * 1000000 AS bigint) AS {name}" if name == "occurred_at"
    else name
    for name in NAMES
)  # fmt: skip

_TAKE = Prepared(
    text(f"""
    SELECT {FACTS} FROM audit_waiting
    WHERE id = ANY (:ids) ORDER BY organisation_id, audit_waiting.id FOR UPDATE SKIP LOCKED
    """)  # noqa: S608 - names of our own
)
_HOLD = Prepared(
    text("""
    INSERT INTO audit_chains AS chain (organisation_id, number, hash, anchor, anchored_number, seal)
    SELECT id, 0, :genesis, 0, 0, '' FROM unnest(CAST(:ids AS uuid[])) AS id ORDER BY id
    ON CONFLICT (organisation_id) DO UPDATE SET number = chain.number
    RETURNING organisation_id, number, hash, anchor, anchored_number, anchored_at
    """)
)
_MOVE = Prepared(
    text(f"""
    WITH gone AS (DELETE FROM audit_waiting WHERE id = ANY (:ids) RETURNING *)
    INSERT INTO audit_rows ({", ".join(NAMES)}, number, hash)
    SELECT {", ".join(f"gone.{name}" for name in NAMES)}, sealed.number, decode(sealed.hash, 'hex')
    FROM gone JOIN jsonb_to_recordset(CAST(:sealed AS jsonb)) AS sealed (id uuid, number bigint, hash text)
      ON sealed.id = gone.id
    """)  # noqa: S608
)
_HEADS = Prepared(
    text("""
    UPDATE audit_chains AS chain
    SET number = head.number, hash = decode(head.hash, 'hex'), anchor = head.anchor,
        anchored_number = head.anchored_number, anchored_at = head.anchored_at, seal = head.seal
    FROM jsonb_to_recordset(CAST(:heads AS jsonb)) AS head (
        organisation_id uuid, number bigint, hash text, anchor bigint, anchored_number bigint,
        anchored_at timestamptz, seal text
    )
    WHERE chain.organisation_id = head.organisation_id
    """)
)
_ANCHORS_ALONE = Prepared(text("LOCK TABLE audit_anchors IN SHARE ROW EXCLUSIVE MODE"))
_NEWEST_ANCHOR = Prepared(text("SELECT anchor, digest FROM audit_anchors ORDER BY anchor DESC LIMIT 1"))
_ANCHOR = Prepared(
    text("""
    INSERT INTO audit_anchors (anchor, organisation_id, number, hash, anchored_at, digest, seal)
    VALUES (:anchor, :chain, :number, :hash, :moment, :digest, :seal)
    """)
)


@dataclass
class _Chain:
    """The head of a chain while rows are added to it."""

    organisation_id: UUID
    number: int
    hash: bytes
    anchor: int
    anchored_number: int
    anchored_at: datetime | None

    def add(self, facts: Sequence[Any]) -> None:
        self.number += 1
        self.hash = audit.link(self.hash, [self.number, *facts])

    def wants_anchor(self, moment: datetime) -> bool:
        return (
            self.anchored_at is None
            or self.number - self.anchored_number >= audit.ANCHOR_ROWS
            or moment - self.anchored_at >= timedelta(seconds=audit.ANCHOR_SECONDS)
        )


def head_facts(organisation_id: UUID | str, number: int, hash: bytes, anchor: int) -> bytes:
    """Return what a head's seal says."""
    return audit.statement("audit head", [str(organisation_id), number, hash.hex(), anchor])


def anchor_facts(
    anchor: int, organisation_id: UUID | str, number: int, hash: bytes, at: datetime
) -> list[Any]:
    """Return what the digest of an anchor is made of, beside the digest of the one before."""
    return [anchor, str(organisation_id), number, hash.hex(), at.isoformat()]


def sealed(message: bytes) -> str:
    """Return what only who has SECRET_KEY can make of a message; `hiring secrets reencrypt` renews it."""
    return secrets.encrypt(hashlib.sha256(message).hexdigest())


def seal(session: Session, due: Sequence[Row]) -> int:
    """Seal rows that wait; return how many. Two sealers of one chain wait for each other at its head."""
    found = _TAKE.all(session, ids=[row.id for row in due])
    if not found:
        return 0
    place = NAMES.index("organisation_id")
    held = _HOLD.all(session, ids=sorted({UUID(row[place]) for row in found}), genesis=audit.GENESIS)
    chains = {str(row.organisation_id): _Chain(*row) for row in held}
    made = []
    for owner, mine in groupby(found, key=lambda row: row[place]):
        chain = chains[owner]
        for facts in mine:
            chain.add(facts)
            made.append({"id": facts[0], "number": chain.number, "hash": chain.hash.hex()})
    _MOVE.run(session, ids=[UUID(row[0]) for row in found], sealed=rows(made))
    moment = now()
    if wanting := [chain for chain in chains.values() if chain.wants_anchor(moment)]:
        _anchor(session, wanting, moment)
    _HEADS.run(session, heads=rows([_head(chain) for chain in chains.values()]))
    return len(made)


def _head(chain: _Chain) -> dict[str, Any]:
    stated = head_facts(chain.organisation_id, chain.number, chain.hash, chain.anchor)
    return vars(chain) | {"hash": chain.hash.hex(), "seal": sealed(stated)}


def _anchor(session: Session, chains: Sequence[_Chain], moment: datetime) -> None:
    """Add an anchor for each of these chains to the one sequence that all anchors are in."""
    _ANCHORS_ALONE.run(session)
    before = _NEWEST_ANCHOR.first(session)
    anchor, digest = (before.anchor, before.digest) if before else (0, audit.GENESIS)
    for chain in chains:
        anchor += 1
        facts = anchor_facts(anchor, chain.organisation_id, chain.number, chain.hash, moment)
        digest = audit.link(digest, facts)
        _ANCHOR.run(
            session,
            anchor=anchor,
            chain=chain.organisation_id,
            number=chain.number,
            hash=chain.hash,
            moment=moment,
            digest=digest,
            seal=sealed(digest),
        )
        chain.anchor, chain.anchored_number, chain.anchored_at = anchor, chain.number, moment
        # Elsewhere than in the database, for whoever keeps the logs apart.
        log.info(
            "An anchor of the audit log.",
            extra={
                "organisation": str(chain.organisation_id),
                "number": chain.number,
                "hash": chain.hash.hex(),
            },
        )
