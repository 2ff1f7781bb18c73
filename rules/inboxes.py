"""Inboxes of the test world: addresses that lead to no machine, and what they answer."""

import hmac
import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from rules import signatures

MOST = 100  # of one organisation
MOST_KEPT = 1_000  # requests of one inbox
MOST_SHOWN = 100
LONGEST_BODY = 262_144  # characters that are kept
# A name that no resolver knows (RFC 2606): whoever is not let in here reaches nobody.
_ADDRESS = re.compile(r"https://inbox\.invalid/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/?")
_USUAL: Mapping[str, Any] = {"status": 200, "delay_seconds": 0, "retry_after_seconds": None}


def address(id: UUID) -> str:
    """Return the address of an inbox."""
    return f"https://inbox.invalid/{id}"


def named(url: str) -> UUID | None:
    """Return the inbox that an address names; None where it names none."""
    found = _ADDRESS.fullmatch(url)
    return UUID(found[1]) if found else None


def answer(answers: Sequence[Mapping[str, Any]], number: int) -> dict[str, Any]:
    """Return the answer to a request by its number from 0: each once, the last one for all that follow."""
    return {**_USUAL, **(answers[min(number, len(answers) - 1)] if answers else {})}


def is_signed(headers: Mapping[str, str], body: bytes, secrets: Sequence[str]) -> bool:
    """Say whether a secret that lives made a signature of a request."""
    given = headers.get("webhook-signature", "").split(" ")
    moment = headers.get("webhook-timestamp", "")
    if not moment.isdigit():
        return False
    wanted = signatures.sign(secrets, headers.get("webhook-id", ""), int(moment), body)["webhook-signature"]
    return any(hmac.compare_digest(one, other) for one in given for other in wanted.split(" ") if one)
