"""The fork server: ordinary programs find what a fresh interpreter has, nothing of each other, and it is replaced."""

import os
import signal
import struct
import subprocess
import sys
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gateways.jail import calls, starting
from gateways.sandbox import Run, UnavailableError
from tests.programs import (
    needs_bash,
    needs_python,
    once,
    run,
    running,
)


@needs_python
@pytest.mark.parametrize(
    "code",
    [
        """
        import threading
        ready = threading.Barrier(65)
        for _ in range(64):
            threading.Thread(target=ready.wait).start()
        ready.wait()
        """,
        """
        import multiprocessing
        with multiprocessing.Pool(4) as pool:
            assert pool.map(abs, range(-9, 0)) == list(range(9, 0, -1))
        """,
        """
        import os
        def chain(left):
            if left and os.fork() == 0:
                chain(left - 1)
                os._exit(0)
            assert not left or os.wait()[1] == 0
        chain(60)
        """,
        """
        import asyncio
        async def main():
            process = await asyncio.create_subprocess_exec("/bin/true")
            assert await process.wait() == 0
        asyncio.run(main())
        """,
        """
        from concurrent.futures import ProcessPoolExecutor
        with ProcessPoolExecutor(2) as pool:
            assert [*pool.map(abs, [-1])] == [1]
        """,
    ],
    ids=["64 threads", "a pool", "60 generations", "asyncio", "a pool of futures"],
)
def test_threads_and_processes_work(level, code):
    assert once("python", f"if True:{code}", seconds=20) == Run("", "", "ok")


@pytest.fixture(params=["group", "watch"])
def level(request, monkeypatch):
    """Run programs in control groups, or as where there are none."""
    server = starting.Server(groups=request.param == "group")
    if request.param == "group" and server.why_no_groups:
        server.end()
        pytest.skip(f"no control groups here: {server.why_no_groups}")
    monkeypatch.setitem(starting._servers, starting.PROGRAMS, server)
    yield request.param
    server.end()


@needs_python
def test_a_program_starts_as_a_fresh_interpreter_would():
    code = """
        import os, sys, builtins
        print(__name__, __file__, sys.argv, sys.orig_argv[-1], sys.path_importer_cache == {} or "cached", *vars())
        print(sorted(os.environ), os.environ["HOME"], os.listdir("/proc/self/fd"), sys.stdin.encoding)
        print([name for name in sys.modules if name.startswith(("gateways", "rules"))], sys.excepthook.__name__)
        print(sys.stdout.line_buffering, sys.stdout.errors, sys.stderr.errors, sys.stdin.buffer.read(3))
    """
    lines = once("python", f"if True:{code}", "abcdef").stdout.splitlines()
    assert lines[0].startswith("__main__ /box/main.py ['/box/main.py'] /box/main.py")
    assert lines[1] == "['HOME', 'LANG', 'PATH', 'TMPDIR'] /box ['0', '1', '2', '3'] utf-8"
    assert lines[2].startswith("[] ")
    assert lines[3] == "False surrogateescape backslashreplace b'abc'"


@needs_python
def test_no_program_sees_another_ones_input_or_text():
    search = """
        import re, sys
        own = sys.stdin.read()
        for line in open("/proc/self/maps"):
            area, rights = line.split()[:2]
            start, end = (int(part, 16) for part in area.split("-"))
            if rights.startswith("rw"):
                with open("/proc/self/mem", "rb", 0) as memory:
                    memory.seek(start)
                    if re.search(b"(input|text)-[0-9a-f]{32}", memory.read(end - start)):
                        print("seen", line)
    """
    run("python", f"pass  # text-{uuid.uuid4().hex}", [f"input-{uuid.uuid4().hex}"])
    runs = run("python", f"if True:{search}", [f"input-{uuid.uuid4().hex}"[:n] for n in (38, 0, 38)])
    assert [(one.stdout[:4], one.stderr) for one in runs] == [("seen", ""), ("", ""), ("seen", "")]


@needs_python
@pytest.mark.parametrize("how", ["dies", "hangs"])
def test_a_fork_server_that_fails_is_replaced(how, monkeypatch):
    monkeypatch.setattr(starting, "BEGIN_SECONDS", 0.5)
    server = starting.server()
    os.kill(server.process.pid, signal.SIGKILL if how == "dies" else signal.SIGSTOP)
    if how == "dies":
        server.process.wait()
    assert once("python", "print(1)").stdout == "1\n"
    assert starting.server() is not server


@needs_python
def test_programs_start_while_the_fork_server_of_another_work_does_not(monkeypatch):
    real, begun, goes_on = starting.Server, threading.Event(), threading.Event()

    def starts(work=starting.PROGRAMS, **given):
        if work == "slow":
            begun.set()
            assert goes_on.wait(60)
            raise starting.ServerError("it was slow")
        return real(work, **given)

    monkeypatch.setattr(starting, "Server", starts)
    monkeypatch.setattr(starting, "_servers", {})
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(starting.server, "slow")
        try:
            assert begun.wait(10)
            assert pool.submit(once, "python", "print(1)").result(timeout=30).stdout == "1\n"
        finally:
            goes_on.set()
            starting.server().end()
        with pytest.raises(starting.ServerError):
            slow.result()


