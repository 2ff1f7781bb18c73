"""Search over a million candidates: any three letters of a name or an address, and what keeping them found costs.

`python -m bench.search`. A tenth of the profiles is another organisation's, and the oldest twentieth came in one
import, so that its letters are frequent and none of the newest has them. Each text is asked for once, as the service
asks for it: a page of it and the page after, alone and with other filters.
"""

import itertools
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import psycopg

import store
from bench import depth_rows, figures
from bench.depth import Ear, explain, nodes
from bench.depth_rows import BATCH, chance, id  # noqa: A004 - as depth_rows has it
from bench.figures import Figure
from rules.caller import Caller
from schemas import candidates as shown
from store.accounts import organisations
from store.database import engine
from store.database.engine import Reading
from store.people import candidates

ROWS, QUICK_ROWS, PAGE = 1_000_000, 50_000, 20
TEXTS, QUICK_TEXTS = 400, 40
LIMIT = 50.0  # ms, for 95 of 100 texts of three letters
MET, ROUNDS, QUICK_ROUNDS = 1_000, 20, 4  # profiles that one bulk request meets, and how often

FIRST = """Ada Grace Alan Edsger Barbara Mary Katherine Dorothy Anna Maria Jan Peter Ole Ying Wei Fatima Omar Aisha
    José João Zoë Łukasz Øyvind Çağla İpek Ünal Юлия Иван Ольга 太郎 花子 Élodie Björn Søren Niamh
    Xavier Quinn Yusuf Zuzana
    Vikram Priya Kwame Chidi Ngozi Thandi Hiroshi Sakura Min-jun Linh Mateo"""
LAST = """Lovelace Hopper Turing Dijkstra Liskov Shaw Johnson Vaughan Smith Müller Schmidt Nguyen Kowalski García
    Martínez O'Brien Rossi Silva Santos Ivanova Петрова Yılmaz Öztürk Hansen Johansson Dubois
    Lefèvre Kim Park Chen Wang
    Tanaka Okafor Mensah Haddad Cohen Levi Papadopoulos Novák Horváth Popescu Virtanen Jansen
    de_Vries van_den_Berg McDonald Fitzgerald
    Singh Patel Khan"""
HOSTS = "gmail.com gmail.com gmail.com outlook.com yahoo.co.uk proton.me mail.ru"


def one_of(words: str, salt: int) -> str:
    """Write one of some words in SQL, the first ones the most frequent."""
    listed = words.split()
    written = ", ".join("'" + word.replace("'", "''").replace("_", " ") + "'" for word in listed)
    return f"(ARRAY[{written}])[1 + least({chance(salt)}, {chance(salt + 1)}) %% {len(listed)}]"


# Every third has a last name of any letters, and an address of their own company.
ANY = f"initcap(translate(substr(md5(n::text), 1, 4 + {chance(53)} %% 5), '0123456789abcdef', 'aeioulrnstmdkbvz'))"
NAME = f"{one_of(FIRST, 41)} || ' ' || CASE WHEN n %% 3 = 0 THEN {ANY} ELSE {one_of(LAST, 43)} END"
HOST = f"""CASE WHEN n < %(rows)s / 20 THEN 'zwolle-quarry.org' WHEN n %% 3 = 0
    THEN translate(substr(md5((n / 30)::text), 1, 8), '0123456789abcdef', 'bcdfghjklmnpqrst') || '.example'
    ELSE {one_of(HOSTS, 45)} END"""
CANDIDATES = f"""
INSERT INTO candidates (
    id, created_at, updated_at, organisation_id, livemode, email, email_key, full_name, phone, source_summary, tags,
    archived_at, gone_at
)
SELECT {id("candidates", "n")}, {depth_rows.MADE}, {depth_rows.CHANGED}, {depth_rows.OWNER}, true, address,
       lower(address), name, '', 'Import',
       CASE WHEN {chance(20)} %% 1000 = 0 THEN ARRAY['tag-8'] WHEN n %% 4 = 0 THEN ARRAY['season-1'] ELSE '{{}}' END,
       CASE WHEN n %% 50 = 0 THEN now() END, CASE WHEN n %% 100 = 3 THEN now() END
FROM (
    SELECT n, name, translate(lower(name), ' ''', '._') || n || '@' || host AS address
    FROM (SELECT n, {NAME} AS name, {HOST} AS host FROM generate_series(%(first)s::int, %(last)s::int) AS n) AS named
) AS addressed
"""
LETTERS = """
SELECT lower(full_name || ' ' || email) FROM candidates TABLESAMPLE SYSTEM (2)
WHERE organisation_id = %(owner)s AND livemode AND gone_at IS NULL LIMIT 20000
"""


