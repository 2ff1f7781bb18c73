"""Deliveries that their endpoint's own row does not count yet: rows apart, of which each fan-out takes some to itself.

So who makes deliveries and who writes down what came of others wait for nothing of each other's. The schedule adds them
to the endpoint within a second or two.
"""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from store.database.aside import Row
from store.database.base import Base, Owned
from store.database.due import Due
from store.database.prepared import Prepared


class DeliveryTally(Base, Owned):
    """Some of an endpoint's deliveries; it has as many of these as fan-outs have ever counted side by side."""

    __tablename__ = "delivery_tallies"
    __table_args__ = (
        Index("ix_delivery_tallies_endpoint", "endpoint_id"),
        Index("ix_delivery_tallies_owner", "organisation_id", "livemode", "created_at"),
        Index("ix_delivery_tallies_due", "created_at"),
    )

    endpoint_id: Mapped[UUID] = mapped_column(ForeignKey("webhook_endpoints.id", ondelete="CASCADE"))
    count: Mapped[int]


# Of `made` (id, endpoint_id, organisation_id, livemode): whichever row nobody else has in hand, or one of its own, with
# the id of one of the deliveries.
COUNT = """
    fresh AS (
        SELECT endpoint_id, organisation_id, livemode, (array_agg(id))[1] AS first, count(*) AS count
        FROM made GROUP BY endpoint_id, organisation_id, livemode
    ), mine AS MATERIALIZED (
        SELECT fresh.endpoint_id, fresh.organisation_id, fresh.livemode, fresh.first, fresh.count, tally.id
        FROM fresh LEFT JOIN LATERAL (
            SELECT id FROM delivery_tallies WHERE endpoint_id = fresh.endpoint_id LIMIT 1 FOR UPDATE SKIP LOCKED
        ) AS tally ON true
    ), counted AS (
        UPDATE delivery_tallies AS tally SET count = tally.count + mine.count FROM mine WHERE tally.id = mine.id
    ), begun AS (
        INSERT INTO delivery_tallies (id, created_at, organisation_id, livemode, endpoint_id, count)
        SELECT first, :moment, organisation_id, livemode, endpoint_id, count FROM mine WHERE id IS NULL
    )
"""
# Of an `endpoint`: how many are pending, and whether some may be, which is all that most ask.
NUMBER = """(endpoint.pending_delivery_count + coalesce(
    (SELECT sum(count) FROM delivery_tallies WHERE endpoint_id = endpoint.id), 0))"""
MAY_BE = """(endpoint.pending_delivery_count > 0
    OR EXISTS (SELECT FROM delivery_tallies WHERE endpoint_id = endpoint.id))"""
_FOLD = Prepared(
    text("""
    WITH held AS (
        SELECT id FROM webhook_endpoints WHERE id IN (SELECT endpoint_id FROM delivery_tallies WHERE id = ANY (:ids))
        FOR NO KEY UPDATE SKIP LOCKED
    ), gone AS (
        DELETE FROM delivery_tallies USING held
        WHERE endpoint_id = held.id AND delivery_tallies.id = ANY (:ids) RETURNING endpoint_id, count
    )
    UPDATE webhook_endpoints
    SET pending_delivery_count = pending_delivery_count + added.count, updated_at = clock_timestamp()
    FROM (SELECT endpoint_id, sum(count) AS count FROM gone GROUP BY endpoint_id) AS added
    WHERE webhook_endpoints.id = added.endpoint_id
    """)
)
DUE = Due("delivery tallies", DeliveryTally, DeliveryTally.created_at)


def fold(session: Session, rows: Sequence[Row]) -> int:
    """Add tallies to their endpoints, but for those that somebody has in hand; return how many endpoints it were."""
    return _FOLD.run(session, ids=[row.id for row in rows])
