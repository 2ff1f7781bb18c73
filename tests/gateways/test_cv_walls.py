"""What code that took the reader of CVs over would find: nothing. And reading where there are no walls."""

import json
import socket
from pathlib import Path

import pytest

import gateways.walled
from gateways import sandbox
from gateways.cv import reading, walled
from gateways.cv.orders import orders as ordered
from gateways.cv.reading import BROKEN, TOO_BIG, TOO_LONG
from tests.cvs import latin
from tests.cvs.expected import TODAY

ROOT = Path(__file__).resolve().parents[2]

needs_walls = pytest.mark.skipif(bool(walled.why_not()), reason=f"no walls here: {walled.why_not()}")


def taken_over(code, content=b"", **orders):
    """Run code in the reader's place; return what it wrote, as JSON if it is any."""
    answer = walled._run(code, ordered("pdf", **{"today": TODAY} | orders), content, 5)
    return json.loads(answer["stdout"]) if answer["stdout"] else answer


def test_where_programs_can_run_cvs_are_read_behind_walls():
    assert walled.why_not() == "" or not sandbox.available("python")


@needs_walls
def test_the_file_arrives_as_it_is():
    content = bytes(range(256)) * 1000
    code = "import sys, json; d = sys.stdin.buffer.read(); print(json.dumps([len(d), d[:256] == bytes(range(256))]))"
    assert taken_over(code, content) == [256_000, True]


@needs_walls
def test_the_reader_is_prepared_and_what_one_file_did_to_it_is_unknown_to_the_next():
    code = """
import json, sys
reader = sys.modules.get("gateways.cv.profiles")
print(json.dumps([hasattr(reader, "profile"), hasattr(reader, "left_behind")]))
reader.left_behind = True
"""
    assert [taken_over(code), taken_over(code)] == [[True, False]] * 2


@needs_walls
def test_there_is_no_network():
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"""
import json, socket
try:
    socket.create_connection(("127.0.0.1", {server.getsockname()[1]}), 2)
    print(json.dumps("connected"))
except OSError as error:
    print(json.dumps("refused"))
"""
        assert taken_over(code) == "refused"


@needs_walls
def test_there_are_no_files_but_the_readers_own():
    code = f"""
import json, os
seen = [path for path in {[str(ROOT / name) for name in ("app", "store", "handlers", ".git", ".cache", "spec")]!r}
        + ["/home", "/etc/shadow", "/etc/hosts", "/var", "/run", "/srv"] if os.path.exists(path)]
try:
    os.write(os.open("/box/new", os.O_CREAT | os.O_WRONLY), b"x")
    seen.append("written")
except OSError:
    pass
print(json.dumps([seen, sorted(os.listdir({str(ROOT)!r})), sorted(os.environ)]))
"""
    with_limits = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); import signal;"
        " signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"  # as the reader does before it sees a file
    )
    seen, ours, environment = taken_over(with_limits + code)
    assert seen == []
    # And the libraries, where they are installed here.
    assert set(ours) - {".venv"} == {"gateways", "insides", "rules"}
    assert set(environment) <= {
        "HOME",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "MALLOC_ARENA_MAX",
        "PATH",
        "RAYON_NUM_THREADS",
        "TMPDIR",
    }


@needs_walls
def test_what_is_shown_is_there_where_a_link_leads_to_it(tmp_path, monkeypatch):
    (tmp_path / "venv" / "lib").mkdir(parents=True)
    (tmp_path / "venv" / "lib" / "library.py").touch()
    (tmp_path / "linked").symlink_to(tmp_path / "venv")
    library = str(tmp_path / "linked" / "lib")
    monkeypatch.setattr(gateways.walled, "code", lambda: [str(ROOT), library])
    assert taken_over(f"import json, os; print(json.dumps(os.listdir({library!r})))") == ["library.py"]


@needs_walls
@pytest.mark.parametrize(("code", "error"), [
    ("while True: pass", TOO_LONG),
    ("print('x' * (5 << 20))", TOO_BIG),
    ("x = bytearray(400 << 20); import time; time.sleep(9)", TOO_BIG),
    ("import os; os.kill(os.getpid(), 9)", TOO_BIG),
    ("import os; os._exit(1)", BROKEN), ("print('nonsense')", BROKEN), ("print([])", BROKEN),
    ("print('{}')", BROKEN), ("""print('{"profile": {"text": 1}}')""", BROKEN),
    ("""print('{"profile": 1}')""", BROKEN), ("""print('{"error": null}')""", BROKEN),
])  # fmt: skip
def test_whatever_it_does_has_a_reason(monkeypatch, code, error):
    monkeypatch.setattr(reading, "START", code)
    parsed = reading.parse(b"%PDF-1.7", seconds=3.0, today=TODAY)
    assert (parsed.profile, parsed.error) == (None, error)


@needs_walls
def test_a_file_that_brings_the_walls_down_is_not_read_without_them(monkeypatch):
    def fall(spec, content, **_):
        monkeypatch.undo()
        return {"fault": "the program was lost before it ended"}

    monkeypatch.setattr(gateways.walled, "supervise", fall)
    parsed = reading.parse(latin.english_pdf().content, today=TODAY)
    assert (parsed.profile, parsed.error) == (None, BROKEN)
    assert walled.why_not() == ""


@pytest.mark.parametrize("make", [latin.english_pdf, latin.german_docx, latin.french_txt])
def test_without_walls_the_same_is_read(monkeypatch, make):
    content = make().content
    behind = reading.parse(content, today=TODAY)
    monkeypatch.setattr(walled, "why_not", lambda: "this machine offers no sandbox")
    assert reading.parse(content, today=TODAY) == behind
    assert behind.profile["emails"]
