"""Verifying: every chain from its first row to its head, and every anchor."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

from cryptography.fernet import InvalidToken
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from rules import audit
from rules.clock import now
from store.auditing.rows import AuditAnchor, AuditChain, AuditWaiting
from store.auditing.sealing import FACTS, NAMES, anchor_facts, head_facts
from store.database import secrets

CHANGED = "not what was sealed here: changed, moved or put in, or a row before it was removed"
FETCHED = 5_000  # rows at a time
NEWEST = 10_000  # rows of one organisation that a request looks at
PATIENCE = timedelta(minutes=1)  # so long a row may wait to be sealed

_ROWS = f"SELECT number, {FACTS}, hash FROM audit_rows ORDER BY audit_rows.organisation_id, number"  # noqa: S608
_NEWEST = text(
    f"SELECT number, {FACTS}, hash FROM audit_rows"  # noqa: S608 - names of our own
    " WHERE audit_rows.organisation_id = :owner AND number BETWEEN :first AND :last ORDER BY number"
)
# As one statement sees them: a sealer changes both at once.
_LAST = text(
    "SELECT coalesce((SELECT max(number) FROM audit_rows WHERE organisation_id = :owner), 0),"
    " coalesce((SELECT number FROM audit_chains WHERE organisation_id = :owner), 0)"
)
_OWNER, _HASH = NAMES.index("organisation_id") + 1, len(NAMES) + 1  # after the number


@dataclass(frozen=True)
class Fault:
    """One thing that is not as it was sealed: whose chain, at which number, which row, and what is wrong."""

    organisation_id: str
    number: int | None
    row_id: str | None
    what: str


@dataclass
class Found:
    """What a verification found; rows after the first fault of a chain are not looked at."""

    rows: int = 0
    chains: int = 0
    anchors: int = 0
    faults: list[Fault] = field(default_factory=list)


@dataclass
class _Anchors:
    """What the anchors say: the hash at a number of a chain, and the newest anchor of each chain."""

    hashes: dict[str, dict[int, str]] = field(default_factory=dict)
    newest: dict[str, int] = field(default_factory=dict)


def verify(session: Session, tell: Callable[[int, int], None] = lambda done, known: None) -> Found:
    """Look at every row and anchor as they stand at one moment; name the first fault of each chain.

    On the way it tells how many rows were read, of how many that the heads of all chains know.
    """
    session.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
    found = Found()
    anchors = _anchors(session, found)
    heads = {str(head.organisation_id): head for head in session.scalars(select(AuditChain))}
    known = sum(head.number for head in heads.values())
    seen = set()
    for owner, mine in groupby(_rows(session, lambda done: tell(done, known)), key=lambda row: row[_OWNER]):
        seen.add(owner)
        if fault := _chain(owner, mine, heads.get(owner), anchors, found):
            found.faults.append(fault)
    for owner in (heads.keys() | anchors.hashes.keys()) - seen:
        if fault := _chain(owner, iter(()), heads.get(owner), anchors, found):
            found.faults.append(fault)
    found.chains = len(seen)
    found.faults += _waiting(session)
    return found


def newest(session: Session, organisation_id: UUID) -> tuple[Found, int]:
    """Look at an organisation's newest rows, as they follow the one before them, and at its head and newest anchor.

    The second value is the number of the first of them. The whole of every chain is `verify`'s.
    """
    found, owner = Found(), str(organisation_id)
    last, known = session.execute(_LAST, {"owner": organisation_id}).one()
    if last != known:
        what = "put in or the head is gone" if last > known else "removed"
        found.faults.append(Fault(owner, min(last, known) + 1, None, f"{what}: the chain has {known} rows"))
        return found, 1
    head = session.get(AuditChain, organisation_id)
    if head is None:  # nothing was sealed yet
        return found, 1
    first = max(1, head.number - NEWEST + 1)
    places = {"owner": organisation_id, "first": first - 1, "last": head.number}
    rows = iter(session.execute(_NEWEST, places).all())
    before = next(rows, None) if first > 1 else None
    if first > 1 and (before is None or before[0] != first - 1):
        found.faults.append(Fault(owner, first - 1, None, "removed: the newest rows follow another one"))
        return found, first
    anchors, anchor = _Anchors(), session.get(AuditAnchor, head.anchor)
    if anchor and anchor.organisation_id == organisation_id and _is_ours(anchor.seal, anchor.digest):
        anchors.hashes[owner], anchors.newest[owner] = {anchor.number: anchor.hash.hex()}, anchor.anchor
    start = (before[0], before[_HASH]) if before else (0, audit.GENESIS)
    if fault := _chain(owner, rows, head, anchors, found, start=start):
        found.faults.append(fault)
    return found, first


def _rows(session: Session, tell: Callable[[int], None] = lambda done: None) -> Iterator[Any]:
    connection: Any = session.connection().connection.driver_connection
    done = 0
    with connection.cursor("audit") as cursor:
        cursor.execute(_ROWS)
        while some := cursor.fetchmany(FETCHED):
            yield from some
            done += len(some)
            tell(done)


def _chain(
    owner: str,
    mine: Iterator[Any],
    head: AuditChain | None,
    anchors: _Anchors,
    found: Found,
    *,
    start: tuple[int, bytes] = (0, audit.GENESIS),
) -> Fault | None:
    """Follow one chain from a number and its hash to its end or its first fault."""
    number, last = start
    before = last
    fixed = anchors.hashes.get(owner, {})
    known: tuple[Any, ...] | None = None  # the row before
    for row in mine:
        found.rows += 1
        if row[0] != number + 1:
            return Fault(owner, number + 1, None, f"removed: row {number} is followed by {row[0]}")
        hash = audit.link(last, row[:_HASH])
        if hash != row[_HASH]:
            if known and audit.link(before, (number, *row[1:_HASH])) == row[_HASH]:
                return Fault(owner, number, known[1], "put in: the row after it was sealed in its place")
            return Fault(owner, row[0], row[1], CHANGED)
        if row[0] in fixed and fixed[row[0]] != hash.hex():
            return Fault(
                owner, row[0], row[1], "rewritten: an anchor has another hash, and the one before it fits"
            )
        before, last, number, known = last, hash, row[0], row
    return next(_ends(owner, number, last, known[1] if known else None, head, anchors), None)


def _ends(
    owner: str, number: int, last: bytes, row_id: str | None, head: AuditChain | None, anchors: _Anchors
) -> Iterator[Fault]:
    """Tell of each thing that is wrong with the end of a chain, as its anchors and its head know it."""
    known = max(anchors.hashes.get(owner, {}), default=0)
    if known > number:
        yield Fault(owner, number + 1, None, f"removed: an anchor knows {known} rows")
    if head is None:
        yield Fault(owner, number, row_id, "the chain's head is gone")
        return
    if not _is_ours(head.seal, head_facts(owner, head.number, head.hash, head.anchor)):
        yield Fault(owner, head.number, row_id, "the chain's head is not sealed with a key of this instance")
    if head.number > number:
        yield Fault(owner, number + 1, None, f"removed: the chain has {head.number} rows")
    if head.number < number:
        first = row_id if head.number + 1 == number else None
        yield Fault(owner, head.number + 1, first, f"put in: the chain has {head.number} rows")
    if head.hash != last:
        yield Fault(owner, number, row_id, "the chain's head has another hash")
    if head.anchor != anchors.newest.get(owner, 0):
        yield Fault(owner, number, row_id, f"the chain's newest anchor is {head.anchor}, and it is gone")


def _anchors(session: Session, found: Found) -> _Anchors:
    """Read all anchors, and note the first of them that is wrong."""
    anchors, digest, sound = _Anchors(), audit.GENESIS, True
    every = session.scalars(
        select(AuditAnchor).order_by(AuditAnchor.anchor).execution_options(yield_per=FETCHED)
    )
    for number, one in enumerate(every, start=1):
        found.anchors = number
        owner = str(one.organisation_id)
        digest = audit.link(digest, anchor_facts(one.anchor, owner, one.number, one.hash, one.anchored_at))
        if sound and (one.anchor != number or digest != one.digest or not _is_ours(one.seal, digest)):
            sound = False
            what = "is gone" if one.anchor != number else "was changed"
            found.faults.append(Fault(owner, one.number, None, f"anchor {number} {what}"))
        anchors.hashes.setdefault(owner, {})[one.number] = one.hash.hex()
        anchors.newest[owner] = one.anchor
    return anchors


def _is_ours(seal: str, message: bytes) -> bool:
    try:
        return secrets.unseal(seal) == hashlib.sha256(message).hexdigest()
    except InvalidToken:
        return False


def _waiting(session: Session) -> list[Fault]:
    """Name the first row that has waited too long; younger ones are under way."""
    late = (
        select(AuditWaiting)
        .where(AuditWaiting.occurred_at < now() - PATIENCE)
        .order_by(AuditWaiting.id)
        .limit(1)
    )
    return [
        Fault(
            str(row.organisation_id),
            None,
            str(row.id),
            "not sealed for more than a minute: does the schedule run?",
        )
        for row in session.scalars(late)
    ]
