"""What candidates' programs can do, and everything they cannot."""

import os
import select
import shutil
import socket
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gateways import sandbox
from gateways.jail.walls import DEVICES
from gateways.languages import LANGUAGES
from gateways.places import Places, Turn
from gateways.sandbox import OUTPUT_BYTES, Run, UnavailableError, available
from rules.errors import Unavailable
from tests.programs import (
    every_language,
    needs_bash,
    needs_javascript,
    needs_python,
    needs_sql,
    once,
    run,
    running,
)

ROOT = Path(__file__).resolve().parents[2]


ECHO = {
    "python": "import sys\nprint(sys.stdin.read().upper())",
    "javascript": 'console.log(require("fs").readFileSync(0, "utf8").toUpperCase())',
    "bash": "tr a-zé A-ZÉ",
    "sql": "SELECT upper(word) FROM words",
    "typescript": 'const text: string = require("fs").readFileSync(0, "utf8"); console.log(text.toUpperCase())',
    "java": "public class Main { public static void main(String[] a) throws Exception {"
    " System.out.println(new String(System.in.readAllBytes()).toUpperCase()); } }",
    "go": 'package main\nimport ("fmt"; "io"; "os"; "strings")\n'
    "func main() { text, _ := io.ReadAll(os.Stdin); fmt.Println(strings.ToUpper(string(text))) }",
}


@every_language
def test_a_program_reads_its_input_and_writes_its_output(language):
    text = "CREATE TABLE words (word TEXT); INSERT INTO words VALUES ('ada');" if language == "sql" else "ada"
    assert once(language, ECHO[language], text) == Run("ADA\n" if language != "bash" else "ADA", "", "ok")


@every_language
def test_each_input_starts_from_nothing(language):
    code = {
        "python": "import os\nprint(os.path.exists('seen'))\nopen('seen', 'w').close()",
        "javascript": 'fs = require("fs"); console.log(fs.existsSync("seen")); fs.writeFileSync("seen", "")',
        "bash": "[ -e seen ] && echo True; touch seen",
        "sql": "SELECT count(*) FROM seen",
        "typescript": 'import * as fs from "fs"; console.log(fs.existsSync("seen")); fs.writeFileSync("seen", "")',
        "java": "public class Main { public static void main(String[] a) throws Exception {"
        ' System.out.println(!new java.io.File("seen").createNewFile()); } }',
        "go": 'package main\nimport ("fmt"; "os")\n'
        'func main() { _, err := os.Stat("seen"); fmt.Println(err == nil); os.Create("seen") }',
    }[language]
    table = "CREATE TABLE seen (x);"
    first, second = run(language, code, [table, table])
    assert first == second
    assert first.outcome == "ok"


@every_language
def test_a_faulty_program_ends_in_an_error_that_is_told(language):
    result = once(language, "SELECT this is not ( a program")
    assert result.outcome == "error"
    assert result.stderr


@needs_bash
def test_a_script_whose_last_condition_is_false_is_no_error():
    assert once("bash", "echo done; [ 1 = 2 ] && echo never") == Run("done\n", "", "ok")


@needs_python
@pytest.mark.parametrize("code", ["print(1); raise SystemExit(3)", "print(1); import os; os.abort()"])
def test_a_program_that_gives_up_is_an_error_whatever_it_printed(code):
    result = once("python", code)
    assert result.outcome == "error"


@needs_sql
def test_sql_prints_values_as_the_sqlite_shell_does():
    setup = (
        "CREATE TABLE t (a, b, c, d); INSERT INTO t VALUES (1, NULL, 0.1 + 0.2, 'x|y'), (-1, '', 2.0, 1e20);"
    )
    assert once("sql", "SELECT * FROM t; -- done", setup).stdout == "1||0.3|x|y\n-1||2.0|1e+20\n"


@needs_sql
def test_sql_takes_one_query_only():
    assert once("sql", "SELECT 1; SELECT 2").outcome == "error"


@needs_python
def test_text_that_is_not_ascii_survives_both_ways():
    assert once("python", "print(input()[::-1] + 'é')", "añ漢😀").stdout == "😀漢ñaé\n"


@needs_python
def test_output_that_is_not_text_is_kept_readable():
    assert once("python", "import sys\nsys.stdout.buffer.write(b'a\\xff')").stdout == "a\ufffd"


