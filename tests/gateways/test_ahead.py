"""Processes that wait for programs: a program cannot tell, each takes one, and none stays where nobody wants it."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gateways import languages, sandbox
from gateways.jail import ahead, starting
from gateways.jail.walls import ENVIRONMENT
from tests.programs import needs, needs_javascript, once

pytestmark = needs_javascript
MANY, LONG = 2, 30.0


@pytest.fixture(autouse=True)
def waiting(monkeypatch):
    """Have some wait, behind a fork server of the test's own."""
    server = starting.Server()
    monkeypatch.setitem(starting._servers, starting.PROGRAMS, server)
    monkeypatch.setattr(sandbox, "_ahead", ahead.Ahead(MANY, lambda: None))
    yield
    sandbox._ahead.end()
    starting.server().end()


def warm(language="javascript", **limits):
    """Ask for the language, and wait until processes wait for it."""
    once(language, "", **limits)
    assert sandbox.until_ahead(MANY, LONG)


def ahead_of_need(code, text="", language="javascript", **limits):
    """Run a program in a process that waits, and in none that is started for it."""
    warm(language, **limits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(starting, "supervise", None)
        return once(language, code, text, **limits)


def cold(code, text=""):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "_ahead", ahead.Ahead(0, lambda: None))
        return once("javascript", code, text)


ENDS = {
    "nothing at all": "",
    "both streams": "console.log('a'); console.error('b'); process.stdout.write('c')",
    "a status": "console.log(1); process.exitCode = 3",
    "in the middle": "console.log(1); process.exit(4); console.log(2)",
    "a fault": "function f() { null.x }\nconsole.log(1)\nf()",
    "a fault of its own": "class Own extends Error {}\nthrow new Own('said', { cause: new Error('why') })",
    "what is thrown is no fault": "throw { a: 1 }",
    "a promise that is refused": "Promise.reject(new Error('no'))",
    "a fault in the text itself": "let x = ;",
    "the same name twice": "let x; let x",
    "a module's import": "import fs from 'fs'; console.log(typeof fs.readFileSync)",
    "a module's export": "export const a = 1; console.log(import.meta.url.slice(-7))",
    "it waits at its top": "console.log(await Promise.resolve(1))",
    "import as a call": "import('fs').then((fs) => console.log(typeof fs.readFileSync))",
    "too deep": "function f() { return f() + 1 }\ntry { f() } catch (fault) { console.log(String(fault)) }",
    "what is registered for the end": "process.on('beforeExit', () => console.log('before')).on('exit', console.log)",
    "timers are waited for": "setTimeout(() => console.log('late'), 50); console.log('early')",
    "a timer that it does not wait for": "setTimeout(() => console.log('late'), 50000).unref()",
    "it catches what nobody caught": "process.on('uncaughtException', (e) => console.log('caught', e.message)); null.x",
    "an emitter's fault": "new (require('events'))().emit('error', new Error('x'))",
    "a signal": "process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 5000)",
    "all of its input at once": "console.log(JSON.stringify(require('fs').readFileSync(0, 'utf8')))",
    "its input by events": "process.stdin.on('data', (part) => console.log(String(part))).on('end', console.log)",
    "its input by lines": "require('readline').createInterface(process.stdin).on('line', (l) => console.log([l]))",
    "its input by waiting": "(async () => { for await (const part of process.stdin) console.log(String(part)) })()",
    "its input by its name": "console.log(require('fs').readFileSync('/dev/stdin', 'utf8'))",
    "how it was called": "console.log(process.argv.length, process.execArgv, process.argv0, process.title.length > 0)",
    "who it is": "console.log(require.main === module, module.id, module.children, module.loaded, module.parent)",
    "what is loaded": "console.log(Object.keys(require.cache).length, Object.keys(globalThis), typeof exports, this)",
    "its own text": "console.log(require('fs').readFileSync(__filename, 'utf8'), require('path').basename(__filename))",
    "itself again": "console.log(require(__filename) === module.exports)",
    "a first line for a shell": "#!/usr/bin/env node\nconsole.log(1)",
    "a mark of its bytes": "\ufeffconsole.log('ä€😀')",
    "a long text": f"const text = '{'x' * 300_000}'; console.log(text.length)\nnull.x",
    "a thread": "const { Worker, isMainThread } = require('worker_threads')\n"
    "if (isMainThread) new Worker(__filename).on('exit', (code) => console.log('ended', code))\n"
    "else console.log('in it', process.execArgv)",
    "a process of its own": "const { fork } = require('child_process')\nif (process.argv[2]) console.log('in it')\n"
    "else fork(__filename, ['again']).on('exit', (code) => console.log('ended', code))",
    "another one's": "console.log(require('child_process').execFileSync('echo', ['x'], { encoding: 'utf8' }))",
}  # fmt: skip


