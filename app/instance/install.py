"""What `./hiring` does before the first command: make .venv and install into it. Standard library alone.

A stamp says what was installed; `installing` lies in .venv for as long as it is not whole, and one that was left
half-finished is made anew. A lock lets one process install while others wait.
"""

import contextlib
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

TELL_EVERY = 5.0  # seconds
STEP = re.compile(r"^(Collecting|Downloading|Building|Preparing|Installing collected)\b.*", re.MULTILINE)


def main(here: Path, extras: str, wanted: str, arguments: list[str]) -> NoReturn:
    """Install what is missing, then become the command line."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    venv, stamp = here / ".venv", f"{wanted} {here}\n"
    (here / ".cache").mkdir(exist_ok=True)
    with (here / ".cache" / "install.lock").open("w") as lock:
        _take(lock.fileno())
        if not _installed(venv, extras, stamp):
            _install(here, venv, extras, stamp, lock.fileno())
    python = str(venv / "bin" / "python")
    os.execv(python, [python, "-P", "-m", "app.cli", *arguments])


def _take(lock: int) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _say("Another ./hiring is installing; waiting for it …")
        fcntl.flock(lock, fcntl.LOCK_EX)


def _installed(venv: Path, extras: str, stamp: str) -> bool:
    with contextlib.suppress(OSError):
        return not (venv / "installing").exists() and (venv / f"installed-{extras}").read_text() == stamp
    return False


def _install(here: Path, venv: Path, extras: str, stamp: str, lock: int) -> None:
    started = time.monotonic()
    _say(f"Installing into {venv} (Python {sys.version.split()[0]}; about a minute) …")
    if not _usable(venv, here):
        # Whoever has the environment active calls us by the Python in it, which is gone in a moment.
        python = sys._base_executable  # type: ignore[attr-defined]  # noqa: SLF001 - `venv` itself goes by it
        _clear(venv, here)
        (venv / "installing").write_text(f"{here}\n")
        # It takes no link, only what a link leads to.
        _run([python, "-m", "venv", str(venv.resolve())], here, lock, started)
    (venv / "installing").write_text(f"{here}\n")
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    options = ["--progress-bar", "off", "--no-compile", "-c", "constraints.txt", "-e", f".[{extras}]"]
    _run([*pip, *options], here, lock, started)
    # On all cores, which pip does not do; and ours: who runs the service may have no right to write beside it.
    ours = sorted(str(found.parent) for found in here.glob("*/__init__.py"))
    compile_all = ["-m", "compileall", "-q", "-j", "0", str(venv / "lib"), *ours]
    _run([str(venv / "bin" / "python"), *compile_all], here, lock, started, check=False)
    for name in {extras, "embedded"}:
        (venv / f"installed-{name}").write_text(stamp)
    (venv / "installing").unlink()
    _say(f"Installed in {time.monotonic() - started:.0f} s.")


def _usable(venv: Path, here: Path) -> bool:
    """Say whether an existing .venv is whole, made for this place and of a version that fits."""
    if (venv / "installing").exists():
        return False
    for stamp in venv.glob("installed-*"):
        if not stamp.read_text().endswith(f" {here}\n"):
            return False  # the folder was moved, and scripts of a venv name its place
    ask = "import sys, pip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))"
    python = [str(venv / "bin" / "python"), "-c", ask]
    with contextlib.suppress(OSError):
        return subprocess.run(python, check=False, capture_output=True).returncode == 0
    return False


def _clear(venv: Path, here: Path) -> None:
    """Leave an empty folder; where a link leads to something that is not ours to remove, say so and exit."""
    if not venv.is_symlink():
        shutil.rmtree(venv, ignore_errors=True)
        venv.mkdir()
    elif venv.is_dir() and (not any(venv.iterdir()) or _begun(venv, here)):
        for one in venv.iterdir():
            if one.is_dir() and not one.is_symlink():
                shutil.rmtree(one)
            else:
                one.unlink()
    else:
        _say(f"{venv} is a link to {venv.readlink()}, which is no environment for {here}: remove the link.")
        sys.exit(1)


def _begun(venv: Path, here: Path) -> bool:
    """Say whether it was from here that an install was begun and not finished: a link may lead to another's."""
    with contextlib.suppress(OSError):
        return (venv / "installing").read_text() == f"{here}\n"
    return False


def _run(command: list[str], here: Path, lock: int, started: float, *, check: bool = True) -> None:
    """Run a step quietly, saying every few seconds how far it is; on failure show the end of its log."""
    log = here / ".cache" / "install.log"
    environ = os.environ | {"PIP_USER": "0", "PYTHONUNBUFFERED": "1"}
    with log.open("w") as out:
        # It holds the lock too: a step that outlives us keeps others waiting, not installing beside it.
        step = subprocess.Popen(command, cwd=here, stdout=out, stderr=out, env=environ, pass_fds=[lock])
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    step.wait(TELL_EVERY)
                    break
                _say(f"  {time.monotonic() - started:3.0f} s  {_doing(log)}")
        finally:
            step.terminate()
            step.wait()
    if check and step.returncode:
        end = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
        _say(
            f"{end}\n\nThe installation failed; {log} has all of it. Is the network, or the package index, reachable?"
        )
        sys.exit(1)


def _doing(log: Path) -> str:
    steps = [match[0] for match in STEP.finditer(log.read_text(errors="replace"))]
    return steps[-1].split(" (")[0].partition(":")[0][:70] if steps else "…"


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:])