LOOPS = {
    "python": "while True: pass",
    "javascript": "while (true) {}",
    "bash": "while :; do :; done",
    "sql": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    "typescript": "while (true) {}",
    "java": "public class Main { public static void main(String[] a) { while (true) ; } }",
    "go": "package main\nfunc main() { for { } }",
}


@every_language
def test_an_endless_program_is_stopped(language):
    assert once(language, LOOPS[language], seconds=0.7).outcome == "timeout"


@needs_bash
def test_a_sleeping_program_is_stopped_and_its_output_kept():
    assert once("bash", "echo before; sleep 60; echo after", seconds=0.5) == Run("before\n", "", "timeout")


@needs_bash
def test_a_program_that_ignores_signals_is_stopped():
    assert (
        once("bash", "trap '' TERM INT HUP XCPU; while :; do sleep 1; done", seconds=0.5).outcome == "timeout"
    )


@needs_python
def test_programs_leave_the_processor_to_whatever_else_the_machine_does():
    code = "import os\nprint(os.nice(0), os.getsid(0) == os.getpid())"
    (result,) = sandbox.run("python", code, [""])
    assert result.stdout == f"{min(19, os.nice(0) + 10)} False\n"


def test_one_endless_input_does_not_touch_the_others():
    code = "n = int(input())\nwhile n == 2: pass\nprint(n)"
    assert [result.outcome for result in run("python", code, ["1", "2", "3"], seconds=1)] == [
        "ok",
        "timeout",
        "ok",
    ]


@needs_bash
def test_a_fork_bomb_is_contained_and_nothing_of_it_is_left():
    marker = f"777{uuid.uuid4().int % 10**9}"
    result = once("bash", f"bomb() {{ sleep {marker} & bomb | bomb & }}; bomb; wait; sleep 60", seconds=1)
    assert result.outcome != "ok"
    assert running(marker) == []


@needs_python
def test_a_program_has_a_limited_number_of_processes():
    code = """
        import os, time
        count = 0
        try:
            while count < 500:
                if os.fork() == 0:
                    time.sleep(60)
                count += 1
        except OSError:
            print("stopped", count < 200)
    """
    result = once("python", f"if True:{code}", seconds=20)
    assert (result.stdout, result.outcome) == ("stopped True\n", "ok")


@needs_bash
def test_a_daemon_ends_with_the_program():
    marker = f"888{uuid.uuid4().int % 10**9}"
    result = once("bash", f"setsid nohup sleep {marker} >/dev/null 2>&1 & disown; echo gone")
    assert result == Run("gone\n", "", "ok")
    assert running(marker) == []


HOGS = {
    "python": "data = []\nwhile True: data.append(bytearray(1 << 20))",
    "javascript": "const data = []; while (true) data.push(new Array(100000).fill(Math.random()))",
    "bash": 'text=x; while :; do text="$text$text"; done',
    "sql": "WITH RECURSIVE n(t) AS (SELECT hex(randomblob(9000000)) UNION ALL SELECT t || 'x' FROM n) "
    "SELECT count(DISTINCT t) FROM n",
    "typescript": "const data: number[][] = []; while (true) data.push(new Array(100000).fill(Math.random()))",
    "java": "import java.util.*;\npublic class Main { public static void main(String[] a) {"
    " List<byte[]> data = new ArrayList<>(); while (true) data.add(new byte[1 << 20]); } }",
    "go": "package main\nfunc main() { data := [][]byte{}; for { block := make([]byte, 1<<20);"
    " for i := range block { block[i] = 1 }; data = append(data, block) } }",
}


@every_language
def test_a_program_that_takes_too_much_memory_is_stopped(language):
    assert once(language, HOGS[language], memory_mb=96, seconds=15).outcome == "memory"


@needs_javascript
def test_memory_outside_the_javascript_heap_counts_too():
    code = "const data = []; while (true) data.push(Buffer.alloc(1 << 22, 1))"
    assert once("javascript", code, memory_mb=96, seconds=15).outcome == "memory"


@needs_python
def test_the_memory_of_all_processes_counts_together():
    code = """
        import os, time
        for _ in range(6):
            if os.fork() == 0:
                data = bytearray(b"x") * (40 << 20)
                time.sleep(60)
        time.sleep(60)
    """
    assert once("python", f"if True:{code}", memory_mb=128, seconds=15).outcome == "memory"


