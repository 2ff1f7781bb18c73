"""The languages of coding cases: how each is started and which files of the machine it needs to see."""

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

# Prints the rows of one query as the sqlite3 shell does: `|` between values, NULL as nothing.
SQL_RUNNER = r"""
import sqlite3, sys

def show(value):
    if value is None:
        return ""
    if isinstance(value, float):
        text = format(value, ".15g")
        return text if set(text) & set(".einf") else text + ".0"
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

database = sqlite3.connect(":memory:")
database.execute("PRAGMA temp_store = MEMORY")  # or a large sort fills the small folder first
try:
    database.executescript(sys.stdin.read())
    with open("/box/query.sql", encoding="utf-8") as file:
        rows = database.execute(file.read())
        for row in rows:
            print("|".join(map(show, row)))
except (sqlite3.Error, sqlite3.Warning) as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""

# Takes the types away, which nothing checks: with whatever of this machine the one argument names.
TYPESCRIPT_BUILDER = r"""
const fs = require("fs");
const by = process.argv[2];
const text = fs.readFileSync("/box/main.ts", "utf8");
const fail = (said) => { process.stderr.write(said.endsWith("\n") ? said : said + "\n"); process.exit(1); };

if (by.endsWith("/typescript.js")) {
  const ts = require(by);
  const { outputText, diagnostics } = ts.transpileModule(text, {
    fileName: "main.ts",
    reportDiagnostics: true,
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS, esModuleInterop: true },
  });
  const faults = diagnostics.filter((one) => one.category === ts.DiagnosticCategory.Error);
  const host = { getCanonicalFileName: (name) => name, getCurrentDirectory: () => "/box", getNewLine: () => "\n" };
  if (faults.length) fail(ts.formatDiagnostics(faults, host));
  fs.writeFileSync("/box/main.js", outputText);
} else if (by.endsWith("/esbuild")) {
  const how = ["main.ts", "--platform=node", "--format=cjs", "--target=es2022", "--log-level=warning", "--color=false"];
  const done = require("child_process").spawnSync(by, [...how, "--outfile=/box/main.js"], { encoding: "utf8" });
  if (done.status !== 0) fail(done.stderr || String(done.error ?? ""));
} else {
  process.removeAllListeners("warning"); // that this is an experiment
  const { stripTypeScriptTypes } = require("module");
  try {
    fs.writeFileSync("/box/main.js", stripTypeScriptTypes(text, { mode: "transform" }));
  } catch (error) {
    fail(`main.ts${error.stack.split("\n    at ")[0]}`); // which begins with the line's number
  }
}
"""


@dataclass(frozen=True)
class Language:
    """How to start one language; commands may name `{memory}` in MiB, the `{tool}` and what it `{needs}`."""

    find: Callable[[], str | None]  # where its tool is: what runs programs, or builds them
    file: str  # what the candidate's text is called in /box
    arguments: tuple[str, ...]
    probe: str  # a text that prints 42
    beside: dict[str, str] = field(default_factory=dict)  # further files in /box
    fine: tuple[int, ...] = (0,)  # exit statuses that mean nothing went wrong
    reserves: bool = False  # takes far more address space than memory
    # Run once behind the same walls; what it leaves in /box is what each run starts from.
    build: tuple[str, ...] = ()
    program: str = "{tool}"  # what takes the arguments
    needs: Callable[[str], tuple[str, ...]] = lambda tool: ()  # what the tool wants to see beside itself
    environment: dict[str, str] = field(default_factory=dict)
    # So slow to start that processes may wait for programs (`jail.ahead`), in opening the last of the arguments.
    slow: bool = False


@functools.cache
def python() -> str:
    """Find the interpreter itself: not the shim, nor the link in a virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def _on_path(*names: str) -> str | None:
    return next((os.path.realpath(found) for name in names if (found := shutil.which(name))), None)


def _node() -> str | None:
    return _on_path("node", "nodejs")


@functools.cache
def _untyping() -> str | None:
    """Find what takes the types out of TypeScript: esbuild, TypeScript's own library, or a Node that can by itself."""
    node = _node()
    if not node:
        return None
    esbuild, tsc = _on_path("esbuild"), _on_path("tsc")
    if esbuild and _is_native(esbuild):
        return esbuild
    library = tsc and Path(tsc).parent.parent / "lib" / "typescript.js"
    if library and library.is_file():
        return str(library)
    asked = 'process.exit(typeof require("module").stripTypeScriptTypes === "function" ? 0 : 1)'
    try:
        said = subprocess.run([node, "-e", asked], capture_output=True, check=False, timeout=5)  # noqa: S603 - as found
    except (OSError, subprocess.TimeoutExpired):
        return None
    return node if said.returncode == 0 else None


def _is_native(path: str) -> bool:
    with Path(path).open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _java() -> str | None:
    """Find a JDK whole: not a runtime without its compiler, nor a script that chooses one."""
    tool = _on_path("java")
    home = Path(tool).parent.parent if tool else None
    return tool if home and (home / "lib/modules").is_file() and (home / "bin/javac").is_file() else None