@dataclass
class Asked:
    """How long the pages of some texts took, in ms, and what was read from end to end."""

    times: list[tuple[float, str]] = field(default_factory=list)
    scans: int = 0

    def figures(self, name: str, limit: float | None) -> Iterator[Figure]:
        times = sorted(self.times)
        longest, text = times[-1]
        print(f"{name}: the longest is {text!r}", file=sys.stderr)
        yield figures.plain(f"{name}: p50", times[len(times) // 2][0], "ms")
        p95 = times[round(0.95 * (len(times) - 1))][0]
        yield (
            figures.at_most(f"{name}: p95", p95, "ms", limit)
            if limit
            else figures.plain(f"{name}: p95", p95, "ms")
        )
        yield figures.plain(f"{name}: longest", longest, "ms")
        yield figures.at_most(f"{name}: texts that read the whole table", self.scans, "", 0)


def measure(quick: bool) -> list[Figure]:
    """Fill the table, ask for texts of all kinds, and meet more people."""
    with figures.place():
        caller = fill(QUICK_ROWS if quick else ROWS)
        with store.reading() as reading:
            made = [
                figure
                for name, (texts, more, limit) in kinds(
                    reading, caller, QUICK_TEXTS if quick else TEXTS
                ).items()
                for figure in ask(reading, caller, texts, more).figures(name, limit)
            ]
        return [*made, *meet(caller, QUICK_ROUNDS if quick else ROUNDS)]


Kinds = dict[str, tuple[list[str], dict[str, Any], float | None]]


def kinds(reading: Reading, caller: Caller, count: int) -> Kinds:
    """Choose what is asked for, by kind, with the other filters that are asked for beside it."""
    chosen = random.Random(1)
    rows = reading.connection.execute(LETTERS, {"owner": caller.organisation_id}).fetchall()
    words = [row[0] for row in rows]

    def parts(size: int) -> list[str]:
        """Give a part of any word: frequent ones are asked for often."""
        chosen_words = (chosen.choice(words) for _ in range(count))
        return [
            word[place : place + size]
            for word in chosen_words
            for place in [chosen.randrange(len(word) - size)]
        ]

    every = sorted({word[place : place + 3] for word in words for place in range(len(word) - 2)})
    three = parts(3)
    return {
        "three letters of a row": (three, {}, LIMIT),
        "three letters, each alike": (chosen.sample(every, min(count, len(every))), {}, LIMIT),
        "three letters that nobody has": ([f"{one}{two}q" for one in "qxzj" for two in "qxzjw"], {}, LIMIT),
        "three letters and a frequent tag": (three, {"tag": "season-1"}, LIMIT),
        "three letters and a rare tag": (three, {"tag": "tag-8"}, LIMIT),
        "three letters and a change lately": (three, {"updated_after": _lately(reading)}, LIMIT),
        "three letters, archived too": (three, {"include_archived": True}, LIMIT),
        "three letters of an old import": (
            ["zwo", "oll", "lle", "qua", "uar", "arr", "rry", "y.o"],
            {},
            None,
        ),
        "one letter": (parts(1), {}, None),
        "two letters": (parts(2), {}, None),
        "six letters": (parts(6), {}, None),
    }


def _lately(reading: Reading) -> Any:
    return reading.connection.execute("SELECT now() - interval '2 hours'").fetchall()[0][0]


def ask(reading: Reading, caller: Caller, texts: list[str], more: dict[str, Any]) -> Asked:
    """Ask for each text: its first page, and the one after."""
    asked, ear = Asked(), Ear(reading.connection)
    given = {"include_archived": False} | more

    def page(text: str, cursor: str | None, means: Any) -> Any:
        found = candidates.LIST.page(means, caller, cursor=cursor, page_size=PAGE, search=text, **given)
        return found.map(shown.item)

    page("abc", None, reading)
    for text in texts:
        cursor: str | None = None
        for _ in range(2):
            began = time.perf_counter()
            found = page(text, cursor, reading)
            asked.times.append(((time.perf_counter() - began) * 1000, text))
            if (cursor := found.next) is None:
                break
        page(text, None, Reading(ear))
        asked.scans += any(
            "Seq Scan" in node["Node Type"] and node["Relation Name"] == "candidates"
            for node in nodes(explain(reading, ear))
            if node["Actual Loops"]
        )
    return asked


def meet(caller: Caller, rounds: int) -> Iterator[Figure]:
    """Meet a thousand people at once, as one bulk invite does, with the index of their letters and without."""
    yield from _met("with its letters", _once(caller), rounds)
    with psycopg.connect(_url(), autocommit=True) as connection:
        connection.execute(f"DROP INDEX {candidates.SEARCHED_BY}")
    yield from _met("without", _once(caller), rounds)


def _once(caller: Caller) -> Callable[[], float]:
    """Return what meets a thousand people whom nobody has met, and returns how long it took, in ms."""
    numbers = itertools.count()

    def once() -> float:
        named = [f"{number}{time.monotonic_ns()}" for number in itertools.islice(numbers, MET)]
        people = [
            {"email": f"met.{name}@example.com", "name": f"Ada Lovelace-{name}", "source": "Invitation"}
            for name in named
        ]
        began = time.perf_counter()
        with store.transaction() as session:
            candidates.meet_all(session, caller, people)
        return (time.perf_counter() - began) * 1000

    return once


def _met(name: str, once: Callable[[], float], rounds: int) -> Iterator[Figure]:
    yield figures.plain(f"1,000 profiles met {name}", [once() for _ in range(rounds)], "ms")


def _url() -> str:
    return engine.engine().url.set(drivername="postgresql").render_as_string(hide_password=False)


def fill(rows: int) -> Caller:
    """Fill the table for one organisation and a smaller one; return the first as a caller."""
    with store.transaction() as session:
        owner, other = (
            organisations.create(session, name=name, plan="enterprise") for name in ("Search", "Other")
        )
    with psycopg.connect(_url(), autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        connection.execute("SET maintenance_work_mem = '256MB'")
        with depth_rows.bare(connection, "candidates"):
            for first in range(0, rows, BATCH):
                given = {"organisation": owner.id, "other": other.id, "rows": rows, "first": first}
                connection.execute(CANDIDATES, given | {"last": min(first + BATCH, rows) - 1})
                print(f"\rcandidates: {first + BATCH:,}", end="", file=sys.stderr, flush=True)
        print("", file=sys.stderr)
        connection.execute("VACUUM ANALYZE candidates")
        size = f"SELECT pg_relation_size('{candidates.SEARCHED_BY}'), pg_table_size('candidates')"
        print(connection.execute(size).fetchall(), file=sys.stderr)
    return Caller(owner.id, livemode=True, plan_name="enterprise")


if __name__ == "__main__":
    figures.main(measure, __doc__)