@needs_python
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_ten_megabytes_of_output_are_cut(stream):
    result = once("python", f"import sys\nfor _ in range(10240): sys.{stream}.write('x' * 1024)")
    assert result.outcome == "output_limit"
    assert len(getattr(result, stream)) == OUTPUT_BYTES


@needs_python
def test_output_up_to_the_limit_is_kept_whole():
    assert once("python", f"print('x' * {OUTPUT_BYTES - 1})").outcome == "ok"


@needs_python
def test_the_disk_cannot_be_filled():
    code = """
        written = 0
        try:
            for number in range(100):
                with open(f"f{number}", "wb") as file:
                    written += file.write(bytes(1 << 22))
        except OSError:
            print(written <= 16 << 20)
    """
    assert once("python", f"if True:{code}").stdout == "True\n"


@needs_python
@pytest.mark.parametrize(
    "path",
    ["/etc/shadow", "/etc/hostname", str(ROOT / "pyproject.toml"), "/root", "/home", "/var", "/sys", "/srv"],
)
def test_files_of_the_machine_cannot_be_read(path):
    code = f"import os\nprint(os.listdir({path!r}) if os.path.isdir({path!r}) else open({path!r}).read())"
    result = once("python", code)
    # A folder on the way to the interpreter is there, and shows nothing but that way.
    assert result.outcome == "error" or result.stdout.strip() in ("[]", str([_step_to_python(path)]))


def _step_to_python(path):
    parts = Path(LANGUAGES["python"].find()).parts
    return parts[len(Path(path).parts)] if Path(path).parts == parts[: len(Path(path).parts)] else None


@needs_python
def test_no_file_of_the_service_is_anywhere(tmp_path):
    marker = f"marker-{uuid.uuid4().hex}"
    (tmp_path / marker).write_text("secret")
    code = f"""
        import os
        for folder, folders, files in os.walk("/"):
            if folder.startswith("/proc"):
                folders.clear()
            if {{{marker!r}, "supervise.py", "security.yaml", "connexion"}} & {{*files, *folders}}:
                print(folder)
    """
    assert once("python", f"if True:{code}", seconds=120) == Run("", "", "ok")


@needs_bash
def test_no_secret_of_the_environment_is_visible(monkeypatch):
    secret = uuid.uuid4().hex
    monkeypatch.setenv("SECRET_KEY", secret)
    code = "export -p; tr '\\0' '\\n' < /proc/self/environ; cat /proc/*/environ /proc/*/cmdline; id -u; :"
    result = once("bash", code)
    assert secret not in result.stdout
    assert "1000\n" in result.stdout


@needs_python
def test_the_network_is_out_of_reach():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        code = f"""
            import socket
            for address in (("127.0.0.1", {port}), ("192.0.2.1", 80)):
                try:
                    socket.create_connection(address, timeout=2)
                except OSError as error:
                    print(type(error).__name__)
            try:
                socket.socket(40, socket.SOCK_STREAM)  # AF_VSOCK: from a virtual machine to its host
            except OSError as error:
                print(error.errno)
        """
        assert once("python", f"if True:{code}").stdout == "OSError\nOSError\n97\n"
        with pytest.raises(BlockingIOError):
            server.accept()


@needs_python
def test_abstract_sockets_of_the_machine_are_out_of_reach():
    name = f"\0{uuid.uuid4().hex}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        code = f"import socket\nsocket.socket(socket.AF_UNIX).connect({name!r})"
        assert "ConnectionRefusedError" in once("python", code).stderr


@needs_python
def test_nothing_outside_its_folder_can_be_written():
    code = """
        import os
        for folder, folders, files in os.walk("/"):
            if folder.startswith("/proc/"):
                folders.clear()
                continue
            try:
                open(os.path.join(folder, "written"), "w").close()
                print(folder)
            except OSError:
                pass
            for name in files[:20]:
                try:
                    open(os.path.join(folder, name), "r+b").close()
                    print(os.path.join(folder, name))
                except OSError:
                    pass
        for path in ("/proc/sys/kernel/core_pattern", "/proc/self/uid_map", "/proc/sysrq-trigger"):
            try:
                with open(path, "w") as file:
                    file.write("1")
                print(path)
            except OSError:
                pass
    """
    result = once("python", f"if True:{code}", seconds=120)
    lines = set(result.stdout.split())
    assert (
        lines
        - {
            "/box",
            "/box/main.py",
            "/dev/shm",
            *(f"/dev/{name}" for name in (*DEVICES, "stdin")),
        }
        == set()
    )
    assert "/box" in lines


