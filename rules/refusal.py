"""What a refusal is; `rules/errors.py` has each of them."""

import re
from typing import Any, ClassVar


class Refusal(Exception):
    """A request that the service understood and will not carry out."""

    status: ClassVar[int]
    code: ClassVar[str]
    message: ClassVar[str]

    def __init_subclass__(cls) -> None:
        cls.code = cls.__dict__.get("code") or re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).upper()

    def __init__(self, message: str | None = None, **details: Any) -> None:
        super().__init__(message or self.message)
        self.details = details
