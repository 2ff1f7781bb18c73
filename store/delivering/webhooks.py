"""Webhook endpoints and the deliveries made to them."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, UniqueConstraint, delete, false, func, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, Session, column_property, mapped_column, undefer
from sqlalchemy.orm.attributes import set_committed_value

from rules import tokens
from rules.caller import Caller
from rules.clock import now
from rules.errors import DuplicateKey, NotFound, NotVerified
from rules.events import ALL
from store.auditing import trail
from store.database import listing, secrets
from store.database.base import ANYONE, Base, Owned, Updated, visible
from store.database.engine import Means
from store.database.ids import new_id
from store.database.prepared import Prepared
from store.database.tallies import total
from store.delivering import again
from store.delivering.pending import DeliveryTally


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
    counted: Mapped[int] = mapped_column("pending_delivery_count", default=0)  # but for the tallies

    if TYPE_CHECKING:
        pending_delivery_count: Mapped[int]


_PENDING = total(
    WebhookEndpoint.counted,
    DeliveryTally,
    DeliveryTally.endpoint_id,
    WebhookEndpoint,
    "pending_delivery_count",
)
WebhookEndpoint.pending_delivery_count = column_property(_PENDING, deferred=True)


class Delivery(Base, Owned):
    """One event on its way to one endpoint."""

    __tablename__ = "deliveries"
    __table_args__ = (
        UniqueConstraint("endpoint_id", "event_id"),
        Index("ix_deliveries_endpoint", "endpoint_id", "id"),
        Index(
            "ix_deliveries_due", "endpoint_id", "next_attempt_at", postgresql_where=text("status = 'pending'")
        ),
        Index("ix_deliveries_status", "endpoint_id", "status", "id"),
        Index("ix_deliveries_type", "endpoint_id", "event_type", "id"),
    )

    endpoint_id: Mapped[UUID] = mapped_column(ForeignKey("webhook_endpoints.id", ondelete="CASCADE"))
    organisation_id: Mapped[UUID] = mapped_column()  # the endpoint's, which says that there is such a one
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


LISTED = tuple(one for one in WebhookEndpoint.__table__.columns if one.name != "pending_delivery_count")
LIST = listing.Listing(
    visible(ANYONE, WebhookEndpoint).with_only_columns(*LISTED, _PENDING),
    {"-id": (WebhookEndpoint.id,)},
    {"updated_after": listing.updated_after(WebhookEndpoint)},
)


_CONNECTION = Prepared(
    visible(ANYONE, WebhookEndpoint).with_only_columns(
        func.coalesce(func.bool_or(WebhookEndpoint.is_active), false()).label("is_active"),
        func.max(WebhookEndpoint.last_triggered_at).label("last_triggered_at"),
    )
)


def connection(means: Means, caller: Caller) -> Any:
    """Say whether any endpoint of the caller's is switched on, and when an event last went out to one."""
    return _CONNECTION.first(means, caller)


def get(session: Session, caller: Caller, id: UUID, *, lock: bool = False) -> WebhookEndpoint:
    """Load one endpoint, or refuse: unknown here."""
    found = visible(caller, WebhookEndpoint).where(WebhookEndpoint.id == id)
    # What is read beside a lock that is waited for is as old as the wait.
    found = (
        found.with_for_update() if lock else found.options(undefer(WebhookEndpoint.pending_delivery_count))
    )
    endpoint = session.scalars(found).one_or_none()
    if endpoint is None:
        raise NotFound
    return endpoint


def create(
    session: Session, caller: Caller, *, url: str, events: Iterable[str], name: str, description: str
) -> tuple[WebhookEndpoint, str]:
    """Register an endpoint, inactive until its first test; the second value is its secret.

    Refuses an address that is registered for the same events already, however many ask at once.
    """
    secret = tokens.new_secret()
    made = session.scalar(
        insert(WebhookEndpoint)
        .values(
            id=new_id(),
            organisation_id=caller.organisation_id,
            livemode=caller.livemode,
            url=url,
            events=subscription(events),
            name=name,
            description=description,
            secret=secrets.encrypt(secret),
        )
        .on_conflict_do_nothing()
        .returning(WebhookEndpoint)
    )
    if made is None:
        raise DuplicateKey("An endpoint with this URL and these events exists already.")
    set_committed_value(made, "pending_delivery_count", 0)
    trail.about(session, "webhook", made)
    return made, secret


def change(session: Session, endpoint: WebhookEndpoint, changes: dict[str, Any]) -> None:
    """Change a locked endpoint: a new URL is unverified and inactive; only what is verified is switched on."""
    if "events" in changes:
        changes = changes | {"events": subscription(changes["events"])}
    active = changes.pop("is_active", None)
    if changes.get("url", endpoint.url) != endpoint.url:
        endpoint.is_verified, endpoint.verified_at, endpoint.is_active = False, None, False
    if active and not endpoint.is_verified:
        raise NotVerified
    if active and not endpoint.is_active:
        activate(session, endpoint)
    elif active is False:
        endpoint.is_active = False
    try:
        with session.begin_nested():
            endpoint.change(changes)
            session.flush()
    except IntegrityError:
        raise DuplicateKey("An endpoint with this URL and these events exists already.") from None


def remove(session: Session, endpoint: WebhookEndpoint) -> None:
    """Forget an endpoint and its deliveries."""
    session.execute(delete(WebhookEndpoint).where(WebhookEndpoint.id == endpoint.id))


def verify(session: Session, endpoint: WebhookEndpoint) -> None:
    """Note a successful test of a locked endpoint: it is verified, active, and gets what waited for it."""
    endpoint.verified_at = endpoint.verified_at or now()
    endpoint.is_verified = True
    activate(session, endpoint)


def activate(session: Session, endpoint: WebhookEndpoint) -> None:
    """Switch a verified endpoint on with a clean record, and make due what waits."""
    endpoint.is_active, endpoint.disabled_reason = True, None
    endpoint.failing_since, endpoint.failure_count = None, 0
    again.bring_forward(session, endpoint, endpoint.id)


def rotate(session: Session, endpoint: WebhookEndpoint, *, overlap: timedelta) -> str:
    """Give a locked endpoint a new secret; the old one signs too until the overlap is over."""
    secret = tokens.new_secret()
    endpoint.previous_secret = endpoint.secret if overlap else None
    endpoint.previous_secret_until = now() + overlap if overlap else None
    endpoint.secret = secrets.encrypt(secret)
    return secret


def living_secrets(secret: str, previous: str | None, until: datetime | None) -> list[str]:
    """Decrypt the secrets that sign at present: the newest first."""
    living = [secrets.decrypt(secret)]
    if previous is not None and until is not None and until > now():
        living.append(secrets.decrypt(previous))
    return living


def subscription(events: Iterable[str]) -> list[str]:
    """Write a set of event names in its one form, so that the same set is the same value."""
    names = set(events)
    return [ALL] if ALL in names else sorted(names)


def secrets_of(endpoint: WebhookEndpoint) -> list[str]:
    """Return an endpoint's secrets that sign at present: the newest first."""
    return living_secrets(endpoint.secret, endpoint.previous_secret, endpoint.previous_secret_until)
