"""A company's own sign-in by OpenID Connect: one provider, asked within a time and a size, and what it says verified.

What a sign-in keeps to itself (state, nonce, verifier) comes from one secret that its browser alone holds.
"""

import asyncio
import hmac
import logging
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson

from gateways import webhooks
from gateways.addresses import AddressRefusedError, BusyError
from gateways.connections import Connections
from gateways.conversations import ProtocolError, head
from rules import links
from rules.addresses import check_url
from rules.errors import NotFound, SignInFailed, SignInProviderError, Unavailable
from rules.words import say

log = logging.getLogger("hiring.openid")

SECONDS = 5.0  # for all that one operation asks of the provider
LARGEST = 256 << 10  # bytes of an answer
AT_A_TIME = 3  # exchanges of one process: a provider that is silent leaves the other threads to others
FRESH_SECONDS = 3_600  # that what the provider publishes is used again
ROTATED_SECONDS = 60  # after which its keys are read again for a token of a key that is not among them
LEFT_ALONE_SECONDS = 5  # that a provider which failed is not asked again
LONGEST_SUBJECT = 255  # characters of somebody's id there, as OpenID Connect has it
LEEWAY = 60  # seconds by which clocks may differ
# A secret that both know signs nothing here: whoever may read the settings could sign in as anybody.
ALGORITHMS = (
    *(f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)),
    "EdDSA",
    "Ed25519",
)


@dataclass(frozen=True)
class Provider:
    """Who says who somebody is, and for which organisation's members."""

    issuer: str
    client_id: str
    client_secret: str
    organisation: str  # its slug
    name: str
    allow_private: bool


_provider: Provider | None = None
_kept: dict[str, tuple[float, dict[str, Any]]] = {}  # what was published, by its address: since when
_failed: dict[str, float] = {}  # when an address failed
_room = threading.BoundedSemaphore(AT_A_TIME)


def configure(
    *, issuer: str, client_id: str, client_secret: str, organisation: str, name: str, allow_private: bool
) -> None:
    """Set the provider; without issuer, client or organisation there is none."""
    global _provider  # noqa: PLW0603 - one process, one provider
    is_whole = issuer and client_id and organisation
    _provider = (
        Provider(issuer, client_id, client_secret, organisation, name, allow_private) if is_whole else None
    )
    for cache in (_kept, _failed):
        cache.clear()


def name() -> str:
    """Return what people call the provider; nothing where there is none."""
    return _provider.name if _provider else ""


def organisation() -> str:
    """Return the slug of the organisation whose members the provider knows; raise NotFound where there is none."""
    return _there().organisation


def begin(secret: str) -> str:
    """Return the address at which somebody signs in with the provider. Goes to the network."""
    from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
    from authlib.oauth2.rfc7636 import create_s256_code_challenge

    provider = _there()
    endpoint = _in_time(_endpoint(provider, "authorization_endpoint"))
    return str(
        prepare_grant_uri(
            endpoint,
            client_id=provider.client_id,
            response_type="code",
            redirect_uri=links.company_sign_in(),
            scope="openid email",
            state=_drawn(secret, "state"),
            nonce=_drawn(secret, "nonce"),
            code_challenge=create_s256_code_challenge(_drawn(secret, "verifier")),
            code_challenge_method="S256",
        )
    )


def is_state(secret: str, state: str) -> bool:
    """Say whether an answer belongs to the sign-in that a browser has begun."""
    return hmac.compare_digest(_drawn(secret, "state").encode(), state.encode())


@dataclass(frozen=True)
class Known:
    """Whom a provider names: their id there, which is theirs for good, and their address where it is verified."""

    issuer: str
    subject: str
    email: str | None


def who(secret: str, code: str) -> Known:
    """Return whom the provider has given a code. Goes to the network.

    Raises SignInFailed for what the provider refuses or what does not prove anything, SignInProviderError, Unavailable.
    """
    provider = _there()
    claims: Mapping[str, Any] = _in_time(_claims(provider, secret, code))
    subject, email = claims.get("sub"), claims.get("email")
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT or "\0" in subject:
        raise _unproven("sub")
    is_verified = claims.get("email_verified") is True and isinstance(email, str)
    return Known(provider.issuer, subject, email if is_verified else None)


def _there() -> Provider:
    if _provider is None:
        raise NotFound("No company's sign-in is set up here.")
    return _provider


def _drawn(secret: str, what: str) -> str:
    """Return one of the values that a sign-in's secret stands for; none of them tells another, or the secret."""
    drawn = hmac.new(secret.encode(), what.encode(), "sha256").digest()
    return urlsafe_b64encode(drawn).rstrip(b"=").decode()


def _in_time(asking: Any) -> Any:
    """Carry out what is asked of the provider, within the time for all of it, as one of a few."""
    if not _room.acquire(blocking=False):
        asking.close()
        raise Unavailable("The company's sign-in answers slowly; try again shortly.")
    try:
        return asyncio.run(asyncio.wait_for(asking, SECONDS))
    except BusyError as fault:
        raise Unavailable(str(fault)) from None
    except TimeoutError:
        raise SignInProviderError(
            "The company's sign-in did not answer in time; try again shortly."
        ) from None
    except (OSError, ValueError, AddressRefusedError, ProtocolError) as fault:
        # What it answered may hold tokens: the kind of fault is enough.
        log.warning("A provider failed.", extra={"fault": type(fault).__name__})
        raise SignInProviderError from None
    finally:
        _room.release()


