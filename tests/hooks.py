"""Organisations, endpoints and events for tests of what leaves the service."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import undefer

import store
from app.instance import wiring
from app.instance.settings import Settings
from rules.caller import Caller
from rules.clock import now
from store import events
from store.accounts import organisations
from store.delivering import webhooks
from store.delivering.sending import Claimed
from store.delivering.webhooks import Delivery, WebhookEndpoint
from store.outbox import OutboxItem
from workers.shares import Taking


@pytest.fixture
def wired(settings: Settings) -> Settings:
    """The modules configured as a process configures them, on this worker's database."""
    wiring.configure(settings)
    return settings


@pytest.fixture
def nothing_else_is_due(wired: Settings) -> None:
    """Work that other tests left is due to nobody, so that what is due is the test's own."""
    with store.transaction() as session:
        later = now() + timedelta(minutes=10)
        session.execute(update(OutboxItem).where(OutboxItem.finished_at.is_(None)).values(due_at=later))


@pytest.fixture
def caller(wired: Settings) -> Caller:
    """A new organisation, in live mode."""
    return new_caller()


def new_caller(*, livemode: bool = True) -> Caller:
    with store.transaction() as session:
        organisation = organisations.create(session, name="Acme", plan="growth")
    return Caller(organisation.id, livemode=livemode, plan_name="growth")


def other_mode(caller: Caller) -> Caller:
    return Caller(caller.organisation_id, livemode=not caller.livemode, plan_name=caller.plan_name)


def new_endpoint(
    caller: Caller,
    url: str = "https://example.com/hook",
    *,
    events: tuple[str, ...] = ("*",),
    verified: bool = True,
) -> tuple[UUID, str]:
    """Register an endpoint and switch it on; return its id and secret."""
    with store.transaction() as session:
        endpoint, secret = webhooks.create(session, caller, url=url, events=events, name="", description="")
    if verified:
        with store.transaction() as session:
            webhooks.verify(session, webhooks.get(session, caller, endpoint.id, lock=True))
    return endpoint.id, secret


def happen(caller: Caller, *types: str, **data: object) -> None:
    """Commit events in one transaction."""
    with store.transaction() as session:
        for type in types:
            events.record(session, type, caller, {"about": type, **data})


def deliveries_of(endpoint_id: UUID) -> list[Delivery]:
    """Load an endpoint's deliveries, oldest first."""
    with store.transaction() as session:
        return list(
            session.scalars(select(Delivery).where(Delivery.endpoint_id == endpoint_id).order_by(Delivery.id))
        )


def endpoint_of(endpoint_id: UUID) -> WebhookEndpoint:
    with store.transaction() as session:
        found = select(WebhookEndpoint).where(WebhookEndpoint.id == endpoint_id)
        return session.scalars(found.options(undefer(WebhookEndpoint.pending_delivery_count))).one()


def let_time_pass(endpoint_id: UUID) -> None:
    """Bring an endpoint's waiting deliveries to the moment at which they are due, and their leases to an end."""
    past = now() - timedelta(seconds=1)
    with store.transaction() as session:
        session.execute(
            update(Delivery)
            .where(Delivery.endpoint_id == endpoint_id, Delivery.status == "pending")
            .values(next_attempt_at=past, lease_until=None)
        )


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Wait for what another thread or process brings about and nothing announces."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


class Sender:
    """Hears the relay, and has room for so much of each endpoint."""

    def __init__(self, room: int = 0) -> None:
        self.rung, self.room = False, room
        self.taken: list[Claimed] = []

    def ring(self) -> None:
        self.rung = True

    @contextmanager
    def taking(self) -> Iterator[Taking]:
        taking = Taking(lambda due: {one.endpoint_id: self.room for one in due})
        yield taking
        self.taken += taking.taken
