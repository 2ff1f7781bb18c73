"""Passkeys as browsers make and use them (WebAuthn): what they are asked, and what their answers prove.

What a browser has to sign comes from the secret that it began with: no other one's answer is good.
"""

import hmac
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import orjson

from rules import links
from rules.clock import iso
from rules.errors import SignInFailed
from rules.words import say

LARGEST = 16_384  # bytes of an answer, as JSON
MILLISECONDS = 300_000  # that a browser gives people


def passkey(row: Any) -> dict[str, Any]:
    """Show a passkey."""
    return {
        "id": str(row.id),
        "name": row.name,
        "created_at": iso(row.created_at),
        "last_used_at": row.last_used_at and iso(row.last_used_at),
    }


def options_of_new(secret: str, member_id: UUID, email: str, name: str, there: list[str]) -> dict[str, Any]:
    """Say what a browser needs to make a passkey, on a device that has none of these."""
    import webauthn
    from webauthn.helpers import options_to_json_dict, structs

    return options_to_json_dict(
        webauthn.generate_registration_options(
            rp_id=_host(),
            rp_name=_host(),
            user_id=member_id.bytes,
            user_name=email,
            user_display_name=name,
            challenge=_challenge(secret),
            timeout=MILLISECONDS,
            authenticator_selection=structs.AuthenticatorSelectionCriteria(
                resident_key=structs.ResidentKeyRequirement.REQUIRED,
                user_verification=structs.UserVerificationRequirement.REQUIRED,
            ),
            exclude_credentials=_described(there),
        )
    )


def options_of_sign_in(secret: str, theirs: Sequence[str] = ()) -> dict[str, Any]:
    """Say what a browser needs to use one of these passkeys, or whatever one its person has for this service."""
    import webauthn
    from webauthn.helpers import options_to_json_dict, structs

    return options_to_json_dict(
        webauthn.generate_authentication_options(
            rp_id=_host(),
            challenge=_challenge(secret),
            timeout=MILLISECONDS,
            allow_credentials=_described(theirs),
            user_verification=structs.UserVerificationRequirement.REQUIRED,
        )
    )


def new(secret: str, credential: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of a new passkey, or raise SignInFailed for what is none."""
    import webauthn
    from webauthn.helpers import bytes_to_base64url

    expected = _expected(secret, credential)
    try:
        made = webauthn.verify_registration_response(**expected)
    except Exception:  # whatever the library makes of what is none
        raise nothing() from None
    return {
        "credential_id": bytes_to_base64url(made.credential_id),
        "public_key": made.credential_public_key,
        "sign_count": made.sign_count,
    }


def count(secret: str, credential: dict[str, Any], public_key: bytes, sign_count: int) -> int:
    """Return how often a passkey was used by now, or raise SignInFailed where its answer proves nothing."""
    import webauthn

    expected = _expected(secret, credential)
    try:
        proven = webauthn.verify_authentication_response(
            credential_public_key=public_key, credential_current_sign_count=sign_count, **expected
        )
    except Exception:  # whatever the library makes of what is none
        raise nothing() from None
    return proven.new_sign_count


def nothing() -> SignInFailed:
    """Return the refusal of what proves nothing, whatever the reason."""
    return SignInFailed(
        say("The passkey is not known here, or its answer is not for this sign-in; try again.")
    )


def _expected(secret: str, credential: dict[str, Any]) -> dict[str, Any]:
    """Return what an answer is verified with, unless it is too large to be one."""
    if len(orjson.dumps(credential)) > LARGEST:
        raise nothing()
    return {
        "credential": credential,
        "expected_challenge": _challenge(secret),
        "expected_rp_id": _host(),
        "expected_origin": links.origin(),
        "require_user_verification": True,
    }


def _described(ids: Sequence[str]) -> list[Any]:
    from webauthn.helpers import base64url_to_bytes, structs

    return [structs.PublicKeyCredentialDescriptor(id=base64url_to_bytes(one)) for one in ids]


def _challenge(secret: str) -> bytes:
    return hmac.new(secret.encode(), b"passkey", "sha256").digest()


def _host() -> str:
    return urlsplit(links.origin()).hostname or ""
