"""The vocabulary of skills: names and aliases in skills.txt, found in running text.

Names match as whole words, whatever their case, with their symbols (C++, C#, .NET, Node.js). A name that is
also an ordinary word or a single letter (Go, R, C, Excel) is marked in the file and needs its own spelling
and the company of other skills or of words that speak of programming.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

_FILE = Path(__file__).with_name("skills.txt")

# Scripts written without spaces: each character is a word, so that a Latin name inside is one too.
_DENSE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(
    rf"(?<![\w.])\.(?=[A-Za-z]{{3}})[A-Za-z]+|[^\W_{_DENSE}]+(?:\+\+|[+#](?![^\W_]))?|[{_DENSE}]"
)
_SEPARATOR = re.compile(rf"[,;:/|•·●▪■◦‣*()\[\]&\t\n–—、，。・；：／（）{_DENSE}-]")

# Addresses name sites, not skills.
_ADDRESS = re.compile(
    r"(?:https?://|www\.)\S+|[^\s@]{1,64}@[^\s@]{1,200}"
    r"|(?<![\w.-])(?:[\w-]{1,63}\.){1,5}(?:com|org|io|dev|me|in|[a-df-z][a-z])/[\w/.~%-]*",
    re.IGNORECASE,
)

AROUND = 6  # words on either side that count as company

BEFORE = {"in", "with", "using", "of", "and", "or", "plus", "en", "mit", "avec", "con", "на", "и", "e", "und"}
AFTER = {"developer", "engineer", "programmer", "programming", "language", "microservices", "services",
         "code", "backend", "scripts", "scripting", "packages", "shiny"}  # fmt: skip
COMPANY = AFTER | {"languages", "development", "skills", "proficient", "written", "coded", "coding", "technologies",
           "experience", "stack", "tools", "framework", "frameworks", "software", "familiar", "knowledge"}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """A skill under one of its names; `spelling` is set where case and company matter."""

    name: str
    spelling: str | None = None


@dataclass(frozen=True)
class _Word:
    text: str
    folded: str
    start: int
    end: int


@dataclass(frozen=True)
class Found:
    """A skill in a text, with the words that named it."""

    name: str
    start: int
    end: int


@lru_cache(maxsize=8192)
def canonical(name: str) -> str | None:
    """Return the vocabulary's name for a skill given by name or alias; None if it has none."""
    entry = _vocabulary().get(_key(name))
    return entry.name if entry else None


def find(text: str) -> list[str]:
    """List the skills that a text names, each once, in the order of their first mention."""
    return list(dict.fromkeys(found.name for found in spot(text)))


def spot(text: str) -> list[Found]:
    """List every mention of a skill, the longest name winning where several begin."""
    text = _ADDRESS.sub(lambda found: " " * len(found[0]), text)
    words = _words(text)
    mentions = list(_mentions(words))
    certain = [number for number, _, entry in mentions if not entry.spelling]
    doubtful = [
        number
        for number, length, entry in mentions
        if entry.spelling == text[words[number].start : words[number + length - 1].end]
        and len(entry.spelling) > 1
    ]
    return [
        Found(entry.name, words[number].start, words[number + length - 1].end)
        for number, length, entry in mentions
        if not entry.spelling or _meant(text, words, number, length, entry.spelling, certain, doubtful)
    ]


def names() -> list[str]:
    """List the vocabulary's skills."""
    return list(dict.fromkeys(entry.name for entry in _vocabulary().values()))


@cache
def version() -> str:
    """Name the state of the vocabulary: the same text has the same skills as long as it stays."""
    return hashlib.sha256(_FILE.read_bytes()).hexdigest()[:8]


def _mentions(words: Sequence[_Word]) -> Iterator[tuple[int, int, Entry]]:
    vocabulary, longest = _vocabulary(), _longest()
    number = 0
    while number < len(words):
        for length in range(min(longest.get(words[number].folded, 0), len(words) - number), 0, -1):
            entry = vocabulary.get(tuple(word.folded for word in words[number : number + length]))
            if entry:
                yield number, length, entry
                number += length
                break
        else:
            number += 1


def _meant(
    text: str,
    words: Sequence[_Word],
    number: int,
    length: int,
    spelling: str,
    certain: Sequence[int],
    doubtful: Sequence[int],
) -> bool:
    """Say whether a doubtful name stands for the skill: spelt its way, in company, in a place for names."""
    first, last = words[number], words[number + length - 1]
    if text[first.start : last.end] != spelling:
        return False
    line = text[text.rfind("\n", 0, first.start) + 1 : (text.find("\n", last.end) + 1 or len(text) + 1) - 1]
    if len(spelling) > 1 and spelling.isupper() and not line.isupper():
        return True
    after = text[last.end : last.end + 2]
    if after[:1] in {"&", "'", "’"} or (
        len(spelling) == 1 and (after[:1] in {"-", "."} and after[1:].strip())
    ):
        return False
    before = text[max(0, first.start - 2) : first.start]
    if before[-1:] in {"&", "'", "’"}:
        return False
    near = range(number - AROUND, number + length + AROUND)
    following = words[number + length].folded if number + length < len(words) else ""
    preceding = words[number - 1].folded if number else ""
    behind, ahead = text[: first.start].rstrip(" ")[-1:], text[last.end :].lstrip(" .")[:1]
    listed = all(not edge or _SEPARATOR.match(edge) for edge in (behind, ahead))
    company = any(other in near for other in certain) or any(
        words[other].folded in COMPANY for other in near if 0 <= other < len(words) and other != number
    )
    if company and (following in AFTER or preceding in BEFORE):
        return True
    # In a list, other doubtful names are company enough: Jest, Mocha, Cypress.
    return listed and (company or any(other in near and other != number for other in doubtful))


def _words(text: str) -> list[_Word]:
    return [_Word(m[0], _fold(m[0]), m.start(), m.end()) for m in _WORD.finditer(text)]


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _key(name: str) -> tuple[str, ...]:
    return tuple(word.folded for word in _words(name))


@cache
def _vocabulary() -> dict[tuple[str, ...], Entry]:
    """Read the file: `Name = alias, alias`; a name or alias that ends in ! is doubtful on its own."""
    found: dict[tuple[str, ...], Entry] = {}
    for line in _FILE.read_text("utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        head, _, tail = line.partition(" = ")
        name = head.strip().removesuffix("!")
        for alias in (head, *tail.split(",")):
            plain = alias.strip().removesuffix("!")
            if plain:
                found.setdefault(_key(plain), Entry(name, plain if alias.strip().endswith("!") else None))
    return found


@cache
def _longest() -> dict[str, int]:
    """Say for each first word how many words its longest name has."""
    found: dict[str, int] = {}
    for key in _vocabulary():
        found[key[0]] = max(found.get(key[0], 0), len(key))
    return found
