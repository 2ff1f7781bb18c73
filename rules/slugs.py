"""Names made of titles: in paths, and as the keys of what has a label."""

import re
import unicodedata
from collections.abc import Collection
from itertools import chain, count
from uuid import UUID

LONGEST = 80  # of a slug; a number may follow


def plain(title: str, *, longest: int = LONGEST, joint: str = "-") -> str:
    """Make a name of what a title has in letters and digits; empty where it has none of ASCII."""
    letters = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", joint, letters).strip(joint)[:longest].rstrip(joint)


def base(title: str, otherwise: str) -> str:
    """Make a slug of a title, `otherwise` where it leaves nothing; none that looks like an id, for paths take both."""
    name = plain(title)
    return f"{otherwise}-{name}" if _is_id(name) else name or otherwise


def free(base: str, taken: Collection[str], *, longest: int | None = None, joint: str = "-") -> str:
    """Return the name, or with the first number that nobody has; cut where it would be too long with it."""
    ends = chain([""], (f"{joint}{number}" for number in count(2)))
    names = ((base if longest is None else base[: longest - len(end)]) + end for end in ends)
    return next(name for name in names if name not in taken)


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
