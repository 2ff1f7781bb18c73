"""The embedded PostgreSQL: how its data is made, how it is started, and what a killed one left behind."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import time
from pathlib import Path

from app.instance import binaries, places
from app.instance.children import Account, Recipe, as_account
from app.instance.places import Places
from app.instance.trouble import Trouble

PORT = 5432  # only names the socket: nothing listens on the network
ENVIRON = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",  # as is its folder's: that is what lets `trust` be trusted
    "shared_buffers": "128MB",
    "max_connections": "300",  # more than the processes hold (docs/operating.md)
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
}
# For tests: their data is nobody's.
CARELESS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
# C.UTF-8 knows the two cases of letters beyond ASCII; how it is asked for depends on version and system.
LOCALES = (
    ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"],
    ["--lc-collate=C", "--lc-ctype=C.UTF-8"],
    ["--lc-collate=C", "--lc-ctype=en_US.UTF-8"],
    ["--locale=C"],
)
STATEMENTS = "CREATE ROLE hiring LOGIN\nCREATE DATABASE hiring OWNER hiring\n"


def url(where: Places, *, role: str = "hiring", database: str = "hiring") -> str:
    """Return the address of a database on the embedded server."""
    return f"postgresql://{role}@/{database}?host={places.sockets(where)}&port={PORT}"


def is_made(where: Places) -> bool:
    """Say whether there is an embedded database."""
    return (where.state / "postgres" / "PG_VERSION").exists()


def recipe(where: Places, *, durable: bool = True) -> Recipe:
    """Say how to start PostgreSQL on the instance's data, which is made on first use."""
    data = where.state / "postgres"
    program = _prepare(where, data, [] if durable else ["--no-sync"])
    settings = SETTINGS if durable else SETTINGS | CARELESS
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    return Recipe(
        name="postgres",
        command=[
            str(program.path),
            "-D",
            str(data),
            "-k",
            str(places.sockets(where)),
            "-p",
            str(PORT),
            *options,
        ],
        log=where.logs / "postgres.log",
        environ=ENVIRON,
        account=where.account,
        stop=signal.SIGINT,  # PostgreSQL's fast stop: clients are let go, the data is written
        cwd=Path("/"),
    )


def ready(where: Places, process: subprocess.Popen[bytes]) -> bool:
    """Say whether this very server takes connections."""
    lines = _postmaster(where.state / "postgres")
    return len(lines) > 7 and lines[0] == str(process.pid) and lines[7].strip() == "ready"


def clear(where: Places) -> None:
    """Stop a server whose owner was killed, and forget one that is gone. Needs the instance's lock."""
    data = where.state / "postgres"
    for sign in (signal.SIGINT, signal.SIGQUIT):
        deadline = time.monotonic() + 30
        pid = _running(data)
        if pid is None:
            break
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sign)
        while _running(data) and time.monotonic() < deadline:
            time.sleep(0.05)
    # Its number may be some other program's by now (after a reboot), and PostgreSQL would refuse to start.
    (data / "postmaster.pid").unlink(missing_ok=True)


def _prepare(where: Places, data: Path, care: list[str]) -> binaries.Program:
    version = data / "PG_VERSION"
    if version.exists():
        return binaries.postgres(where.account, major=int(version.read_text()))
    program = binaries.postgres(where.account)
    fresh = where.state / "postgres.new"  # only whole data gets the name that counts
    # initdb wants a user with a name, which the servers' own user has not: `nobody` makes the data.
    maker = _named(where.account)
    for locale in LOCALES:
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        if maker:
            os.chown(fresh, maker.uid, maker.gid)
        ours = ["-U", "postgres", "-E", "UTF8", "-A", "trust"]
        initdb = [str(program.path.parent / "initdb"), *ours, *care, *locale]
        made = _run([*initdb, "-D", str(fresh)], maker)
        if made.returncode == 0:
            break
    else:
        raise Trouble(f"PostgreSQL could not make its data in {fresh}:\n{made.stderr.strip()}")
    # Single-user mode needs no server. The service's role is no superuser.
    made = _run([str(program.path), "--single", "-D", str(fresh), "postgres"], maker, STATEMENTS)
    if made.returncode or "ERROR:" in made.stderr:
        raise Trouble(f"PostgreSQL could not make the database in {fresh}:\n{made.stderr.strip()}")
    if where.account and where.account != maker:
        for path in (fresh, *fresh.rglob("*")):
            os.chown(path, where.account.uid, where.account.gid, follow_symlinks=False)
    data.rmdir()
    fresh.rename(data)
    return program


def _run(command: list[str], account: Account | None, input: str = "") -> subprocess.CompletedProcess[str]:
    options = {"env": ENVIRON, "cwd": "/", **as_account(account)}
    return subprocess.run(command, input=input, capture_output=True, text=True, check=False, **options)


def _named(account: Account | None) -> Account | None:
    if account is None:
        return None
    try:
        pwd.getpwuid(account.uid)
    except KeyError:
        nobody = pwd.getpwnam("nobody")
        return Account(nobody.pw_uid, nobody.pw_gid)
    return account


def _postmaster(data: Path) -> list[str]:
    try:
        return (data / "postmaster.pid").read_text().splitlines()
    except OSError:
        return []


def _running(data: Path) -> int | None:
    """Return the process id of a server on this data, having made sure that it is one."""
    lines = _postmaster(data)
    if not lines or not lines[0].lstrip("-").isdigit():
        return None
    pid = abs(int(lines[0]))
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return pid if str(data) in _command(pid) else None


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    command = ["ps", "-o", "command=", "-p", str(pid)]  # where there is no /proc
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout
