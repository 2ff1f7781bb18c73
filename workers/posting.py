"""One request to an endpoint: over the network, or into an inbox of the same organisation's test mode.

What is live never comes to an inbox, whatever its address is: that one leads to no machine.
"""

import asyncio
import logging
import time
from collections.abc import Mapping
from functools import partial
from uuid import UUID

import store
from gateways import webhooks
from gateways.webhooks import Done, GiveUp
from rules import inboxes as rules
from rules.retries import Outcome
from rules.signatures import USER_AGENT
from store.delivering import inboxes

log = logging.getLogger("hiring.deliveries")


def begin(
    poster: webhooks.Poster,
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    owner: UUID,
    livemode: bool,
    done: Done,
) -> GiveUp:
    """Begin one attempt for an owner, and call what is `done` with what came of it, later."""
    id = None if livemode else rules.named(url)
    if id is None:
        return poster.begin(url, body, headers, owner=owner, done=done)
    keeping = asyncio.get_running_loop().create_task(_keep(id, owner, body, headers))
    keeping.add_done_callback(partial(_kept, done))
    return keeping.cancel


def _kept(done: Done, keeping: "asyncio.Task[Outcome]") -> None:
    if keeping.cancelled():
        return
    fault = keeping.exception()
    if fault is not None:  # of ours: it waits
        log.error("A delivery could not be kept in its inbox.", exc_info=fault)
    done(Outcome(error="The service could not send it.", ours=True) if fault else keeping.result())


def say(done: Done, outcome: Outcome) -> GiveUp:
    """Call what is `done` with an outcome, later, as if it had come of an attempt."""
    return asyncio.get_running_loop().call_soon(done, outcome).cancel


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
