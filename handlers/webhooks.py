"""Webhook endpoints: register, test, follow their deliveries."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

import gateways.webhooks
import rules.inboxes
from rules import events, signatures
from rules.caller import Caller
from rules.clock import now
from rules.errors import (
    AlreadyDelivered,
    EndpointPaused,
    Invalid,
    Unavailable,
    WebhookEndpointError,
    WebhookRequestFailed,
)
from rules.pages import Page
from schemas import webhooks as schemas
from store.database.engine import Reading
from store.database.ids import new_id
from store.delivering import again, deliveries, inboxes, webhooks
from workers import posting

Body = dict[str, Any]
Begin = Callable[[], AbstractContextManager[Session]]


def list_webhooks(reading: Reading, caller: Caller, **query: Any) -> Page:
    """Show the caller's endpoints, newest first."""
    return webhooks.LIST.page(reading, caller, **query).map(schemas.endpoint)


def get_webhook(session: Session, caller: Caller, id: UUID) -> Body:
    """Show one endpoint."""
    return schemas.endpoint(webhooks.get(session, caller, id))


def create_webhook(finish: Begin, caller: Caller, body: Body) -> Body:
    """Register an endpoint; its secret is shown here and when it is rotated, never again."""
    inbox = _check_url(caller, body["url"])
    with finish() as session:
        inboxes.require(session, caller, inbox)
        endpoint, secret = webhooks.create(
            session,
            caller,
            url=body["url"],
            events=body["events"],
            name=body["name"],
            description=body["description"],
        )
        return schemas.endpoint(endpoint) | {"secret_key": secret}


def update_webhook(finish: Begin, caller: Caller, id: UUID, body: Body) -> Body:
    """Change an endpoint; a new URL has to be tested again."""
    inbox = _check_url(caller, body["url"]) if "url" in body else None
    with finish() as session:
        inboxes.require(session, caller, inbox)
        endpoint = webhooks.get(session, caller, id, lock=True)
        webhooks.change(session, endpoint, dict(body))
        return schemas.endpoint(endpoint)


def delete_webhook(session: Session, caller: Caller, id: UUID) -> None:
    """Forget an endpoint and its deliveries."""
    webhooks.remove(session, webhooks.get(session, caller, id, lock=True))


def test_webhook(begin: Begin, finish: Begin, caller: Caller, id: UUID) -> Body:
    """Send a ping; success verifies the endpoint, switches it on and releases what waits for it."""
    with begin() as session:
        endpoint = webhooks.get(session, caller, id)
    ping_id = new_id()
    ping = events.ping(ping_id, now(), livemode=endpoint.livemode)
    body = gateways.webhooks.encode(ping)
    headers = signatures.headers(webhooks.secrets_of(endpoint), ping["id"], int(time.time()), body)
    owner, livemode = caller.organisation_id, endpoint.livemode
    outcome = posting.post_now(endpoint.url, body, headers, owner=owner, livemode=livemode)
    if outcome.ours:
        raise Unavailable
    if outcome.status_code is None:
        raise WebhookRequestFailed(reason=outcome.error)
    if not outcome.succeeded:
        raise WebhookEndpointError(status_code=outcome.status_code)
    with finish() as session:
        tested = webhooks.get(session, caller, id, lock=True)
        if tested.url != endpoint.url:
            raise Invalid("The endpoint's URL changed while it was being tested.", status="unverified")
        webhooks.verify(session, tested)
        tested.last_triggered_at = now()
    return {
        "message": "The endpoint is verified and active.",
        "status_code": outcome.status_code,
        "is_verified": True,
        "response_time_ms": outcome.response_time_ms,
    }


def rotate_webhook_secret(session: Session, caller: Caller, id: UUID, body: Body) -> Body:
    """Give an endpoint a new secret; both sign until the overlap is over."""
    endpoint = webhooks.get(session, caller, id, lock=True)
    overlap = timedelta(hours=body.get("overlap_hours", 24))
    secret = webhooks.rotate(session, endpoint, overlap=overlap)
    session.flush()
    return schemas.endpoint(endpoint) | {"secret_key": secret}


def list_deliveries(session: Session, caller: Caller, id: UUID, **query: Any) -> Page:
    """Show an endpoint's deliveries, newest first."""
    query["endpoint_id"] = webhooks.get(session, caller, id).id
    return deliveries.LIST.page(session, caller, **query).map(schemas.delivery)


def retry_delivery(session: Session, caller: Caller, id: UUID, delivery_id: UUID) -> Body:
    """Send one delivery again now, whatever its schedule says."""
    endpoint = webhooks.get(session, caller, id, lock=True)
    delivery = deliveries.get(session, caller, endpoint, delivery_id)
    if not endpoint.is_active:
        raise EndpointPaused
    if delivery.status == "delivered":
        raise AlreadyDelivered
    deliveries.retry(session, endpoint, delivery)
    return schemas.delivery(delivery)


def replay_deliveries(session: Session, caller: Caller, id: UUID, body: Body) -> Body:
    """Send again what happened in a span of time, oldest first."""
    endpoint = webhooks.get(session, caller, id)
    if not endpoint.is_active:
        raise EndpointPaused
    count = again.replay(
        session,
        endpoint.id,
        since=body.get("since"),
        until=body.get("until"),
        types=body.get("types"),
        only_failed=body["only_failed"],
    )
    return {"replayed": count}


def _check_url(caller: Caller, url: str) -> UUID | None:
    """Return the inbox that an address names; any other has to be one that may be reached."""
    if inbox := rules.inboxes.named(url):
        return inbox
    if reason := gateways.webhooks.objection(url, owner=caller.organisation_id):
        raise Invalid.at("/url", reason)
    return None
