"""How long an invite holds each row that others may wait for: `python -m bench.locks`.

A trigger notes the moment at which each row is locked, and another one how long it was held when the statement is done.
From there on locks are held until the commit is on the disk: beside the load one row is changed again and again, and
its commit is timed. The triggers themselves are in the figures.
"""

import shutil
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path

from sqlalchemy import text

import store
from bench import figures
from bench.figures import Figure
from bench.requests import load
from bench.sides import CONNECTIONS, KINDS, PLANS, Side, ask, prepare, start_ours

# In the order in which an invite takes them.
LOCKS = {
    "invite_usage": "the month",
    "candidates": "the profile",
    "invitations": "the invitation",
    "assessments": "the assessment's count",
    "event_sequences": "the events' counter",
}
NOTES = """
    CREATE UNLOGGED TABLE held (name text, seconds float8);
    CREATE TABLE probe AS SELECT 0 AS value;
    CREATE FUNCTION locked() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM set_config('held.' || TG_TABLE_NAME, extract(epoch FROM clock_timestamp())::text, true);
        RETURN NEW;
    END $$;
    CREATE FUNCTION done() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO held SELECT name, extract(epoch FROM clock_timestamp()) - since::float8
        FROM unnest(TG_ARGV) AS name, nullif(current_setting('held.' || name, true), '') AS since
        WHERE since IS NOT NULL;
        RETURN NEW;
    END $$;
"""
NOTED = "CREATE TRIGGER locked BEFORE INSERT OR UPDATE ON {} FOR EACH ROW EXECUTE FUNCTION locked()"
DONE = "CREATE TRIGGER done AFTER UPDATE ON event_sequences FOR EACH ROW EXECUTE FUNCTION done({})"
SHARES = (
    "SELECT name, percentile_cont(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY seconds) FROM held GROUP BY name"
)


def measure(quick: bool) -> list[Figure]:
    """Invite as fast as the service does it, in rounds."""
    if not shutil.which("wrk"):
        raise SystemExit("This bench needs wrk: `apt-get install wrk`, `brew install wrk`.")
    rounds, seconds = (3, 1) if quick else (5, 5)
    held: dict[str, list[list[float]]] = defaultdict(list)
    commits: list[float] = []
    with figures.place(plans=PLANS) as settings, tempfile.TemporaryDirectory() as folder:
        key, side = prepare(), start_ours(settings)
        try:
            ask(side, KINDS["get"], key)
            load(side, "post", key, 1, Path(folder))
            with store.transaction() as session:
                session.execute(text(NOTES))
                for table in LOCKS:
                    session.execute(text(NOTED.format(table)))
                session.execute(text(DONE.format(", ".join(f"'{table}'" for table in LOCKS))))
            for _ in range(rounds):
                commits += one_round(side, key, seconds, Path(folder))
                with store.transaction() as session:
                    for name, shares in session.execute(text(SHARES)):
                        held[name].append(shares)
                    session.execute(text("TRUNCATE held"))
        finally:
            figures.stop(side.process)
    return [
        *(
            figures.plain(
                f"an invite of {CONNECTIONS} at once: {what} is locked until its statement is done, {share}",
                [1000 * one[place] for one in held[table]],
                "ms",
            )
            for table, what in LOCKS.items()
            for place, share in enumerate(("p50", "p99"))
        ),
        figures.plain("a commit meanwhile, p50", figures.in_rounds([1000 * one for one in commits]), "ms"),
    ]


def one_round(side: Side, key: str, seconds: float, folder: Path) -> list[float]:
    """Invite for a while; return the seconds that commits took meanwhile."""
    ending, took = threading.Event(), []

    def probe() -> None:
        while not ending.wait(0.02):
            with store.transaction() as session:
                session.execute(text("UPDATE probe SET value = value + 1"))
                began = time.monotonic()
            took.append(time.monotonic() - began)

    probing = threading.Thread(target=probe)
    probing.start()
    try:
        load(side, "post", key, seconds, folder)
    finally:
        ending.set()
        probing.join()
    return took


if __name__ == "__main__":
    figures.main(measure, __doc__)