async def _claims(provider: Provider, secret: str, code: str) -> Mapping[str, Any]:
    """Exchange a code for what the provider says of a person, signed for us, for this sign-in, not too old."""
    answer = await _token(provider, secret, code)
    token = answer.get("id_token")
    if not isinstance(token, str):
        raise ValueError("no token")
    # Once more for a key that came after those that are known.
    for fresh_seconds in (FRESH_SECONDS, ROTATED_SECONDS):
        address = await _endpoint(provider, "jwks_uri")
        keys = await _published(provider, address, fresh_seconds=fresh_seconds)
        with suppress(LookupError):
            return _verified(provider, keys, token, secret, answer.get("access_token"))
    raise _unproven("key")


def _verified(
    provider: Provider, keys: dict[str, Any], token: str, secret: str, access_token: Any
) -> Mapping[str, Any]:
    """Return a token's claims once all of them hold; LookupError where it is signed by a key that is not there."""
    from authlib.oidc.core import CodeIDToken
    from joserfc import errors, jwt
    from joserfc.jwk import KeySet

    try:
        known = KeySet.import_key_set({"keys": [one for one in keys["keys"] if one.get("use") != "enc"]})
    except (errors.JoseError, ValueError, KeyError, TypeError, AttributeError):
        raise ValueError("no keys") from None
    try:
        read = jwt.decode(token, known, algorithms=ALGORITHMS)
        claims = CodeIDToken(
            read.claims,
            read.header,
            {
                "iss": {"essential": True, "value": provider.issuer},
                "aud": {"essential": True, "value": provider.client_id},
            },
            {
                "nonce": _drawn(secret, "nonce"),
                "client_id": provider.client_id,
                "access_token": access_token if isinstance(access_token, str) else None,
            },
        )
        claims.validate(int(time.time()), LEEWAY)
    except errors.InvalidKeyIdError:
        raise LookupError from None
    except (errors.JoseError, ValueError, TypeError) as fault:
        raise _unproven(getattr(fault, "claim", None) or type(fault).__name__) from None
    return dict(claims)


def _unproven(what: str) -> SignInFailed:
    log.warning("A provider's token proves nothing.", extra={"fault": what})
    return SignInFailed(say("What the company's sign-in answered proves nothing; sign in again."))


async def _token(provider: Provider, secret: str, code: str) -> dict[str, Any]:
    """Give a code back for a token; SignInFailed where the provider does not take it."""
    from authlib.oauth2.auth import ClientAuth
    from authlib.oauth2.rfc6749.parameters import prepare_token_request

    body = prepare_token_request(
        "authorization_code",
        code=code,
        redirect_uri=links.company_sign_in(),
        code_verifier=_drawn(secret, "verifier"),
    )
    how = ClientAuth(
        provider.client_id,
        provider.client_secret,
        "client_secret_basic" if provider.client_secret else "none",
    )
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    url, headers, body = how.prepare("POST", await _endpoint(provider, "token_endpoint"), headers, body)
    status, answer = await _exchange(provider, "POST", url, headers, body.encode())
    if status in (400, 401) and answer.get("error") == "invalid_grant":
        raise SignInFailed(say("The company's sign-in does not know this sign-in any more; sign in again."))
    if status != 200:
        raise ValueError("not 200")
    return answer


async def _endpoint(provider: Provider, name: str) -> str:
    """Return one of the addresses that the provider publishes, one that may be asked."""
    known = await _published(provider, f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration")
    if known.get("issuer") != provider.issuer or not isinstance(known.get(name), str):
        raise ValueError("another issuer, or no such address")
    check_url(known[name], allow_private=provider.allow_private)
    return str(known[name])


async def _published(provider: Provider, url: str, *, fresh_seconds: float = FRESH_SECONDS) -> dict[str, Any]:
    """Return what the provider publishes at an address, as it was a while ago or as it is now."""
    moment = time.monotonic()
    since, kept = _kept.get(url, (0.0, None))
    if kept is not None and since + fresh_seconds > moment:
        return kept
    if _failed.get(url, -LEFT_ALONE_SECONDS) + LEFT_ALONE_SECONDS > moment:
        raise ValueError("it has just failed")
    try:
        status, answer = await _exchange(provider, "GET", url, {}, b"")
        if status != 200:
            raise ValueError("not 200")
    except BaseException:  # also where the time for it is over
        _failed[url] = time.monotonic()
        raise
    _kept[url] = (moment, answer)
    return answer


async def _exchange(
    provider: Provider, method: str, url: str, headers: Mapping[str, str], body: bytes
) -> tuple[int, dict[str, Any]]:
    """Ask once, over a connection of its own to an address that was checked; ValueError for what is no JSON object."""
    path, origin, host = webhooks.target(url, allow_private=provider.allow_private)
    sent = [
        ("Host", host),
        ("User-Agent", "Hiring/1.1"),
        ("Accept", "application/json"),
        ("Content-Length", str(len(body))),
        *headers.items(),
    ]
    request = f"{head(f'{method} {path} HTTP/1.1', sent)}\r\n".encode() + body
    connections = Connections(tls=webhooks.tls(), allow_private=provider.allow_private)
    try:
        status, read = await connections.exchange(
            origin, request, owner="openid", seconds=SECONDS, most=LARGEST + 1
        )
    finally:
        connections.close()
    if len(read) > LARGEST:
        raise ValueError("too large")
    answer = orjson.loads(read)
    if not isinstance(answer, dict):
        raise ValueError("not an object")
    return status, answer
