"""Languages that are compiled: once for each submission, behind the same walls as what comes of it."""

import dataclasses
from types import SimpleNamespace

import pytest

from gateways import judging, languages, sandbox
from gateways.languages import LANGUAGES
from gateways.sandbox import Run
from tests.programs import (
    needs,
    needs_bash,
    once,
    run,
)


@pytest.fixture
def compiled(monkeypatch):
    """A language whose compiler is a script: it puts the text behind a line of its own and keeps what it was given."""

    def language(script):
        kind = dataclasses.replace(
            LANGUAGES["bash"],
            file="main.src",
            arguments=("/box/out/main.sh",),
            build=("/bin/bash", "-c", script),
        )
        monkeypatch.setitem(LANGUAGES, "compiled", kind)
        monkeypatch.setitem(sandbox._known, "compiled", SimpleNamespace(why_not=lambda: ""))
        return "compiled"

    return language


BUILDING = "mkdir out; (echo 'echo built; touch seen; ls'; cat main.src) > out/main.sh; echo built >> built; sleep 99 &"


@needs_bash
def test_a_program_is_built_once_and_each_run_starts_from_what_was_built(compiled):
    runs = run(compiled(BUILDING), "read n; cat built; echo $n", ["1", "2"])
    assert [one.stdout for one in runs] == [f"built\nbuilt\nmain.src\nout\nseen\nbuilt\n{n}\n" for n in "12"]


@needs_bash
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo main.src:1: no >&2; exit 1", "main.src:1: no\n"),
        ("exit 1", ""),
        ("sleep 60", "The compiler took too long."),
        ("head -c 70M /dev/zero > large", "what was built takes more than 64 MiB\n"),
    ],
)
def test_a_program_that_cannot_be_built_is_an_error_on_every_input(compiled, monkeypatch, script, said):
    if said == "The compiler took too long.":
        monkeypatch.setattr(sandbox, "BUILD_SECONDS", 1)
    assert run(compiled(script), "true", ["1", "2"]) == [Run("", said, "error", compiled=False)] * 2


@needs_bash
def test_links_that_a_build_leaves_are_not_followed(compiled):
    script = (
        "mkdir out .cache; touch .cache/x; cp main.src out/main.sh; ln -s /proc e; ln -s /etc d; mkfifo f"
    )
    assert run(compiled(script), "ls", [""])[0].stdout == "main.src\nout\n"


# --- TypeScript, Java and Go


needs_typescript, needs_java, needs_go = map(needs, ("typescript", "java", "go"))


@pytest.mark.parametrize(
    ("language", "code", "said"),
    [
        pytest.param("typescript", "let a: number = 1;\nlet b = ;", "main.ts", marks=needs_typescript),
        pytest.param("java", "public class Main {\n    int a = ;\n}", "Main.java:2: error", marks=needs_java),
        pytest.param("go", "package main\n\nfunc main() { a := 1 }", "main.go:3:15", marks=needs_go),
    ],
)
def test_what_the_compiler_says_is_told_as_such(language, code, said):
    result = once(language, code)
    assert (result.outcome, result.compiled, result.exit_code, result.stdout) == ("error", False, None, "")
    assert said in result.stderr
    assert "2" in result.stderr or language == "go"
    (verdict,) = judging.judge([{"expected_output": ""}], [result])
    assert (verdict.passed, verdict.message) == (False, "The program could not be compiled.")


@pytest.mark.parametrize(
    ("language", "code", "said"),
    [
        pytest.param("typescript", "throw new Error('oh')", "oh", marks=needs_typescript),
        pytest.param(
            "java",
            "public class Main { public static void main(String[] a) { throw new RuntimeException(); } }",
            "RuntimeException",
            marks=needs_java,
        ),
        pytest.param("go", "package main\nfunc main() { panic(1) }", "panic", marks=needs_go),
    ],
)
def test_a_program_that_was_compiled_and_fails_is_told_apart(language, code, said):
    result = once(language, code)
    assert (result.outcome, result.compiled) == ("error", True)
    assert result.exit_code > 0
    assert said in result.stderr


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """A PATH with a Node that knows of no types, and what a test lays beside it as npm does."""
    (tmp_path / "bin").mkdir()
    languages._untyping.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    def lay(name, content, *, at):
        there = tmp_path / at
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(content)
        there.chmod(0o755)
        if name:
            (tmp_path / "bin" / name).symlink_to(there)
        return str(there)

    node = lay("node", b"#!/bin/sh\nexit 1\n", at="node/bin/node")
    yield lay, node
    languages._untyping.cache_clear()