@needs_bash
def test_a_supervisor_that_is_lost_is_no_answer_and_the_next_program_runs():
    with ThreadPoolExecutor() as pool:
        marker = f"666{uuid.uuid4().int % 10**9}"
        lost = pool.submit(once, "bash", f"echo; sleep {marker}", seconds=30)
        while not running(marker):
            assert not lost.done()
        for pid in _children(starting.server().process.pid):
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(UnavailableError):
            lost.result()
    assert once("python", "print(1)").stdout == "1\n"


def _children(pid):
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def test_the_filter_knows_both_machines():
    for machine in ("x86_64", "aarch64"):
        steps = list(struct.iter_unpack("HBBI", calls.program(machine)))
        number = dict.fromkeys(("read", "execve", "futex"), 0x7FFF0000)
        for name in number:
            assert _judge(steps, machine, calls.ALLOWED[name][calls.MACHINES[machine][0]]) == 0x7FFF0000
        # The numbers of io_uring_setup, memfd_secret, open_tree, open_tree_attr and clone3.
        for refused in (425, 447, 428, 467, 435):
            assert _judge(steps, machine, refused) == 0x50000 | 38
        assert _judge(steps, machine, calls.SOCKETS[0][calls.MACHINES[machine][0]], 40) == 0x50000 | 97
        assert _judge(steps, machine, calls.SOCKETS[0][calls.MACHINES[machine][0]], 2) == 0x7FFF0000
        assert _judge(steps, machine, calls.CLONE[calls.MACHINES[machine][0]], 1 << 28) == 0x50000 | 1
        assert _judge(steps, machine, 1 << 30) == 0x80000000


def _judge(steps, machine, number, first=0):
    """Carry the filter out, as the kernel would."""
    data = {0: number, 4: calls.MACHINES[machine][1], 16: first}
    at, value = 0, 0
    while True:
        what, yes, no, operand = steps[at]
        if what == 0x06:
            return operand
        if what == 0x20:
            value = data[operand]
        else:
            met = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[what]
            at += yes if met else no
        at += 1


ENDS = {
    "what it leaves open is written": "import sys; sys.stdout.write('a'); sys.stderr.write('b')",
    "a status": "import sys; print(1); sys.exit(3)",
    "a status below zero": "raise SystemExit(-1)",
    "words": "import sys; sys.exit('It cannot be done.')",
    "nothing to say": "import sys; sys.exit()",
    "a fault": "print(1); {}['a']",
    "a fault that another one caused": "try:\n    1 / 0\nexcept ZeroDivisionError:\n    {}['a']",
    "a fault in the text itself": "print(1",
    "a hook of its own": "import sys; sys.excepthook = lambda kind, *_: print('caught', kind.__name__); 1 / 0",
    "a hook that fails": "import sys; sys.excepthook = lambda *_: 1 / 0; {}['a']",
    "what is registered for the end": "import atexit; atexit.register(print, 'end'); print('begin')",
    "threads are waited for": "import threading, time\n"
    "threading.Thread(target=lambda: (time.sleep(0.2), print('late'))).start(); print('early')",
    "a daemon is not": "import threading, time\nthreading.Thread(target=time.sleep, args=[30], daemon=True).start()",
    "what it made is deleted": "class A:\n def __del__(self):\n  print('gone')\na = A(); print('there')",
    "in rings too": "class A:\n def __del__(self):\n  print('gone')\na = A(); a.a = a; print('there')",
    "a generator is closed": "def f():\n try:\n  yield 1\n finally:\n  print('closed')\ng = f(); next(g)",
    "a file that it did not close": "file = open('/box/x', 'w'); file.write('x')\n"
    "import atexit; atexit.register(lambda: print(open('/box/x').read() or 'nothing yet'))",
    "its output is closed": "import sys; print(1); sys.stdout.close()",
    "its output is gone": "import os; os.close(1); print(1)",
}  # fmt: skip


@needs_python
@pytest.mark.parametrize("code", ENDS.values(), ids=ENDS)
def test_a_program_ends_as_in_an_interpreter_of_its_own(code, tmp_path):
    file = tmp_path / "main.py"
    file.write_text(code.replace("/box/", f"{tmp_path}/"))
    bare = subprocess.run(
        [sys.executable, "-I", "-X", "utf8", file], capture_output=True, text=True, check=False
    )
    ended = once("python", code)
    assert ended.exit_code == bare.returncode
    assert ended.stdout == bare.stdout
    assert ended.stderr == bare.stderr.replace(str(file), "/box/main.py")
