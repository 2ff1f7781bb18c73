"""What an erased person left: files, mails in the mail folder, answers that were kept for a repeated request.

It may be broken off anywhere and is begun anew: what is gone already is fine.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

import orjson

import store
from gateways import files, mail
from store.accounts import idempotency
from store.database import secrets
from store.people import erasing


def erase(_id: UUID, arguments: Mapping[str, Any]) -> None:
    """Let them go."""
    for key in arguments["files"]:
        files.delete(key)
    addresses = set(orjson.loads(secrets.unseal(arguments["addresses"])))
    mail.forget(arguments["mails"], addresses)
    # An earlier version asked for no more than that.
    in_hand = partial(erasing.finish, mails=arguments["mails"], deliveries=arguments.get("deliveries", []))
    store.in_transaction(in_hand)
    if "traces" in arguments:
        _forget_answers(arguments, addresses | set(orjson.loads(secrets.unseal(arguments["traces"]))))


def discard(_id: UUID, arguments: Mapping[str, Any]) -> None:
    """Let files go whose rows are deleted, and mails that were written as files."""
    for key in arguments["files"]:
        files.delete(key)
    mail.forget(arguments.get("mails", ()), frozenset())


def _forget_answers(arguments: Mapping[str, Any], words: set[str]) -> None:
    """Look at every answer that is kept, some at a time: each of them is read, for each is encrypted."""
    owner, small = UUID(arguments["organisation_id"]), {word.lower() for word in words if word}
    after: str | None = ""
    while after is not None:
        some = partial(
            idempotency.forget,
            organisation_id=owner,
            livemode=arguments["livemode"],
            words=small,
            after=after,
        )
        after = store.in_transaction(some)
