"""The fonts of letters, and which characters they have."""

import importlib.util
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

# Each family with its package, in the order in which one is asked for a character.
FAMILIES = {
    "Noto Sans": "fontpkg_noto_sans",
    "Amiri": "fontpkg_amiri",
    "Heebo": "fontpkg_heebo",
    "Noto Sans Thai": "fontpkg_noto_sans_thai",
    "Noto Sans CJK JP": "noto_cjk_sans_jp_regular",
}
MOST_NAMED = 20  # of the characters that cannot be printed
MOST_MARKS = 30  # on one character, as Unicode has it for streams
# What is seen by its effect alone, and needs no glyph: joiners, marks of direction, variants, soft hyphens, breaks.
UNSEEN = frozenset("\t\n\r\f\u00ad\u034f\u061c\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u2060\ufeff")


def folders() -> list[Path]:
    """List where the fonts are."""
    specs = [importlib.util.find_spec(package) for package in FAMILIES.values()]
    return [Path(str(spec.origin)).parent for spec in specs if spec]


@cache
def _coverage() -> list[frozenset[int]]:
    """Say for each family which characters it has: its other faces have the same."""
    from fontTools.ttLib import TTFont  # noqa: PLC0415 - a fifth of a second that few processes need

    found = []
    for folder in folders():
        path = max(folder.rglob("*.[ot]tf"))  # the one in italics, or the regular one
        with TTFont(path, lazy=True) as font:
            found.append(frozenset(font.getBestCmap()))
    return found


def unprintable(texts: Mapping[str, str | None]) -> list[dict[str, str]]:
    """Name the characters of each text that no font has, or that stand in too high a tower, by its place."""
    lacking = {name: missing(text or "") for name, text in texts.items()}
    return [
        {"pointer": f"/{name}", "message": f"Cannot be printed: {one}."}
        for name, one in lacking.items()
        if one
    ]


def printable(text: str) -> str:
    """Return a text in which the mark for unknown characters stands for each that no font has."""
    return "".join("\ufffd" if _lacking(cluster) else cluster for cluster in _clusters(text))


def missing(text: str) -> str:
    """Name the characters of a text that would be printed as squares; empty where there are none."""
    unknown = dict.fromkeys(one for cluster in _clusters(text) for one in _lacking(cluster))
    named = [f"{one if one.isprintable() else ''} (U+{ord(one):04X})".strip() for one in unknown]
    rest = len(named) - MOST_NAMED
    return ", ".join(named[:MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _clusters(text: str) -> Iterator[str]:
    """Cut a text into characters with the marks that stand on them, which have to be of one font."""
    cluster = ""
    for one in unicodedata.normalize("NFC", text):
        if cluster and unicodedata.category(one) not in ("Mn", "Mc", "Me"):
            yield cluster
            cluster = ""
        cluster += one
    if cluster:
        yield cluster


@cache
def _any() -> frozenset[int]:
    return frozenset().union(*_coverage())


def _lacking(cluster: str) -> str:
    """Return what of a cluster no font has: single characters, or all of it where no one font has them all."""
    seen = [one for one in cluster if not _is_unseen(one)]
    if len(seen) > MOST_MARKS:
        return "".join(seen[1:])
    alone = "".join(one for one in seen if ord(one) not in _any())
    if alone or len(seen) < 2:
        return alone
    together = any(all(ord(one) in font for one in seen) for font in _coverage())
    return "" if together else "".join(seen)


def _is_unseen(one: str) -> bool:
    return (
        one in UNSEEN
        or "\u202a" <= one <= "\u202e"
        or "\u2066" <= one <= "\u2069"
        or "\ufe00" <= one <= "\ufe0f"
    )
