"""Mail headers read once: the library makes a class for each, and reads what all mails have anew for each of them."""

from email.headerregistry import HeaderRegistry
from email.policy import SMTP, SMTPUTF8
from functools import lru_cache
from typing import Any

KEPT = 256


class Headers(HeaderRegistry):
    """What the library makes of a header, kept by its name and text."""

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[str, Any] = {}
        self._known = lru_cache(KEPT)(super().__call__)

    def __getitem__(self, name: str) -> Any:
        """Return the class of headers of that name."""
        kind = self._kinds.get(name)
        if kind is None:
            kind = self._kinds[name] = super().__getitem__(name)
        return kind

    def __call__(self, name: str, value: Any) -> Any:
        """Return a header; addresses come as what they are, and one person's seldom twice."""
        return self._known(name, value) if isinstance(value, str) else super().__call__(name, value)


ASCII = SMTP.clone(header_factory=Headers())
BEYOND_ASCII = SMTPUTF8.clone(header_factory=Headers())
