"""Attempts to deliver: signed at their moment, counted, and what comes of them is told and written down."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

import store
from gateways import webhooks
from gateways.webhooks import Done, GiveUp
from rules import signatures
from rules.clock import now
from rules.retries import Outcome
from store.delivering import sending
from store.delivering.sending import Attempt, Claimed
from workers import measures, posting

log = logging.getLogger("hiring.deliveries")


def begin(poster: webhooks.Poster, claimed: Claimed, done: Callable[[Attempt], object]) -> GiveUp:
    """Begin one attempt, and call what is `done` with what came of it, later; what cannot be made says so."""
    moment = now()

    def ended(outcome: Outcome) -> None:
        measures.attempt(outcome)
        number = claimed.attempts + (not outcome.ours)
        done(Attempt(claimed.id, claimed.endpoint_id, number, moment, outcome, claimed.lease_until))

    try:
        return _post(poster, claimed, ended)
    except Exception:  # a fault of ours in one delivery: it waits, and the others go on
        log.exception("A delivery could not be sent.", extra={"delivery": str(claimed.id)})
        return posting.say(ended, Outcome(error="The service could not send it.", ours=True))


async def attempt(poster: webhooks.Poster, claimed: Claimed) -> Attempt:
    """Make one attempt, and wait for what comes of it."""
    made: asyncio.Future[Attempt] = asyncio.get_running_loop().create_future()
    begin(poster, claimed, made.set_result)
    return await made


def _post(poster: webhooks.Poster, claimed: Claimed, done: Done) -> GiveUp:
    body = webhooks.encode(claimed.payload)
    try:
        secrets = claimed.secrets()
    except Exception:
        log.exception("A webhook secret cannot be read: SECRET_KEY has changed.")
        error = "The service cannot read the endpoint's secret; rotate it."
        return posting.say(done, Outcome(error=error, ours=True))
    headers = signatures.headers(secrets, claimed.payload["id"], int(time.time()), body)
    owner, livemode = claimed.organisation_id, claimed.payload["livemode"]
    return posting.begin(poster, claimed.url, body, headers, owner=owner, livemode=livemode, done=done)


def settle(batch: Sequence[Attempt]) -> list[Attempt]:
    """Write down what came of attempts, and tell of endpoints that were switched off; return what is to be tried again.

    That is what came of endpoints that somebody else holds.
    """
    change = store.at_once if all(one.outcome.succeeded for one in batch) else store.writing
    with change() as means:
        settled = sending.settle(means, batch)
    for endpoint_id, reason in settled.disabled:
        measures.SWITCHED_OFF.inc()
        log.warning("A webhook endpoint was switched off: %s", reason, extra={"endpoint": endpoint_id})
    return settled.held
