"""Webhook secrets at rest: encrypted with keys derived from the service's own secret key."""

from base64 import urlsafe_b64encode
from datetime import timedelta
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_fernet: MultiFernet | None = None


def configure(secret_key: str) -> None:
    """Set the keys, comma-separated: the first encrypts, every one decrypts, so that they can be rotated."""
    global _fernet  # noqa: PLW0603 - one process, one set of keys
    keys = [part.strip() for part in secret_key.split(",") if part.strip()]
    if not keys:
        raise ValueError("SECRET_KEY is empty.")
    _fernet = MultiFernet([Fernet(_derive(key)) for key in keys])
    decrypt.cache_clear()


def _derive(key: str) -> bytes:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"hiring webhook secrets").derive(
        key.encode()
    )
    return urlsafe_b64encode(derived)


def _keys() -> MultiFernet:
    if _fernet is None:
        raise RuntimeError("Call store.database.secrets.configure(secret_key) first.")
    return _fernet


def encrypt(text: str) -> str:
    """Return what is stored of a secret."""
    return _keys().encrypt(text.encode()).decode()


def again(stored: str) -> str:
    """Return the same secret encrypted with the first key; raises InvalidToken when no key fits."""
    return _keys().rotate(stored.encode()).decode()


def unseal(stored: str) -> str:
    """Return what was encrypted; raises cryptography.fernet.InvalidToken when no key fits."""
    return _keys().decrypt(stored.encode()).decode()


def opened(sealed: str, within: timedelta) -> str | None:
    """Return what was encrypted so long ago at most; None where it is older, or nothing that was encrypted here."""
    try:
        return _keys().decrypt(sealed.encode(), ttl=int(within.total_seconds())).decode()
    except InvalidToken:
        return None


decrypt = lru_cache(maxsize=4_096)(unseal)  # for what is needed again and again: the secrets of endpoints
