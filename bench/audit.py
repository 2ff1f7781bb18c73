"""What the audit log costs an invite, how fast rows are sealed, and how fast a chain is verified.

`python -m bench.audit`. Invites with and without their row in turn, in short rounds, so that what else the machine does
falls on both alike.
"""

import time
from collections.abc import Callable
from unittest import mock

import store
from bench import figures
from bench.figures import Figure
from rules.caller import Caller
from rules.clock import now
from store.accounts import organisations
from store.assessing import assessments, inviting
from store.auditing import sealing, trail, verifying
from store.auditing.trail import Entry
from store.database.engine import Change
from store.database.prepared import Bound

ROUNDS, QUICK_ROUNDS, TIMES = 60, 15, 20
ROWS, QUICK_ROWS = 1_000_000, 20_000
AT_ONCE = 1_000


def measure(quick: bool) -> list[Figure]:
    """Invite with and without a row, then fill a chain, seal it and verify it."""
    with figures.place():
        with store.transaction() as session:
            owner = organisations.create(session, name="Audit", plan="enterprise")
            caller = Caller(owner.id, livemode=True, plan_name="enterprise")
            assessment = assessments.create(session, caller, {"title": "Audit", "status": "active"})
        return [*invites(caller, assessment, quick), *chain(caller, QUICK_ROWS if quick else ROWS)]


def invites(caller: Caller, assessment: object, quick: bool) -> list[Figure]:
    """Compare one invite's CPU and time with and without its row."""
    number = 0

    def invite() -> None:
        nonlocal number
        number += 1
        with store.writing() as writing:
            trail.by(writing, entry(caller))
            terms = {"expires_at": now(), "extra_time_percent": 0, "tags": []}
            one = {"email": f"{number}@example.com", "name": "", "role": "", "external_id": None}
            inviting.invite(writing, caller, assessment, one | terms, lambda made: {"id": str(made.id)})

    ways: dict[str, Callable[[Change], list[Bound]]] = {"without": forget, "with": trail.to_write}
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(QUICK_ROUNDS if quick else ROUNDS):
        for name, way in ways.items():
            with mock.patch.object(trail, "to_write", way):
                cpu, wall = time.process_time(), time.perf_counter()
                for _ in range(TIMES):
                    invite()
                taken = time.process_time() - cpu, time.perf_counter() - wall
            spent[name].append((taken[0] / TIMES * 1e6, taken[1] / TIMES * 1e6))
    made = []
    for place, what in enumerate(("us CPU", "us")):
        rounds = {name: [one[place] for one in them] for name, them in spent.items()}
        made += [figures.plain(f"invite {name} its row", costs, what) for name, costs in rounds.items()]
        dearer = figures.ratios(rounds["with"], rounds["without"])
        made.append(figures.plain(f"ratio, {what}", dearer, "x"))
    return made


def entry(caller: Caller) -> Entry:
    made = Entry("public_api", "key", "create_invitation", caller.organisation_id, livemode=True)
    made.method, made.path = "POST", "/api/v1/public/assessments/backend-engineer/invites/"
    made.status_code, made.ip, made.request_id = 201, "203.0.113.9", "req_019a9b1e7c1d7a429f4e5d0c8a3b2f10"
    return made


def forget(change: Change) -> list[Bound]:
    change.info.pop("audit", None)
    change.info.pop("audit_when", None)
    return []


def chain(caller: Caller, rows: int) -> list[Figure]:
    """Seal and verify so many rows: a part in each round, after which all that there are by then are verified."""
    sealed, verified = [], []
    for _ in range(figures.ROUNDS):
        batches, took = rows // figures.ROUNDS // AT_ONCE, 0.0
        for _ in range(batches):
            with store.transaction() as session:
                trail.keep(session, [entry(caller) for _ in range(AT_ONCE)])
            began = time.perf_counter()
            with store.transaction() as session:
                sealing.seal(session, sealing.DUE.choose(session, AT_ONCE))
            took += time.perf_counter() - began
        sealed.append(batches * AT_ONCE / took)
        began = time.perf_counter()
        with store.transaction() as session:
            found = verifying.verify(session)
        verified.append(found.rows / (time.perf_counter() - began))
        assert not found.faults
    return [
        figures.plain("sealed", sealed, "rows a second"),
        figures.plain("verified", verified, "rows a second"),
        figures.at_most("verifying 1,000,000 rows", [1e6 / one for one in verified], "s", 60),
    ]


if __name__ == "__main__":
    figures.main(measure, __doc__)
