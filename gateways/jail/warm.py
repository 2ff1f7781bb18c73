"""A Python program in an interpreter that is running already, as if it had just been started for it."""

import contextlib
import functools
import gc
import importlib
import os
import sys
import types
from collections.abc import Callable

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


def starting(command: list[str]) -> Callable[[], None]:
    """Prepare what a command of this interpreter would do, a file after its options."""
    place = next(number for number, part in enumerate(command) if number and not _is_option(command, number))
    path = command[place]

    def start() -> None:
        module = types.ModuleType("__main__")
        sys.argv, sys.orig_argv = command[place:], command
        _forget()
        _open_streams()
        sys.modules["__main__"] = module
        sys.excepthook = _tell
        with open(path, "rb") as file:
            text = file.read()
        module.__file__ = path
        module.__dict__["__builtins__"] = sys.modules["builtins"]
        gc.enable()
        exec(compile(text, path, "exec"), module.__dict__)  # noqa: S102 - this is what all of it is for

    return start


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


def _tell(kind: type[BaseException], error: BaseException, trace: types.TracebackType | None) -> None:
    """Write what an exception did to the program, without the lines that started it."""
    while trace and trace.tb_frame.f_code.co_filename in (__file__, "<string>"):
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)
