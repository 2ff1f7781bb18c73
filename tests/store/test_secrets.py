import pytest
from cryptography.fernet import InvalidToken

from store.database import secrets


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    """Give the process its own keys back after each test."""
    monkeypatch.setattr(secrets, "_fernet", None)


def test_a_secret_comes_back_and_is_not_readable_at_rest():
    secrets.configure("one")
    stored = secrets.encrypt("whsec_x")
    assert "whsec" not in stored
    assert secrets.decrypt(stored) == "whsec_x"


def test_keys_can_be_rotated():
    secrets.configure("old")
    stored = secrets.encrypt("whsec_x")
    secrets.configure("new, old")
    assert secrets.decrypt(stored) == "whsec_x"
    fresh = secrets.encrypt("whsec_y")
    secrets.configure("new")
    assert secrets.decrypt(fresh) == "whsec_y"
    with pytest.raises(InvalidToken):
        secrets.decrypt(stored)


def test_an_empty_key_is_refused():
    with pytest.raises(ValueError, match="SECRET_KEY"):
        secrets.configure(" , ")