def _go() -> str | None:
    tool = _on_path("go")
    return tool if tool and (Path(tool).parent.parent / "src/runtime").is_dir() else None


@functools.cache
def _home(tool: str) -> tuple[str, ...]:
    """List the folder that a tool's `bin` is in, then what its links lead to elsewhere, as Debian's do to /etc."""
    home = Path(tool).parent.parent
    found: set[str] = set()
    for folder, folders, files in os.walk(home):
        for path in (Path(folder, name) for name in (*folders, *files)):
            if path.is_symlink() and path.exists():
                found |= {os.path.normpath(path.parent / path.readlink()), os.path.realpath(path)}
    return (str(home), *sorted(path for path in found if not _is_below(path, str(home))))


_PYTHON = ("-I", "-S", "-B", "-X", "utf8")

# A quick start of short programs, in little memory and few threads.
_JAVA = (
    *("-Xshare:auto", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:ActiveProcessorCount=2"),
    "-XX:-UsePerfData",
)

LANGUAGES: dict[str, Language] = {
    "python": Language(python, "main.py", (*_PYTHON, "/box/main.py"), "print(42)"),
    "javascript": Language(
        _node,
        "main.js",
        ("--max-old-space-size={memory}", "/box/main.js"),
        "console.log(42)",
        reserves=True,
        slow=True,
    ),
    "typescript": Language(
        lambda: _node() if _untyping() else None,
        "main.ts",
        ("--max-old-space-size={memory}", "/box/main.js"),
        "const answer: number = 42; console.log(answer)",
        beside={".build.js": TYPESCRIPT_BUILDER},
        reserves=True,
        build=("{tool}", "/box/.build.js", "{needs[0]}"),
        needs=lambda tool: (_untyping() or tool,),
        slow=True,
    ),
    "bash": Language(
        lambda: _on_path("bash"),
        "main.sh",
        ("--noprofile", "--norc", "/box/main.sh"),
        "echo $((6 * 7))",
        fine=(0, 1),  # a last `grep` or `[ … ] && …` that is merely false
    ),
    "sql": Language(
        python, "query.sql", (*_PYTHON, "/box/.run.py"), "SELECT 42", beside={".run.py": SQL_RUNNER}
    ),
    "java": Language(
        _java,
        "Main.java",
        # The heap is a part of the memory: the machine's own needs the rest.
        (*_JAVA, "-XX:MaxRAM={memory}m", "-XX:MaxRAMPercentage=60", "-Xss8m", "-cp", "/box/classes", "Main"),
        "public class Main { public static void main(String[] a) { System.out.println(42); } }",
        reserves=True,
        build=(
            "{needs[0]}/bin/javac",
            *(f"-J{flag}" for flag in _JAVA),
            *("-J-Xmx512m", "-encoding", "UTF-8", "-proc:none", "-d", "/box/classes", "Main.java"),
        ),
        needs=_home,
    ),
    "go": Language(
        _go,
        "main.go",
        (),
        'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println(42) }\n',
        reserves=True,
        build=("{tool}", "build", "-p=2", "-ldflags=-s -w", "-o", "/box/main", "main.go"),
        program="/box/main",
        needs=_home,
        environment={
            "GOCACHE": "/box/.cache",
            "GOPATH": "/box/.go",
            "GOENV": "off",
            "GOPROXY": "off",
            "GOFLAGS": "-mod=mod",
            "GOTOOLCHAIN": "local",
            "CGO_ENABLED": "0",
            "GOMAXPROCS": "2",
        },
    ),
}

# Programs and their libraries, and no more: services keep code and data below /usr/local, /usr/src or /srv.
SYSTEM = (
    *(f"/usr/{name}" for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec")),
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"),
    *("/usr/share/nodejs", "/usr/share/zoneinfo"),
    *("/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime"),
)
SERVICE = Path(__file__).resolve().parent.parent


def walls(tool: str, *needs: str) -> list[tuple[str, str]]:
    """List what to show, then what of it to cover: programs and the tool, never the service's own code."""
    # The interpreter needs its standard library and the shared libraries it came with.
    shown = [tool, str(Path(sys.base_prefix, "lib"))] if tool == python() else [tool, *needs]
    show = [*SYSTEM, *(path for path in shown if not _is_shown(path))]
    cover = [path for library in {"/usr/lib", "/usr/lib64", *shown[1:]} for path in _installed(library)]
    if any(_is_below(str(SERVICE), path) for path in show):
        cover.append(str(SERVICE))
    return [*(("bind", path) for path in show), *(("hide", path) for path in cover)]


def _is_shown(path: str) -> bool:
    return any(_is_below(path, folder) for folder in SYSTEM)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


@functools.cache
def _installed(library: str) -> list[str]:
    """Find the folders of installed packages, which may hold the service itself."""
    names = ("site-packages", "dist-packages")
    return [str(path) for name in names for path in Path(library).glob(f"python*/{name}")]
