"""The words by which a CV is understood, from words.toml."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from rules.grading import fold

# Scripts in which a word is not set apart by spaces, or takes endings and articles without them.
DENSE = re.compile(r"[\u0590-\u06ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

LONG = 7  # letters of a word that stays itself at the end of another


@cache
def _file() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))


def table(name: str) -> list[str]:
    """List what a table of the file holds."""
    return list(_file()[name])


def of(name: str, kind: str) -> list[str]:
    """List the words of one kind."""
    return [word for part in _file()[name][kind].split("|") if (word := part.strip())]


def pattern(found: Iterable[str], *, compounds: bool = False) -> re.Pattern[str]:
    """Match any of some words in folded text, as whole words where the script parts them.

    With compounds, a long word may also end another: Systemutvecklare, Datenanalyst.
    """
    ordered = sorted({fold(word) for word in found}, key=len, reverse=True)
    return re.compile("|".join(_bounded(word, compounds=compounds) for word in ordered))


def _bounded(word: str, *, compounds: bool) -> str:
    if DENSE.search(word):
        return re.escape(word)
    before = "" if compounds and len(word) >= LONG else r"(?<!\w)"
    return rf"{before}{re.escape(word)}(?!\w)"
