"""What a candidate's program costs: a start, programs a second and core, and "Run" with twenty candidates at once.

And a CV read, and a letter printed. `python -m bench.sandbox`. Alone, without a service: what the walls cost is
measured, not what HTTP adds.
"""

import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from bench import figures
from bench.figures import Figure, at_least, at_most, plain
from gateways import languages, sandbox
from gateways.cv import orders, reading, walled
from gateways.jail.walls import ENVIRONMENT
from gateways.letters import printing
from tests.cvs import latin
from tests.cvs.expected import TODAY

CANDIDATES, TESTS = 20, 3
# Milliseconds for 95 of 100 who press "Run" at once; trivial programs a second and core.
ANSWER, A_SECOND = (
    1_000.0,
    40.0,
)
READ = 150.0  # ms of CPU for a CV of one page in PDF
TEXT = b"Ada Lovelace\nada@example.com\n"
# Reads a CV, and then tells how much CPU it and its children have used, in seconds.
COUNTED = f"""{orders.START}
import resource
spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(one.ru_utime + one.ru_stime for one in spent), file=sys.stderr)
"""
TRIVIAL = {
    "python": "print(int(input()) + 1)",
    "javascript": 'console.log(Number(require("fs").readFileSync(0, "utf8")) + 1)',
    "bash": "read n; echo $((n + 1))",
    "sql": "SELECT 41 + 1",
    "typescript": 'const n: number = Number(require("fs").readFileSync(0, "utf8")); console.log(n + 1)',
    "java": "public class Main { public static void main(String[] a) {"
    " System.out.println(new java.util.Scanner(System.in).nextInt() + 1); } }",
    "go": 'package main\nimport "fmt"\nfunc main() { var n int; fmt.Scan(&n); fmt.Println(n + 1) }',
}
BWRAP = (
    *("bwrap", "--unshare-all", "--die-with-parent", "--clearenv", "--ro-bind", "/usr", "/usr"),
    *("--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/bin", "/bin"),
    *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/box", "--chdir", "/box"),
)


