"""What one party's trouble costs another: `python -m tests.faults.apart` (about 25 minutes; in `tox -e faults`).

A neighbour reads and invites at an even pace, hears of its invitations and sees their mails; first undisturbed, then
beside each trouble of the table, then undisturbed again. Of each kind the 99th percentile beside a trouble is at most
twice the smaller one without (or 50 ms), and nothing takes a second. Where a server itself stands still, what depends
on it is judged by when it is well again. Nothing that was acknowledged may be missing. A limit that is not kept ends
the run with status 1.

At the usual pace a quarter of two cores is in use, what measures included: it shows who waits for whom. At `--rate 30`
(about nine minutes) it is four fifths before any trouble begins, which shows what a full machine is like.
"""

import argparse
import gc
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

import store
from app.instance import children, embedded, places, wiring
from app.instance.settings import Settings
from store.accounts import keys, organisations
from store.operating import migrate
from tests.faults import arrivals
from tests.faults.neighbour import KINDS, Neighbour, Timed
from tests.faults.processes import Fleet
from tests.faults.troubles import TROUBLES, World

RATE = 10.0  # of each kind in a second
# Of the 99th percentile; seconds that are fine anyhow; seconds of nothing.
TWICE, ALWAYS, NEVER = 2.0, 0.050, 1.0
PATIENCE = 60.0  # for what arrives after the last request
AFTER = 2.0  # seconds after which all is normal, once a server goes on
LATEST = 9.0  # a request's deadline, and the way there and back
MAIL_AFTER = 5.0  # within which mail goes on, once its servers do
LONGER = (
    500  # samples of each kind, beside a server that stands still: until it is well again, and after that
)


@dataclass(frozen=True)
class Stands:
    """What a server that stands still excuses: these kinds, until a while after it goes on."""

    kinds: tuple[str, ...]
    latest: float  # seconds within which even they are answered, from their own moment
    after: float  # seconds after which they are as ever
    begins: bool = False  # no more than that they go on by then: what gathered takes its time


STANDS = {
    "Redis frozen for 30 s": Stands(("mail",), 60.0, MAIL_AFTER, begins=True),
    "PostgreSQL frozen for 10 s": Stands(KINDS, LATEST, AFTER),
    "a mail server that is silent for 30 s": Stands(("mail",), 90.0, MAIL_AFTER, begins=True),
}


def main() -> int:
    """Measure everything, print a line a kind, say what was not kept."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--samples", type=int, default=1_000, help="of each kind")
    options.add_argument("--rate", type=float, default=RATE, help="of each kind in a second")
    options.add_argument("--only", default="", help="troubles whose name has this in it")
    given = options.parse_args()
    wanted = [name for name in TROUBLES if given.only in name]
    with ExitStack() as stack:
        world, neighbour = prepared(stack)
        neighbour.work(100, a_second=given.rate, patience=PATIENCE)  # everything is loaded and planned
        # What measures would stand still for 0.1 s to look for garbage in what it has loaded; and its mail server,
        # which is a thread of it, would keep the interpreter for 5 ms at a time.
        gc.freeze()
        sys.setswitchinterval(0.0005)
        before = measure(neighbour, given.samples, "undisturbed", rate=given.rate)
        seen: dict[str, tuple[Timed, float]] = {}
        for name in wanted:
            world.said.clear()
            with TROUBLES[name](world):
                longer = LONGER if name in STANDS else 0
                timed = measure(neighbour, given.samples + longer, name, rate=given.rate)
            print("".join(f"  {words}\n" for words in world.said), end="", flush=True)
            seen[name] = timed, world.back
            time.sleep(5)  # what the trouble left behind
        after = measure(neighbour, given.samples, "undisturbed again", rate=given.rate)
    usual = {kind: min(p99(before.all(kind)), p99(after.all(kind))) for kind in KINDS}
    broken = [fault for name, (timed, back) in seen.items() for fault in faults(name, timed, back, usual)]
    broken += world.broken
    print(
        "\nEvery limit was kept." if not broken else "\nNot kept:\n" + "\n".join(f"  {one}" for one in broken)
    )
    return 1 if broken else 0


def prepared(stack: ExitStack) -> tuple[World, Neighbour]:
    """Start a deployment with a mail server and two organisations; it ends with the stack."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hiring-apart-")))
    folder.chmod(0o711)
    where = places.settle(folder / "data")
    servers = stack.enter_context(
        embedded.own(where, ("postgres", "redis"), kind="command", wait_for_users=False)
    )
    facts = embedded.published(where)
    arriving = stack.enter_context(arrivals.running())
    settings = Settings(
        database_url=facts["postgres"], redis_url=facts["redis"], base_url="http://localhost",
        mail_dir=folder, files_dir=folder, secret_key="faults", webhook_allow_private=True, log_level="WARNING",
    )  # fmt: skip
    migrate.upgrade(settings.database_url)
    wiring.configure(settings, pool_size=2)
    with store.transaction() as session:
        made = [
            organisations.create(session, name=name, plan="enterprise") for name in ("Crowd", "Neighbour")
        ]
        crowd, neighbour = (
            keys.create(session, organisation=one, name="faults", livemode=True)[1] for one in made
        )
    mail = {"SMTP_URL": arriving.smtp, "SMTP_PLAIN": "1"}
    fleet = stack.enter_context(Fleet(settings, folder / "data" / "logs", mail))
    await_web(fleet)
    return World(fleet, servers, arriving, crowd), Neighbour(fleet, neighbour, arriving)


