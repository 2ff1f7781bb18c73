"""A device that keeps passkeys, in software: what a browser's `navigator.credentials` would answer, or nearly so."""

import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

PRESENT, VERIFIED, WITH_KEY = 0x01, 0x04, 0x40
Credential = dict[str, Any]


def text(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def content(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Device:
    """One passkey; what it says can be changed, and then it lies."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.id = secrets.token_bytes(16)
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.count = 0
        self.flags = PRESENT | VERIFIED
        self.host: str | None = None  # another than it is asked for

    def make(self, options: dict[str, Any]) -> Credential:
        """What a browser gives that was asked for a new one."""
        numbers = self.key.public_key().public_numbers()
        point = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        known = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + cbor2.dumps(point)
        said = self._said(options["rp"]["id"], WITH_KEY) + known
        made = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": said})
        client = self._client("webauthn.create", options["challenge"])
        return self._credential(
            {"clientDataJSON": text(client), "attestationObject": text(made), "transports": []}
        )

    def sign(self, options: dict[str, Any]) -> Credential:
        """What a browser gives that was asked for one."""
        self.count += 1
        said = self._said(options["rpId"])
        client = self._client("webauthn.get", options["challenge"])
        signed = self.key.sign(said + sha256(client).digest(), ec.ECDSA(SHA256()))
        return self._credential(
            {"clientDataJSON": text(client), "authenticatorData": text(said), "signature": text(signed)}
        )

    def _said(self, host: str, flags: int = 0) -> bytes:
        named = sha256((self.host or host).encode()).digest()
        return named + bytes([self.flags | flags]) + self.count.to_bytes(4, "big")

    def _client(self, deed: str, challenge: str) -> bytes:
        return json.dumps({"type": deed, "challenge": challenge, "origin": self.origin}).encode()

    def _credential(self, response: dict[str, Any]) -> Credential:
        id = text(self.id)
        return {
            "id": id,
            "rawId": id,
            "type": "public-key",
            "response": response,
            "clientExtensionResults": {},
        }
