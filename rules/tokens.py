"""What nobody can guess: tokens, keys and secrets, each of 256 bits of chance."""

import hmac
import secrets
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode

SECRET = "whsec_"  # noqa: S105 - what a signing secret begins with


def new_token() -> str:
    """Return a token for an address; never with "-" at its head, an option to a program and a formula to a table."""
    while (token := secrets.token_urlsafe(32)).startswith("-"):
        pass
    return token


def new_key(*, livemode: bool) -> str:
    """Return an API key, which says its mode."""
    return f"ct_{'live' if livemode else 'test'}_{new_token()}"


def new_secret() -> str:
    """Return a signing secret, in padded base64."""
    return SECRET + b64encode(secrets.token_bytes(32)).decode()


def mark() -> str:
    """Return a few digits that tell one name from another; they are no secret."""
    return secrets.token_hex(4)


def new_code() -> str:
    """Return a code that is typed off a mail: eight digits, tried a few times at most."""
    return f"{secrets.randbelow(10**8):08}"


def page_token(session_token: str) -> str:
    """Return what a session's own pages know and no other site does, so that it shows where a request comes from."""
    return hmac.new(session_token.encode(), b"page", "sha256").hexdigest()


def new_token_to(leads_to: str) -> str:
    """Return a token that tells its keeper where something leads in the end: nobody can put another place there."""
    return f"{new_token()}.{urlsafe_b64encode(leads_to.encode()).decode()}" if leads_to else new_token()


def leads_to(secret: str) -> str:
    """Return what `new_token_to` was given, of a token that is known to be one of its."""
    return urlsafe_b64decode(secret.partition(".")[2]).decode()
