"""Search over candidates: whatever is near the top of the list or far down, each page has what it should, in order."""

import random
import unicodedata
from dataclasses import replace
from typing import Any

import pytest

import store
from rules.caller import Caller
from store.database.listing import Listing
from store.people import candidates
from store.people.candidates import Candidate
from tests.hooks import caller, new_caller, wired

__all__ = ["caller", "wired"]

NAMES = [
    "Ada Lovelace",
    "José Müller-Öz",
    "O'Brien",
    "ŁUKASZ KOWAL",
    "Юлия Петрова",
    "王 小明",
    "Straße Weiß",
    "",
]
HOSTS = ["example.com", "zwolle-quarry.org", "Ünal.example"]
SIGNS = str.maketrans("@._+-'", "      ")


def plain(words: str) -> str:
    """Say in Python how the database writes what it looks in."""
    bare = "".join(
        one for one in unicodedata.normalize("NFD", words.lower()) if not "\u0300" <= one <= "\u036f"
    )
    bare = unicodedata.normalize("NFC", bare).translate(str.maketrans("łøđıħς", "lodihσ")).replace("ß", "ss")
    return bare.translate(SIGNS)


def is_meant(row: Candidate, search: str) -> bool:
    words, wanted = f" {plain(f'{row.full_name} {row.email}')}", plain(search)
    if len(wanted) < 3:
        wanted = f" {wanted.strip()}" if wanted.strip() else "\0"
    return wanted in words or search in row.tags


def listing(near: int) -> Listing:
    """Give the list as it is, but that so few rows are read before the index is asked."""
    filters = dict(candidates.LIST.filters)
    filters["search"] = replace(filters["search"], near=near)
    return Listing(candidates.LIST.rows, candidates.LIST.orders, filters)


def every(one: Listing, owner: Caller, **asked: Any) -> list[Any]:
    """Walk through all pages, and back again."""
    there: list[Any] = []
    back: list[Any] = []
    with store.reading() as reading:
        cursor = None
        while True:
            page = one.page(reading, owner, cursor=cursor, page_size=2, **asked)
            there += [row.id for row in page.results]
            if page.next is None:
                break
            cursor = page.next
        while page.previous is not None:
            back = [row.id for row in page.results] + back
            page = one.page(reading, owner, cursor=page.previous, page_size=2, **asked)
        back = [row.id for row in page.results] + back
    assert back == there
    return there


@pytest.fixture
def people(caller: Caller) -> list[Candidate]:
    """Make profiles of one organisation, and the same people for another one."""
    chosen = random.Random(7)
    for owner in (caller, new_caller()):
        with store.transaction() as session:
            for number in range(40):
                email = f"{chosen.choice('abz')}.{number}+{chosen.choice('xy')}@{chosen.choice(HOSTS)}"
                one = {"email": email, "name": chosen.choice(NAMES), "source": ""}
                candidates.meet_all(session, owner, [one])
            for row in session.query(Candidate).where(Candidate.organisation_id == owner.organisation_id):
                row.tags = chosen.choice([[], ["js"], ["Ada"], ["berlin", "qua"]])
    with store.transaction() as session:
        mine = session.query(Candidate).where(Candidate.organisation_id == caller.organisation_id)
        return mine.order_by(Candidate.id.desc()).all()


TEXTS = [
    "ada", "ADA", "Ada", "lov", "vel", "a l", "a-l", "José", "jose", "josé".upper(), "jos\u0065\u0301", "mull", "r ö",
    "o'b", "o b", "bri", "łuk", "luk", "Łukasz", "юли", "Пет", "王 小", "王", "小", "明", "strasse", "straß", "weiss",
    "qua", "rry", "zwolle-quarry.org", "y.org", "@zw", "@", "'", "a", "z", "j", "js", "JS", "berlin", "berli",
    "ove", "ov",
    "lo", "b.", ".b", "12", "+x@", "%", "_", "\\", "qqq", "  ", "   ", "ex", "unal", "al.exam", "\x01",
]  # fmt: skip


@pytest.mark.parametrize("near", [1, 3, 1000], ids=lambda near: f"{near} near")
def test_pages_have_what_is_meant_and_nothing_else_newest_first(
    people: list[Candidate], caller: Caller, near: int
) -> None:
    one = listing(near)
    for search in TEXTS:
        meant = [row.id for row in people if is_meant(row, search)]
        assert every(one, caller, search=search) == meant, search
    assert every(one, caller, search="") == [row.id for row in people]


@pytest.mark.parametrize("near", [1, 1000])
def test_a_search_is_met_together_with_other_filters(
    people: list[Candidate], caller: Caller, near: int
) -> None:
    archived = people[::3]
    with store.transaction() as session:
        for row in archived:
            session.get_one(Candidate, row.id).archived_at = row.created_at
    one, hidden = listing(near), {row.id for row in archived}
    for search in ("ada", "qua", "exam", "a"):
        meant = [row for row in people if is_meant(row, search)]
        shown = [row.id for row in meant if row.id not in hidden]
        assert every(one, caller, search=search, include_archived=False) == shown
        tagged = [row.id for row in meant if "berlin" in row.tags]
        assert every(one, caller, search=search, tag="berlin") == tagged


def test_who_is_gone_is_not_found(people: list[Candidate], caller: Caller) -> None:
    with store.transaction() as session:
        for row in people[1:]:
            session.get_one(Candidate, row.id).gone_at = row.created_at
    for search in ("exa", "zwo", "nal"):
        assert every(listing(1), caller, search=search) == [
            row.id for row in people[:1] if is_meant(row, search)
        ]