def found():
    languages._untyping.cache_clear()
    return languages._untyping()


def test_what_takes_types_away_is_found_in_the_order_of_the_operators_page(tools):
    lay, node = tools
    assert (found(), LANGUAGES["typescript"].find()) == (None, None)
    lay("tsc", b"#!/usr/bin/env node\n", at="modules/typescript/bin/tsc")
    assert found() is None  # TypeScript 7 has no library of this kind
    library = lay("", b"", at="modules/typescript/lib/typescript.js")
    assert (found(), LANGUAGES["typescript"].find()) == (library, node)
    esbuild = lay("esbuild", b"#!/usr/bin/env node\n", at="modules/esbuild/bin/esbuild")
    assert found() == library  # a script that starts esbuild shows the walls nothing to start
    lay("", b"\x7fELF", at="modules/esbuild/bin/esbuild")
    assert found() == esbuild


def test_a_node_that_takes_types_away_itself_needs_nothing_else(tools):
    lay, _ = tools
    newer = lay("", b"#!/bin/sh\nexit 0\n", at="node/bin/node")
    assert found() == newer


@needs_typescript
def test_all_of_typescript_is_understood_and_types_are_not_checked():
    code = """
        import { readFileSync } from "fs";
        enum Level { Low = 1, High }
        namespace Tools { export const twice = (n: number): number => 2 * n; }
        class Point { constructor(private readonly x: number) {} get(): number { return this.x; } }
        const wrong: number = "not a number";
        console.log(Level.High, Tools.twice(21), new Point(7).get(), readFileSync(0, "utf8") satisfies string);
    """
    assert once("typescript", code, "ö") == Run("2 42 7 ö\n", "", "ok")


@needs_java
def test_java_has_threads_records_deep_calls_and_text_of_every_kind():
    code = """
        import java.util.*;
        import java.util.concurrent.*;
        public class Main {
            static int deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1); }
            public static void main(String[] arguments) throws Exception {
                ExecutorService pool = Executors.newFixedThreadPool(48);
                List<Future<Integer>> found = new ArrayList<>();
                CountDownLatch all = new CountDownLatch(48);
                for (int i = 0; i < 48; i++) found.add(pool.submit(() -> { all.countDown(); all.await(); return 1; }));
                int sum = 0;
                for (Future<Integer> one : found) sum += one.get();
                pool.shutdown();
                System.out.println(sum + " " + deep(20000) + " " + new Scanner(System.in).next() + "é");
            }
        }
    """
    assert once("java", code, "漢😀", seconds=20) == Run("48 20000 漢😀é\n", "", "ok")


@needs_go
def test_go_has_goroutines_and_no_network_to_load_from():
    code = """
        package main
        import ("fmt"; "sync")
        func main() {
            var wait sync.WaitGroup
            sums := make(chan int, 1000)
            for i := 0; i < 1000; i++ { wait.Add(1); go func() { defer wait.Done(); sums <- 1 }() }
            wait.Wait()
            fmt.Println(len(sums), "é")
        }
    """
    assert once("go", code) == Run("1000 é\n", "", "ok")
    assert not once("go", 'package main\nimport "example.com/x"\nfunc main() { x.Y() }').compiled


def test_what_a_home_links_to_elsewhere_is_shown_and_nothing_beside_it(tmp_path):
    home, beside = tmp_path / "jdk", tmp_path / "etc"
    for folder in (home / "bin", home / "lib", beside):
        folder.mkdir(parents=True)
    for file in (home / "bin/java", beside / "jvm.cfg", beside / "secret", home / "lib/own"):
        file.touch()
    (home / "lib/jvm.cfg").symlink_to("../../etc/jvm.cfg")
    (home / "lib/again").symlink_to("own")
    (home / "lib/gone").symlink_to("/nowhere")
    found = languages._home(str(home / "bin/java"))
    assert found == (str(home), str(beside / "jvm.cfg"))
    shown = [path for action, path in languages.walls(str(home / "bin/java"), *found) if action == "bind"]
    assert str(beside / "jvm.cfg") in shown
    assert not {str(beside), str(beside / "secret"), str(tmp_path)} & {*shown}
