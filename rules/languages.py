"""Languages of people: those that there is a catalogue of texts for, and which of them somebody is spoken to in."""

import re
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "locale"
SOURCE = "en"  # what the texts are written in: it needs no catalogue

_TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
LONGEST = 35  # as BCP 47 asks of whoever keeps tags

CATALOGUES = (SOURCE, *sorted(path.stem for path in FOLDER.glob("*.po")))
_NAMES = {tag.lower(): tag for tag in CATALOGUES}


def catalogue(tag: str | None) -> str | None:
    """Return the catalogue for a tag, by leaving out its last parts until there is one (RFC 4647, 3.4); or None."""
    parts = tag.lower().split("-") if tag and len(tag) <= LONGEST and _TAG.fullmatch(tag) else []
    found = ("-".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((_NAMES[one] for one in found if one in _NAMES), None)


def choose(wanted: Iterable[str | None]) -> str:
    """Return the first tag that there is a catalogue for, as it was asked for; the source's where there is none."""
    return next((tag for tag in wanted if tag and catalogue(tag)), SOURCE)