def measure(quick: bool) -> list[Figure]:
    """Start programs one after the other, as many as there are cores, and twenty at once."""
    cores = len(os.sched_getaffinity(0))
    sandbox.configure(at_a_time=_at_a_time())
    count = 20 if quick else 100
    first = _times(lambda: _run("python"), 1)
    runs = [language for language in TRIVIAL if sandbox.available(language)]
    page = latin.english_pdf().content
    return [
        plain("sandbox: the first program, everything found out", first[0], "ms"),
        *_spread("sandbox: python, a bare process of the same interpreter", _times(_bare, count)),
        *(
            _spread(
                "sandbox: python behind bubblewrap (no limits, no filter, no watch)", _times(_wrapped, count)
            )
            if shutil.which("bwrap")
            else []
        ),
        *(
            figure
            for language in runs
            for figure in _spread(f"sandbox: {language}", _times(lambda one=language: _run(one), count))
        ),
        *_spread("sandbox: a short CV read", _times(lambda: _read(TEXT), count)),
        *_spread("sandbox: a CV of one page in PDF read", _times(lambda: _read(page), count)),
        at_most(
            "sandbox: a CV of one page in PDF: CPU of the process that reads it",
            [_cpu_of_reading(page) for _ in range(count)],
            "ms",
            READ,
        ),
        *_spread("sandbox: a short letter printed", _times(_print_letter, count)),
        *_throughput(3 * count // figures.ROUNDS, cores),
        *(_together(language, 2 if quick else 5) for language in runs),
        *(
            _together(language, 2 if quick else 5, ahead=CANDIDATES * TESTS)
            for language in runs
            if languages.LANGUAGES[language].slow
        ),
        *([_floor(node, cores)] if (node := shutil.which("node")) else []),
    ]


def _run(language: str) -> None:
    given = "CREATE TABLE t (n);" if language == "sql" else "41"
    (done,) = sandbox.run(language, TRIVIAL[language], [given])
    if done.stdout.strip() != "42":
        raise SystemExit(f"{language}: {done}")


def _read(content: bytes) -> None:
    if reading.parse(content, today=TODAY).error:
        raise SystemExit("the CV could not be read")


def _cpu_of_reading(content: bytes) -> float:
    """Return the ms of CPU, user and system, of the process that reads a PDF and of its children.

    Those that build and watch its walls are not in it.
    """
    answer = walled.read(COUNTED, orders.orders("pdf", today=TODAY), content, orders.SECONDS)
    assert answer
    assert answer["stdout"], answer
    return 1000 * float(answer["stderr"])


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


def _times(call: Callable[[], object], count: int) -> list[float]:
    found = []
    for _ in range(count):
        started = time.perf_counter()
        call()
        found.append(1000 * (time.perf_counter() - started))
    return found


def _spread(name: str, found: list[float]) -> list[Figure]:
    p50, p95 = figures.in_rounds(found), figures.in_rounds(found, _late)
    return [plain(f"{name}, p50", p50, "ms"), plain(f"{name}, p95", p95, "ms")]


def _late(found: Sequence[float]) -> float:
    return sorted(found)[math.ceil(0.95 * len(found)) - 1]


def _throughput(count: int, cores: int) -> list[Figure]:
    rates, costs = [], []
    with ThreadPoolExecutor(max(2, cores)) as pool:
        for _ in range(figures.ROUNDS):
            before, started = sum(os.times()[:4]), time.perf_counter()
            list(pool.map(lambda _: _run("python"), range(count)))
            took = time.perf_counter() - started
            rates.append(count / took / cores)
            costs.append(1000 * (sum(os.times()[:4]) - before) / count)
    return [
        at_least("sandbox: trivial python programs", rates, "/s a core", A_SECOND),
        plain("sandbox: CPU of one, in this process and what it waited for", costs, "ms"),
    ]


def _together(language: str, rounds: int, ahead: int = 0) -> Figure:
    """Have twenty candidates press "Run" at once, on three visible tests each; so many processes wait for them."""
    slow = languages.LANGUAGES[language].slow
    sandbox.configure(at_a_time=_at_a_time(), ahead=ahead)
    if ahead:
        _run(language)
    given = "CREATE TABLE t (n);" if language == "sql" else "41"

    def press(_: int) -> float:
        started = time.perf_counter()
        sandbox.run(language, TRIVIAL[language], [given] * TESTS)
        return 1000 * (time.perf_counter() - started)

    found: list[float] = []  # p95 of each round
    with ThreadPoolExecutor(CANDIDATES) as pool:
        for _ in range(rounds):
            if not sandbox.until_ahead(ahead, 60):
                raise SystemExit(f"{language}: no processes wait for programs")
            found.append(_late(list(pool.map(press, range(CANDIDATES)))))
    waiting = f", {ahead} processes waiting" if slow else ""
    name = f"sandbox: {CANDIDATES} press Run at once, {TESTS} tests each, {language}{waiting}, p95"
    if slow and not ahead:
        return plain(name, found, "ms")
    return at_most(name, found, "ms", ANSWER)


def _at_a_time() -> int:
    return max(2, len(os.sched_getaffinity(0))) + 1


def _floor(node: str, cores: int) -> Figure:
    """Start as many bare processes of Node as twenty who press Run: what no wall and no service could do sooner."""
    command = [node, "-e", TRIVIAL["javascript"]]
    run = lambda _: subprocess.run(command, input=b"41", capture_output=True, check=True, env=ENVIRONMENT)  # noqa: E731
    with ThreadPoolExecutor(cores) as pool:
        took = _times(lambda: list(pool.map(run, range(CANDIDATES * TESTS))), figures.ROUNDS)
    return plain(f"sandbox: {CANDIDATES * TESTS} bare starts of Node over {cores} cores", took, "ms")


if __name__ == "__main__":
    figures.main(measure, __doc__)
