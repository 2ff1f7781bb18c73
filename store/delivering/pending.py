"""Deliveries that their endpoint's own row does not count yet.

So who makes deliveries and who writes down what came of others wait for nothing of each other's.
"""

from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from store.database.due import Due
from store.database.tallies import Tally, folding


class DeliveryTally(Tally):
    """Some of an endpoint's deliveries."""

    __tablename__ = "delivery_tallies"
    __table_args__ = (
        Index("ix_delivery_tallies_endpoint", "endpoint_id"),
        Index("ix_delivery_tallies_owner", "organisation_id", "livemode", "created_at"),
        Index("ix_delivery_tallies_due", "created_at"),
    )

    endpoint_id: Mapped[UUID] = mapped_column(ForeignKey("webhook_endpoints.id", ondelete="CASCADE"))


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
fold = folding("delivery_tallies", "endpoint_id", "webhook_endpoints", "pending_delivery_count")
DUE = Due("delivery tallies", DeliveryTally, DeliveryTally.created_at)
