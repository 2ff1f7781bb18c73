"""How a delivery proves where it comes from.

Two headers say the same in the two forms that verifiers are published for: `webhook-signature` (Standard
Webhooks) and `X-Service-Signature` (timestamp and hexadecimal digest in one header).
"""

import hashlib
import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence

from rules.tokens import SECRET

USER_AGENT = "Hiring-Webhooks/1.1"


def sign(secrets: Sequence[str], id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the two signature headers of one attempt, with one signature for each secret that lives."""
    standard = (_standard(secret, id, timestamp, body) for secret in secrets)
    service = (_service(secret, timestamp, body) for secret in secrets)
    return {
        "webhook-signature": " ".join(f"v1,{one}" for one in standard),
        "X-Service-Signature": ",".join([f"t={timestamp}", *(f"v1={one}" for one in service)]),
    }


def headers(secrets: Sequence[str], id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return every header of one attempt that a receiver verifies."""
    return {
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        **sign(secrets, id, timestamp, body),
    }


def _standard(secret: str, id: str, timestamp: int, body: bytes) -> str:
    key = b64decode(secret.removeprefix(SECRET))
    return b64encode(hmac.digest(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256)).decode()


def _service(secret: str, timestamp: int, body: bytes) -> str:
    return hmac.digest(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hex()
