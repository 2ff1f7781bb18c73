"""A Python program in an interpreter that is running already, as if it had just been started for it."""

import atexit
import contextlib
import functools
import gc
import importlib
import os
import sys
import threading
import types
from collections.abc import Callable
from typing import NoReturn

# What short programs use; loaded once for all of them. None of them keeps anything of who used it. Each makes every
# fork dearer: what few programs use, as `dataclasses` or `decimal`, they load themselves.
LOADED = (
    *(
        "bisect",
        "collections",
        "copy",
        "datetime",
        "enum",
        "functools",
        "heapq",
        "io",
        "itertools",
        "json",
        "math",
    ),
    *("operator", "random", "re", "sqlite3", "string", "threading", "time", "typing"),
)
OURS = ("gateways", "rules")
FLUSH_FAILED = 120  # the status of an interpreter that could not write all there was
_ROOT = os.getcwd()  # the server is started where this code is


class Become(BaseException):
    """Unwinds a forked process up to its first line, where the program starts."""

    def __init__(self, start: Callable[[], None]) -> None:
        super().__init__()
        self.start = start


def load() -> None:
    """Load what programs use."""
    for name in LOADED:
        with contextlib.suppress(ImportError):  # an interpreter may have been built without some of them
            importlib.import_module(name)


def prepare(work: str, code: str) -> None:
    """Load what a work of ours needs, from where our code is: the module `work` says how."""
    sys.path[:0] = code.split(os.pathsep)
    importlib.import_module(work).prepare()


def starting(command: list[str]) -> Callable[[], None]:
    """Prepare what a command of this interpreter would do: a file after its options, or a text of ours after `-c`."""
    place = next(number for number, part in enumerate(command) if number and not _is_option(command, number))
    path = command[place]
    is_ours = command[place - 1] == "-c"

    def start() -> None:
        module = types.ModuleType("__main__")
        sys.argv, sys.orig_argv = command[place:], command
        _open_streams()
        sys.modules["__main__"] = module
        sys.excepthook = _tell
        if is_ours:
            text = path.encode()
        else:
            _forget()
            with open(path, "rb") as file:
                text = file.read()
            module.__file__ = path
        module.__dict__["__builtins__"] = sys.modules["builtins"]
        gc.enable()
        try:
            exec(compile(text, "<string>" if is_ours else path, "exec"), module.__dict__)  # noqa: S102 - this is what all of it is for
        except BaseException as error:
            status = _failed(error)
        else:
            status = 0
        _end(status, module)

    return start


def _failed(error: BaseException) -> int:
    """Do what an interpreter does with what a program did not catch; return the exit status."""
    if isinstance(error, SystemExit):
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        print(error.code, file=sys.stderr)
        return 1
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except BaseException as other:
        other.__context__ = None
        print("Error in sys.excepthook:", file=sys.stderr)
        _tell(type(other), other, other.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        _tell(type(error), error, error.__traceback__)
    return 1


def _end(status: int, module: types.ModuleType) -> NoReturn:
    """End as an interpreter does but for taking itself apart, which copies nearly every page it was forked with."""
    # Nothing public waits for threads, or calls what is registered for the end, without ending the interpreter.
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
    atexit._run_exitfuncs()  # noqa: SLF001
    # What the program made is deleted, its own names first.
    names = module.__dict__
    for name in sorted(names.keys() - {"__builtins__"}, key=lambda name: not name.startswith("_")):
        names[name] = None
    gc.collect()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except Exception as fault:
            print(f"Exception ignored in: {stream!r}\n{type(fault).__name__}: {fault}", file=sys.stderr)
            status = FLUSH_FAILED
    os._exit(status & 0xFF)


def _is_option(command: list[str], number: int) -> bool:
    return command[number].startswith("-") or command[number - 1] == "-X"


def _forget() -> None:
    """Take the service's own modules out of sight: they hold nothing, but they are not the program's."""
    for name in [name for name in sys.modules if name.split(".")[0] in OURS]:
        del sys.modules[name]
    sys.path[:] = [path for path in sys.path if path != _ROOT]
    sys.path_importer_cache.clear()


def _open_streams() -> None:
    """Open the three streams anew, as the interpreter does at its start: those it has belong to other files."""
    text = functools.partial(open, encoding="utf-8", closefd=False)
    sys.stdin = sys.__stdin__ = text(0, errors="surrogateescape")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = text(1, "w", errors="surrogateescape")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = text(2, "w", 1, errors="backslashreplace")  # type: ignore[misc]
    for name in ("stdin", "stdout", "stderr"):
        getattr(sys, name).buffer.raw.name = f"<{name}>"


def _tell(kind: type[BaseException], error: BaseException, trace: types.TracebackType | None) -> None:
    """Write what an exception did to the program, without the lines that started it."""
    while trace and trace.tb_frame.f_code.co_filename in (__file__, "<string>"):
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)
