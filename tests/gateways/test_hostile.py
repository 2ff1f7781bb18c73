"""Programs that mean ill, at every level of the sandbox and in the reader of CVs: none gets what it wants."""

import contextlib
import statistics
import threading
import time

import pytest

from gateways import sandbox, walled
from gateways.cv import walled as cv
from gateways.jail import starting
from tests import hostile
from tests.hostile import BEGIN, END, LEVELS, OPERATING

SECONDS, MEMORY_MB = 3, 256
ALL = hostile.programs()

pytestmark = pytest.mark.skipif(
    not sandbox.available("python"), reason=f"no sandbox here: {sandbox.why_not('python')}"
)


@pytest.fixture(params=LEVELS, scope="module")
def servers(request):
    """Run programs in control groups, or as where there are none: a fork server of each work for all of them."""
    with contextlib.ExitStack() as stack:
        servers = {}
        for work in (starting.PROGRAMS, cv.WORK):
            servers[work] = one = starting.Server(work, groups=request.param == "group")
            stack.callback(one.end)
        if request.param == "group" and one.why_no_groups:
            pytest.skip(f"no control groups here: {one.why_no_groups}")
        yield request.param, servers


@pytest.fixture
def level(servers, monkeypatch):
    level, servers = servers
    monkeypatch.setattr(starting, "_servers", dict(servers))
    yield level
    assert starting._servers == servers
    assert all(one.lives() for one in servers.values())


def marked(program):
    wanted = program.here and sandbox.available(program.language)
    return pytest.param(
        program, id=program.name, marks=() if wanted else pytest.mark.skip("not for this machine")
    )


def judge(program, level, out, outcome):
    assert "escaped" not in out, out
    if "held" in out and program.is_stopped(level):
        assert int(out.split()[1]) <= MEMORY_MB


def test_there_are_enough_of_them():
    assert len(ALL) >= 80
    assert all(program.tries and all(program.by.values()) and program.ends for program in ALL)


@pytest.mark.parametrize("program", [*map(marked, ALL)])
def test_no_program_gets_what_it_wants(program, level):
    (done,) = sandbox.run(program.language, program.code, ["SELECT 1;"], seconds=SECONDS, memory_mb=MEMORY_MB)
    judge(program, level, done.stdout, done.outcome)
    assert done.outcome in program.ends, done
    assert sandbox.run("python", "print(1)", [""])[0].stdout == "1\n"


# Which it is made of.
READERS = [one for one in ALL if one.language == "python" and one.name != "service_code.py"]


@pytest.mark.parametrize("program", [*map(marked, READERS)])
def test_nor_does_one_that_took_the_reader_of_cvs_over(program, level):
    answer = walled.run(
        cv.WORK,
        f"__file__ = '/box/none'\nexec({program.code!r})",
        ["{}"],
        b"input",
        walled.Limits(SECONDS, MEMORY_MB, 1 << 16),
    )
    assert "fault" not in answer
    judge(program, level, answer["stdout"].decode(errors="replace"), answer["outcome"])


BOMBS = ("fork_bomb.py", "fork_bomb_sh.sh", "hoard_children.py", "hoard_sockets.py", "endless_children.py")


def test_neighbours_of_bombs_are_answered(level, capsys):
    def times(count):
        found = []
        for _ in range(count):
            started = time.perf_counter()
            assert sandbox.run("python", "print(1)", [""], seconds=60)[0].stdout == "1\n"
            found.append(1000 * (time.perf_counter() - started))
        return statistics.median(found)

    alone = times(10)
    for program in ALL:
        if program.name in BOMBS:
            bomb = threading.Thread(
                target=sandbox.run, args=(program.language, program.code, [""]), kwargs={"seconds": 1.5}
            )
            bomb.start()
            beside = times(10)
            bomb.join()
            afterwards = times(10)
            with capsys.disabled():
                print(
                    f"\n{level}: a neighbour of {program.name} takes {beside:.0f} ms,"
                    f" alone {alone:.0f} ms, afterwards {afterwards:.0f} ms",
                    end="",
                )


def test_the_table_of_the_operators_page_is_true():
    text = OPERATING.read_text(encoding="utf-8")
    assert text.partition(BEGIN)[2].partition(END)[0].strip() == hostile.table(), (
        "run `python -m tests.hostile`"
    )
