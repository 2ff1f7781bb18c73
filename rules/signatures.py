"""How a delivery proves where it comes from.

Two headers say the same in the two forms that verifiers are published for: `webhook-signature` (Standard
Webhooks) and `X-Service-Signature` (timestamp and hexadecimal digest in one header).
"""

import hashlib
import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence
from functools import lru_cache

from rules.tokens import SECRET

USER_AGENT = "Hiring-Webhooks/1.1"


def sign(secrets: Sequence[str], id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the two signature headers of one attempt, with one signature for each secret that lives."""
    service = b"%d.%b" % (timestamp, body)
    standard = b"%b.%b" % (id.encode(), service)
    keys = [_keys(secret) for secret in secrets]
    return {
        "webhook-signature": " ".join(
            [f"v1,{b64encode(_digest(key, standard)).decode()}" for key, _ in keys]
        ),
        "X-Service-Signature": ",".join(
            [f"t={timestamp}", *[f"v1={_digest(key, service).hex()}" for _, key in keys]]
        ),
    }


def headers(secrets: Sequence[str], id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return every header of one attempt that a receiver verifies."""
    return {
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        **sign(secrets, id, timestamp, body),
    }


@lru_cache(maxsize=4_096)
def _keys(secret: str) -> tuple[hmac.HMAC, hmac.HMAC]:
    """Return what either form begins with: the same for all that is signed with a secret."""
    standard = b64decode(secret.removeprefix(SECRET))
    return hmac.new(standard, digestmod=hashlib.sha256), hmac.new(secret.encode(), digestmod=hashlib.sha256)


def _digest(key: hmac.HMAC, signed: bytes) -> bytes:
    begun = key.copy()
    begun.update(signed)
    return begun.digest()