@needs_python
def test_no_right_can_be_gained():
    code = """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        for call, *arguments in (
            ("unshare", 0x10000000),  # a user namespace of its own
            ("mount", b"none", b"/box", b"tmpfs", 0, None),
            ("ptrace", 16, 1, 0, 0),
            ("setuid", 0),
            ("chroot", b"/box"),
            ("kill", 1, 9),
        ):
            result = getattr(libc, call)(*arguments)
            if result == 0 and call != "kill":
                print(call)
        status = open("/proc/self/status").read()
        names = ("CapEff", "CapPrm", "NoNew", "Seccomp:")
        print([line.split()[1] for line in status.splitlines() if line.startswith(names)])
        print(sorted(int(name) for name in os.listdir("/proc") if name.isdigit()))
    """
    lines = once("python", f"if True:{code}").stdout.splitlines()
    assert lines == ["['0000000000000000', '0000000000000000', '1', '2']", "[1, 2]"]


@needs_python
def test_threads_run_programs_side_by_side_and_leave_no_child_behind():
    def square(number):
        return once("python", "print(int(input()) ** 2)", str(number)).stdout

    before = children()  # servers that other tests started
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(square, range(16))) == [f"{number**2}\n" for number in range(16)]
    assert children() <= before


def children():
    found = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {child for file in found for child in file.read_text().split()}


@pytest.mark.skipif(
    not shutil.which("unshare") or subprocess.run(["unshare", "-Ur", "true"], check=False).returncode != 0,
    reason="no unshare program, or no user namespaces to forbid",
)
def test_where_namespaces_are_forbidden_nothing_runs(tmp_path):
    marker = tmp_path / "ran"
    code = f"""
        from gateways.sandbox import UnavailableError, available, run, why_not
        assert not any(map(available, ("python", "javascript", "bash", "sql")))
        assert "unshare" in why_not("python"), why_not("python")
        try:
            run("python", "open({str(marker)!r}, 'w').close()", [""])
        except UnavailableError:
            print("refused")
    """
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$0" -c "$1"'
    result = subprocess.run(
        ["unshare", "-Ur", "sh", "-c", forbid, sys.executable, f"if True:{code}"],
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout == "refused\n", result.stderr
    assert not marker.exists()


@needs_bash
def test_a_program_ends_with_the_service_that_started_it():
    marker = f"999{uuid.uuid4().int % 10**9}"
    code = f"from gateways.sandbox import run; run('bash', 'echo; sleep {marker}', [''], seconds=60)"
    service = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)})
    while not (found := running(marker)):
        assert service.poll() is None
    program = os.pidfd_open(int(found[0]))
    service.kill()
    service.wait()
    assert select.select([program], [], [], 30)[0]
    os.close(program)
    assert running(marker) == []


@needs_python
def test_code_that_is_not_text_ends_in_an_error():
    assert once("python", "print('\ud800')").outcome == "error"


def test_an_unknown_language_is_not_available():
    assert not available("cobol")
    with pytest.raises(UnavailableError):
        run("cobol", "", [""])


@needs_python
def test_being_available_is_found_out_once():
    assert available("python")
    found = sandbox._known["python"].found
    assert available("python")
    assert sandbox._known["python"].found == found


@needs_bash
def test_all_inputs_of_a_program_share_one_limit_of_time():
    runs = run("bash", "read n; sleep $n", ["0", "60", "60", "0"], seconds=60, together=2)
    assert [one.outcome for one in runs] == ["ok", "timeout", "timeout", "timeout"]
    assert [one.time_ms for one in runs[2:]] == [0, 0]  # they were not begun


@needs_bash
def test_nobody_waits_for_a_place_without_end(monkeypatch):
    monkeypatch.setattr(sandbox, "PLACE_SECONDS", 0.1)
    monkeypatch.setattr(sandbox, "_places", Places(1))
    with sandbox._places.taken(Turn(), 1), pytest.raises(Unavailable, match="Other code"):
        once("bash", "true")
    assert once("bash", "true").outcome == "ok"
