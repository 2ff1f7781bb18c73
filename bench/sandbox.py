"""What a candidate's program costs: a start, programs a second and core, and "Run" with twenty candidates at once.

`python -m bench.sandbox [--quick]`; prints, and keeps nothing.
"""

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date

from gateways import languages, sandbox
from gateways.cv import reading
from gateways.letters import printing

CANDIDATES = 20
TRIVIAL = {
    "python": "print(int(input()) + 1)",
    "javascript": 'console.log(Number(require("fs").readFileSync(0, "utf8")) + 1)',
    "bash": "read n; echo $((n + 1))",
    "sql": "SELECT 41 + 1",
}
BWRAP = (
    *("bwrap", "--unshare-all", "--die-with-parent", "--clearenv", "--ro-bind", "/usr", "/usr"),
    *("--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/bin", "/bin"),
    *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/box", "--chdir", "/box"),
)


def main() -> None:
    """Measure and print."""
    quick = "--quick" in sys.argv
    cores = len(os.sched_getaffinity(0))
    sandbox.configure(at_a_time=max(2, cores) + 1)
    count = 20 if quick else 100
    started = time.perf_counter()
    _run("python")
    print(f"the first program, everything found out: {1000 * (time.perf_counter() - started):.0f} ms")
    _print("python, a bare process of the same interpreter", _times(_bare, count))
    if shutil.which("bwrap"):
        _print("python behind bubblewrap (no limits, no filter, no watch)", _times(_wrapped, count))
    for language in TRIVIAL:
        if sandbox.available(language):
            _print(f"{language} in the sandbox", _times(lambda one=language: _run(one), count))
    _print("a short CV read", _times(_read, count // 4))
    _print("a short letter printed", _times(_print_letter, count // 4))
    _throughput(3 * count, cores)
    for language in TRIVIAL:
        if sandbox.available(language):
            _together(language, 2 if quick else 5)


def _run(language: str) -> None:
    given = "CREATE TABLE t (n);" if language == "sql" else "41"
    (done,) = sandbox.run(language, TRIVIAL[language], [given])
    if done.stdout.strip() != "42":
        raise SystemExit(f"{language}: {done}")


def _read() -> None:
    if reading.parse(b"Ada Lovelace\nada@example.com\n", today=date(2026, 1, 1)).error:
        raise SystemExit("the CV could not be read")


def _print_letter() -> None:
    printing.render({"organisation_name": "Acme", "title": "Hello", "body_html": "<p>Hi</p>", "facts": {}})


def _bare() -> None:
    command = [languages.python(), "-I", "-S", "-B", "-X", "utf8", "-c", TRIVIAL["python"]]
    subprocess.run(command, input=b"41", capture_output=True, check=True)


def _wrapped() -> None:
    tool = languages.python()
    show = [part for path in (sys.base_prefix, "/etc/ld.so.cache") for part in ("--ro-bind", path, path)]
    command = [*BWRAP, *show, tool, "-I", "-S", "-B", "-X", "utf8", "-c", TRIVIAL["python"]]
    subprocess.run(command, input=b"41", capture_output=True, check=True)


def _times(call: Callable[[], None], count: int) -> list[float]:
    found = []
    for _ in range(count):
        started = time.perf_counter()
        call()
        found.append(1000 * (time.perf_counter() - started))
    return found


def _throughput(count: int, cores: int) -> None:
    before = os.times()
    started = time.perf_counter()
    with ThreadPoolExecutor(max(2, cores)) as pool:
        list(pool.map(lambda _: _run("python"), range(count)))
    took = time.perf_counter() - started
    after = os.times()
    spent = sum(after[:4]) - sum(before[:4])
    print(
        f"trivial python: {count / took:.1f} a second on {cores} cores, {count / took / cores:.1f} a second and core"
        + (
            f" ({1000 * spent / count:.1f} ms of CPU each in this process and what it waited for)"
            if spent
            else ""
        )
    )


def _together(language: str, rounds: int) -> None:
    """Have twenty candidates press "Run" at once, on three visible tests each."""
    given = "CREATE TABLE t (n);" if language == "sql" else "41"

    def press(_: int) -> float:
        started = time.perf_counter()
        sandbox.run(language, TRIVIAL[language], [given] * 3)
        return 1000 * (time.perf_counter() - started)

    found: list[float] = []
    with ThreadPoolExecutor(CANDIDATES) as pool:
        for _ in range(rounds):
            found += pool.map(press, range(CANDIDATES))
    _print(f"{CANDIDATES} candidates at once, 3 tests each, {language}", found)


def _print(what: str, found: list[float]) -> None:
    ordered = sorted(found)
    late = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    print(f"{what}: p50 {statistics.median(found):.1f} ms, p95 {late:.1f} ms, least {ordered[0]:.1f} ms")


if __name__ == "__main__":
    main()
