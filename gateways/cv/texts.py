"""The text of a file of each kind."""

from gateways.cv.kinds import decode

MAX_CHARACTERS = 200_000


def text_of(kind: str, content: bytes) -> str:
    """Return a file's text; UnreadableError says why there is none."""
    if kind == "txt":
        return decode(content)[:MAX_CHARACTERS]
    raise NotImplementedError(kind)
