"""Health probes: a ping to an endpoint that was switched off; success switches it on and releases what waits."""

import logging
import time
from datetime import datetime
from typing import Any
from uuid import UUID

import store
from gateways import webhooks as gateway
from rules import events, signatures
from rules.clock import now
from store.database.ids import new_id
from store.delivering import probes, webhooks
from workers import posting

log = logging.getLogger("hiring.probes")


def probe(_id: UUID, arguments: dict[str, Any]) -> None:
    """Send `webhook.test` to `endpoint_id` if it is still off; if that fails, ask for the next probe."""
    id, since = UUID(arguments["endpoint_id"]), datetime.fromisoformat(arguments["failing_since"])
    with store.transaction() as session:
        endpoint = probes.find(session, id, since)
    if endpoint is None:
        return
    ping = events.ping(new_id(), now(), livemode=endpoint.livemode)
    body = gateway.encode(ping)
    headers = signatures.headers(webhooks.secrets_of(endpoint), ping["id"], int(time.time()), body)
    owner, livemode = endpoint.organisation_id, endpoint.livemode
    outcome = posting.post_now(endpoint.url, body, headers, owner=owner, livemode=livemode)
    if outcome.ours:
        raise OSError(outcome.error)  # to be tried again soon
    with store.transaction() as session:
        again = probes.find(session, id, since, lock=True)
        if again is None or again.url != endpoint.url:
            return
        if outcome.succeeded:
            webhooks.verify(session, again)
            log.info("A webhook endpoint is back.", extra={"endpoint": str(id)})
        elif outcome.status_code != 410:
            probes.ask(session, id, since, made=arguments["made"] + 1)
