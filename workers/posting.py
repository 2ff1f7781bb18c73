"""One request to an endpoint: over the network, or into an inbox of the same organisation's test mode.

What is live never comes to an inbox, whatever its address is: that one leads to no machine.
"""

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from uuid import UUID

import store
from gateways import webhooks
from rules import inboxes as rules
from rules.retries import Outcome
from rules.signatures import USER_AGENT
from store.delivering import inboxes


async def post(
    poster: webhooks.Poster, url: str, body: bytes, headers: Mapping[str, str], *, owner: UUID, livemode: bool
) -> Outcome:
    """Make one attempt for an owner, and say what came of it."""
    id = None if livemode else rules.named(url)
    if id is None:
        return await poster.post(url, body, headers, owner=owner)
    return await _keep(id, owner, body, headers)


def post_now(url: str, body: bytes, headers: Mapping[str, str], *, owner: UUID, livemode: bool) -> Outcome:
    """Make one attempt from a thread that has no event loop. Goes to the network: not in a transaction."""
    id = None if livemode else rules.named(url)
    if id is None:
        return webhooks.post(url, body, headers, owner=owner)
    return asyncio.run(_keep(id, owner, body, headers))


async def _keep(id: UUID, owner: UUID, body: bytes, headers: Mapping[str, str]) -> Outcome:
    began = time.monotonic()
    sent = {"content-type": "application/json", "user-agent": USER_AGENT} | {
        name.lower(): value for name, value in headers.items()
    }
    receive = partial(inboxes.receive, organisation_id=owner, id=id, headers=sent, body=body)
    answer = await asyncio.to_thread(store.in_transaction, receive)
    if answer is None:
        return Outcome(error="There is no such inbox.")
    await asyncio.sleep(answer["delay_seconds"])
    wait = answer["retry_after_seconds"]
    return Outcome(
        status_code=answer["status"],
        response_time_ms=round((time.monotonic() - began) * 1000),
        retry_after=None if wait is None else str(wait),
    )