def await_web(fleet: Fleet) -> None:
    """Return once every web process is ready."""
    for base in fleet.bases:
        for _ in range(600):
            with suppress(httpx.HTTPError):
                if httpx.get(f"{base}/readyz", timeout=5, trust_env=False).status_code == 200:
                    break
            time.sleep(0.1)
        else:
            said = "".join(f"{one.name}: {children.tail(one.log)}\n" for one in fleet.recipes.values())
            raise AssertionError(f"{base} does not become ready.\n{said}")


def measure(neighbour: Neighbour, samples: int, name: str, *, rate: float) -> Timed:
    """Let the neighbour work, and print what it saw."""
    timed = neighbour.work(samples, a_second=rate, patience=PATIENCE)
    print(f"\n{name}: {dict(sorted(timed.answers.items()))}")
    for kind in KINDS:
        found = timed.all(kind)
        lost = f", {timed.missing[kind]} missing" if timed.missing.get(kind) else ""
        figures = (found[len(found) // 2], p99(found), found[-1]) if found else (0.0,) * 3
        p50, high, most = (f"{1000 * seconds:8.1f}" for seconds in figures)
        print(f"  {kind:9} p50 {p50} ms  p99 {high} ms  longest {most} ms  of {len(found)}{lost}", flush=True)
    return timed


def p99(found: list[float]) -> float:
    """Return the 99th percentile of what is in order; endless where there is nothing."""
    return found[int(len(found) * 0.99)] if found else float("inf")


def faults(name: str, timed: Timed, back: float, usual: dict[str, float]) -> Iterator[str]:
    """Name each limit that was not kept beside one trouble."""
    stands = STANDS.get(name, Stands((), 0.0, 0.0))
    for kind, count in timed.missing.items():
        if count:
            yield f"{name}: {count} of kind {kind} did not arrive"
    for kind in KINDS:
        excused = kind in stands.kinds
        found = timed.all(kind, since=back + stands.after if excused else 0.0)
        limit = max(TWICE * usual[kind], ALWAYS)
        if excused and stands.begins:
            again = min(
                (due + took for due, took in timed.seconds[kind] if due + took > back), default=float("inf")
            )
            if again > back + stands.after:
                yield f"{name}: {kind} began {again - back:.1f} s after, limit {stands.after:.0f} s"
        elif not found or p99(found) > limit:
            yield f"{name}: {kind} p99 {1000 * p99(found):.1f} ms, limit {1000 * limit:.1f} ms"
        longest = timed.all(kind)[-1] if timed.all(kind) else 0.0
        if longest > (stands.latest if excused else NEVER):
            yield f"{name}: {kind} took {longest:.2f} s at the longest"
    refused = {one: count for one, count in timed.answers.items() if not one.endswith((" 200", " 201"))}
    if refused and "GET" not in stands.kinds:
        yield f"{name}: {refused}"
    elif unknown := {one: count for one, count in refused.items() if not one.endswith(" 503")}:
        yield f"{name}: {unknown}"


if __name__ == "__main__":
    sys.exit(main())