@pytest.mark.parametrize("code", ENDS.values(), ids=ENDS)
def test_a_program_does_as_in_a_process_that_was_started_for_it(code, tmp_path):
    given = "one\ntwo"
    node = languages.LANGUAGES["javascript"].find()
    file = tmp_path / "main.js"
    file.write_text(code, encoding="utf-8")
    (tmp_path / "input").write_text(given)
    with (tmp_path / "input").open() as stdin:
        bare = subprocess.run(
            [node, "--max-old-space-size=256", file], stdin=stdin, capture_output=True, check=False,
            env=ENVIRONMENT, cwd=tmp_path,
        )  # fmt: skip
    ran = ahead_of_need(code, given)
    assert ran.exit_code == bare.returncode
    assert ran.stdout == bare.stdout.decode()
    # The whole text is where it was, but for what Node says about another process by its number.
    wanted = bare.stderr.decode().replace(str(tmp_path), "/box")
    assert ran.stderr == wanted.replace(f"(node:{_number(wanted)})", f"(node:{_number(ran.stderr)})")


def _number(said):
    return said.partition("(node:")[2].partition(")")[0]


def test_a_program_finds_the_same_around_itself():
    code = """
        const fs = require("fs"), path = "/proc/self"
        const ends = fs.readdirSync(path + "/fd").map((end) => {
            try { return [end, fs.readlinkSync(path + "/fd/" + end).replace(/[0-9]+/g, "")] } catch { return [end] }
        })
        const box = fs.statSync("/box"), main = fs.statSync("/box/main.js")
        console.log(ends, process.env, process.cwd(), process.getuid(), process.ppid, process.pid, process.umask())
        console.log(fs.readdirSync("/box"), box.mode, box.uid, main.mode, main.uid, main.size, main.nlink)
        console.log(fs.readdirSync("/"), fs.readdirSync("/dev"), fs.readdirSync("/proc").filter((name) => name > 0))
        console.log(fs.readFileSync(path + "/limits", "utf8"), fs.readFileSync(path + "/mounts", "utf8"))
        console.log(fs.readFileSync(path + "/cmdline", "utf8"), fs.readFileSync("/proc/1/task/1/children", "utf8"))
        const kept = /^(Uid|Gid|Groups|NoNewPrivs|Cap|Seccomp|Sig|Shd|Threads)/
        console.log(fs.readFileSync(path + "/status", "utf8").split("\\n").filter((line) => kept.test(line)))
        console.log(fs.fstatSync(0).size, process.hrtime().length, require("os").getPriority())
    """
    ran, expected = ahead_of_need(code, "some input"), cold(code, "some input")
    assert expected.outcome == "ok"
    assert ran == expected


def test_a_process_takes_one_program_and_nothing_of_another():
    code = """
        const fs = require("fs")
        console.log(globalThis.mark, fs.readdirSync("/box"), fs.readdirSync("/dev/shm"))
        globalThis.mark = 1
        fs.writeFileSync("/box/mark", "x")
        fs.writeFileSync("/dev/shm/mark", "x")
    """
    found = {ahead_of_need(code).stdout for _ in range(3)}
    assert found == {"undefined [ 'main.js' ] []\n"}


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("for (;;);", "timeout"),
        ("setInterval(() => {}, 1000)", "timeout"),
        ("const kept = []; for (;;) kept.push(new Array(1e5).fill(kept.length))", "memory"),
        ("const kept = []; for (;;) kept.push(Buffer.alloc(1 << 20, 1))", "memory"),
        ("for (;;) require('fs').writeSync(1, 'x'.repeat(1000))", "output_limit"),
    ],
)
def test_limits_hold_from_when_the_program_is_given(code, outcome):
    seconds = 2 if outcome == "timeout" else 20
    ended = ahead_of_need(code, seconds=seconds, memory_mb=128)
    assert ended.outcome == outcome
    assert (ended.time_ms >= 1_000 * seconds) == (outcome == "timeout")


