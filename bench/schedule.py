"""What falls due, 50,000 at once: rows per second of one schedule process, and how late a fresh row is meanwhile.

`python -m bench.schedule`.
"""

import subprocess
import sys
import time
from typing import Any

from sqlalchemy import text

import store
from bench import figures
from bench.depth_rows import invitations_of
from bench.figures import Figure
from rules.caller import Caller
from store.accounts import organisations
from store.assessing import assessments

DUE, QUICK_DUE = 50_000, 10_000
ROUNDS, QUICK_ROUNDS = 5, 2
SCHEDULE = "from app.instance import processes, settings; processes.schedule(settings.read())"


def measure(quick: bool) -> list[Figure]:
    """Let invitations be overdue, start a schedule, and put a fresh one in every now and then; and again."""
    rows, rounds = (QUICK_DUE, QUICK_ROUNDS) if quick else (DUE, ROUNDS)
    rates, lags = [], []
    with figures.place() as settings:
        given = lay(rows)
        for _ in range(rounds):
            fill(given)
            before = done()
            process = figures.start([sys.executable, "-c", SCHEDULE], settings)
            try:
                rate, late = watch(before, rows, process)
            finally:
                figures.stop(process)
            rates.append(rate)
            lags.append(late)
    return [
        figures.at_least("schedule: rows", rates, "/s", 5000),
        figures.at_most(
            "schedule: lag of a fresh row meanwhile, longest", [max(one) for one in lags], "s", 2
        ),
        figures.plain("schedule: lag of a fresh row meanwhile", [lag for one in lags for lag in one], "s"),
    ]


def lay(rows: int) -> dict[str, Any]:
    """Make an organisation and its assessment; return what the statement takes that makes invitations to it."""
    with store.transaction() as session:
        owner = organisations.create(session, name="Schedule", plan="enterprise")
        caller = Caller(owner.id, livemode=True, plan_name="enterprise")
        one = assessments.create(session, caller, {"title": "Schedule"})
        session.flush()
        owners = {"organisation": owner.id, "other": owner.id, "assessment": one.id}
        return {**owners, "rows": rows, "first": 0, "last": rows - 1}


def fill(given: dict[str, Any]) -> None:
    """Let invitations be overdue, in the place of those of the round before."""
    with store.transaction() as session:
        session.execute(text("TRUNCATE invitations CASCADE"))
        driver = session.connection().connection.driver_connection
        assert driver
        driver.execute(invitations_of("%(assessment)s"), given)
        session.execute(
            text(
                "UPDATE invitations SET status = 'pending', expires_at = now() - (random() + 0.1) * interval '1 day'"
            )
        )


def done() -> int:
    """Return how many have expired: the number of their last event, so that looking costs next to nothing."""
    with store.transaction() as session:
        return int(session.execute(text("SELECT coalesce(max(last), 0) FROM event_sequences")).scalar_one())


def pending(token: str) -> bool:
    with store.transaction() as session:
        found = session.execute(text("SELECT status FROM invitations WHERE token = :token"), {"token": token})
        return bool(found.scalar_one() == "pending")


def watch(before: int, rows: int, process: subprocess.Popen[bytes]) -> tuple[float, list[float]]:
    """Return the rows per second, and how late each fresh one was."""
    figures.wait_until(lambda: done() > before, seconds=60, what="The schedule's start")
    first, began, lags = done(), time.monotonic(), []
    while done() < before + rows + len(lags) and process.poll() is None:
        lags.append(lag(f"fresh-{len(lags)}"))
    return (done() - first) / (time.monotonic() - began), lags


def lag(token: str) -> float:
    """Let one more fall due this moment; return how long it stays pending."""
    with store.transaction() as session:
        session.execute(
            text("""
            INSERT INTO invitations (id, created_at, updated_at, organisation_id, livemode, assessment_id, token,
                                     email, email_key, name, role, status, tags, extra_time_percent, expires_at)
            SELECT gen_random_uuid(), now(), now(), organisation_id, livemode, assessment_id, :token,
                   :token, :token, '', '', 'pending', '{}', 0, now() FROM invitations LIMIT 1
            """),
            {"token": token},
        )
    return figures.wait_until(lambda: not pending(token), seconds=60, what="A fresh row")


if __name__ == "__main__":
    figures.main(measure, __doc__)
