"""Webhook endpoints and the deliveries made to them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from rules.clock import now
from store.base import Base, Owned, Updated


class WebhookEndpoint(Base, Owned, Updated):
    """An address that receives events."""

    __tablename__ = "webhook_endpoints"
    __table_args__ = (
        UniqueConstraint("organisation_id", "livemode", "url", "events"),
        Index("ix_webhook_endpoints_owner", "organisation_id", "livemode", "id"),
    )

    name: Mapped[str] = mapped_column(default="")
    description: Mapped[str] = mapped_column(default="")
    url: Mapped[str]
    events: Mapped[list[str]]  # sorted, so that the same set is the same value
    secret: Mapped[str]  # encrypted
    previous_secret: Mapped[str | None]  # encrypted; signs too until its time is over
    previous_secret_until: Mapped[datetime | None]
    is_active: Mapped[bool] = mapped_column(default=False)
    is_verified: Mapped[bool] = mapped_column(default=False)
    verified_at: Mapped[datetime | None]  # events from then on are delivered
    last_triggered_at: Mapped[datetime | None]
    failing_since: Mapped[datetime | None]  # the first failure since the last success
    failure_count: Mapped[int] = mapped_column(default=0)
    disabled_reason: Mapped[str | None]
    pending_delivery_count: Mapped[int] = mapped_column(default=0)


class Delivery(Base, Owned):
    """One event on its way to one endpoint."""

    __tablename__ = "deliveries"
    __table_args__ = (
        UniqueConstraint("endpoint_id", "event_id"),
        Index("ix_deliveries_endpoint", "endpoint_id", "id"),
        Index(
            "ix_deliveries_due", "endpoint_id", "next_attempt_at", postgresql_where=text("status = 'pending'")
        ),
        Index("ix_deliveries_event", "event_id"),
    )

    endpoint_id: Mapped[UUID] = mapped_column(ForeignKey("webhook_endpoints.id", ondelete="CASCADE"))
    event_id: Mapped[UUID]
    event_type: Mapped[str]
    payload: Mapped[dict[str, Any]]
    status: Mapped[str] = mapped_column(default="pending")  # pending, delivered, failed
    attempts: Mapped[int] = mapped_column(default=0)
    next_attempt_at: Mapped[datetime | None] = mapped_column(default=now)
    lease_until: Mapped[datetime | None]  # somebody is sending it
    delivered_at: Mapped[datetime | None]
    response_status_code: Mapped[int | None]
    response_time_ms: Mapped[int | None]
    response_body: Mapped[str | None]
    last_error: Mapped[str | None]