@needs("typescript")
def test_typescript_waits_too():
    assert ahead_of_need("const n: number = 41; console.log(n + 1)", language="typescript").stdout == "42\n"


def test_what_is_too_large_for_those_that_wait_is_started_for():
    warm()
    text = "x" * ahead.LARGEST
    assert once("javascript", f"console.log('{text}'.length)").stdout == f"{len(text)}\n"


@pytest.mark.parametrize("what", ["the interpreter", "init", "the supervisor", "everything"])
def test_one_that_has_died_keeps_nobody_from_an_answer(what):
    warm()
    for supervisor, init, program in _waiting(starting.server().process.pid):
        dies = {"the interpreter": program, "init": init, "the supervisor": supervisor}
        end = os.pidfd_open(dies.get(what, starting.server().process.pid))
        signal.pidfd_send_signal(end, signal.SIGKILL)
        _await_ends([end])
        if what == "everything":
            break
    assert [once("javascript", "console.log(1)").stdout for _ in range(3)] == ["1\n"] * 3
    assert sandbox.until_ahead(MANY, LONG)
    assert ahead_of_need("console.log(2)").stdout == "2\n"


def test_one_that_hangs_keeps_nobody_longer_than_its_bound(monkeypatch):
    monkeypatch.setattr(ahead, "BEGIN_SECONDS", 0.2)
    warm()
    for supervisor, _, _ in _waiting(starting.server().process.pid):
        os.kill(supervisor, signal.SIGSTOP)
    assert once("javascript", "console.log(1)").stdout == "1\n"


def test_those_that_nobody_asks_for_end(monkeypatch):
    warm()
    processes = _held(starting.server().process.pid)
    monkeypatch.setattr(ahead, "KEPT_SECONDS", 0)
    with sandbox._ahead._changed:
        sandbox._ahead._changed.notify_all()
    assert sandbox.until_ahead(0, LONG)
    _await_ends(processes)


def test_none_outlives_a_service_that_is_killed():
    code = f"""
from gateways import sandbox
from gateways.jail import starting
sandbox.configure(at_a_time=2, ahead={MANY})
sandbox.run("javascript", "", [""])
assert sandbox.until_ahead({MANY}, {LONG})
print(starting.server().process.pid, flush=True)
input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=languages.SERVICE
    ) as service:
        processes = _held(int(service.stdout.readline()))
        service.kill()
    _await_ends(processes)


def test_they_are_there_before_the_first_program_where_one_is_expected(monkeypatch):
    monkeypatch.setattr(sandbox, "_expected", {})
    sandbox.expect("python")
    sandbox.expect("javascript")
    assert sandbox.until_ahead(MANY, LONG)
    assert set(sandbox._expected) == {"javascript"}
    assert len(sandbox._ahead._waiting) == 1
    monkeypatch.setattr(starting, "supervise", None)
    [first] = sandbox.run("javascript", "console.log(1)", [""])  # with the limits of those who say none
    assert first.stdout == "1\n"
    assert len(sandbox._ahead._waiting) == 1


def test_grading_takes_none_of_them():
    warm()
    once("javascript", "", ahead=False)
    assert sandbox.until_ahead(MANY, 0)


def test_several_kinds_share_what_may_wait():
    warm()
    once("javascript", "", memory_mb=128)
    kinds = sandbox._ahead._waiting
    with sandbox._ahead._changed:
        assert sandbox._ahead._changed.wait_for(lambda: [*map(len, kinds.values())] == [1, 1], LONG)
    assert once("javascript", "console.log(1)", memory_mb=128).stdout == "1\n"


def _children(pid):
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _waiting(server):
    """Name the supervisor, init and interpreter of each that waits; a supervisor that has just answered has no init."""
    inits = [(one, init) for one in _children(server) for init in _children(one)]
    return [(*above, program) for above in inits for program in _children(above[1])]


def _held(server):
    """Take hold of all of their processes."""
    found = [pid for three in _waiting(server) for pid in three]
    assert len(found) == 3 * MANY
    return [os.pidfd_open(pid) for pid in found]


def _await_ends(processes):
    for one in processes:
        assert select.select([one], [], [], LONG)[0]
        os.close(one)
