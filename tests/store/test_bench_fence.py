"""A bench measures in a database of its own, whatever database it is told of."""

import os
import re
import subprocess
import sys

import psycopg
from sqlalchemy import make_url

from app.instance.settings import ROOT
from bench.__main__ import BENCHES
from tests.servers import _text

BENCH = """
import os, psycopg
from bench import figures
with figures.place() as settings:
    with psycopg.connect(settings.database_url) as connection:
        connection.execute("DELETE FROM organisations")
        print(connection.info.dbname, settings.redis_url)
"""


def test_a_bench_leaves_the_database_alone_that_it_is_told_of(servers: dict[str, str]) -> None:
    named = _text(make_url(servers["postgres"]))
    before = databases(named)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BENCH],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": named, "REDIS_URL": servers["redis"]},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    database, redis = done.stdout.split()
    assert database.startswith("hiring_bench_")
    assert database not in before
    assert redis != servers["redis"]
    assert database not in databases(named)


def test_every_bench_that_knows_the_store_has_such_a_database() -> None:
    sources = {path.stem: path.read_text() for path in (ROOT / "bench").glob("*.py")}
    benches = {name: text for name, text in sources.items() if "if __name__" in text} | {
        name: sources[name] for name in BENCHES
    }
    touching = {
        name for name, text in benches.items() if re.search(r"^(import|from) (store|psycopg)\b", text, re.M)
    }
    assert {"soak", "depth", "bulk"} <= touching
    assert [name for name in touching if "figures.place(" not in benches[name]] == []


def databases(url: str) -> set[str]:
    with psycopg.connect(url) as connection:
        return {name for (name,) in connection.execute("SELECT datname FROM pg_database")}
