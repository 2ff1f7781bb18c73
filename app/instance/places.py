"""Where an instance keeps its files, and as whom its servers run.

PostgreSQL refuses to run as root, and the unprivileged user it then runs as cannot walk into a private home
folder. Nobody's permissions are loosened for it: what the servers keep goes where they can reach it, and a
pointer file is left behind.
"""

import contextlib
import os
import pwd
import stat
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from app.instance.children import Account
from app.instance.trouble import Trouble
from rules import tokens

POINTER = "servers-are-in"
SHARED = (Path("/var/lib/hiring"), Path("/var/tmp/hiring"))  # noqa: S108 - used only when it is ours alone
# As root the servers get a user of their own, of numbers that systems leave unused: others are `nobody` too.
FIRST_UID, UIDS = 60706, 478
SOCKET_LIMIT = 100  # a socket's path has 104 to 108 bytes, depending on the system


@dataclass(frozen=True)
class Places:
    """The folders of one instance."""

    data: Path  # what --data names
    state: Path  # what the servers keep: the same, or out of a private home's way
    account: Account | None  # the servers' user when we are root

    @property
    def run(self) -> Path:
        """The locks, and how to reach the servers."""
        return self.state / "run"

    @property
    def logs(self) -> Path:
        """One log a process."""
        return self.data / "logs"

    @property
    def mail(self) -> Path:
        """Mail as .eml files."""
        return self.data / "mail"

    @property
    def files(self) -> Path:
        """What candidates send along."""
        return self.data / "files"


def settle(data: Path) -> Places:
    """Find or make the folders below `data`."""
    data = Path(os.path.abspath(data)).resolve()  # noqa: PTH100 - resolve() alone stops at a missing folder
    try:
        with contextlib.suppress(FileExistsError):  # somebody else's first command may make it now
            data.mkdir(parents=True)
            data.chmod(0o711 if os.geteuid() == 0 else 0o700)
        state, account = _state(data)
        places = Places(data, state, account)
        for folder in (places.run, places.logs, places.mail, places.files):
            folder.mkdir(mode=0o700, exist_ok=True)
        for folder in (state / "postgres", state / "redis", state / "sockets"):
            _give(folder, account)
    except OSError as error:
        raise Trouble(
            f"The data folder {data} cannot be used: {error.strerror} ({error.filename})."
        ) from error
    return places


def sockets(places: Places) -> Path:
    """Return a folder for sockets that only the servers' user and we can enter, with a path short enough."""
    folder = places.state / "sockets"
    if len(os.fsencode(folder / ".s.PGSQL.5432")) <= SOCKET_LIMIT and _plain(folder):
        return folder
    note = places.run / "sockets-are-in"  # so that one left by a killed start is found and used again
    with contextlib.suppress(OSError):
        short = Path(note.read_text())
        found = short.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == (
            places.account.uid if places.account else os.geteuid()
        ):
            return short
    short = Path(tempfile.mkdtemp(prefix="hiring-", dir="/tmp"))
    _give(short, places.account)
    write_private(note, str(short))
    return short


def leave_sockets(where: Places) -> None:
    """Remove a short folder for sockets that nobody needs now."""
    note = where.run / "sockets-are-in"
    with contextlib.suppress(OSError):
        Path(note.read_text()).rmdir()
        note.unlink()


def find(data: Path) -> Places | None:
    """Find the folders of an instance that has been made; None where there is none, and nothing is made."""
    return settle(data) if all((data / name).is_dir() for name in ("logs", "mail", "files")) else None


def make_secret_key(places: Places) -> str:
    """Return the instance's secret key, made on first use."""
    path = places.data / "secret_key"
    if not path.exists():
        write_private(path, tokens.new_token(), replace=False)
    return secret_key(places)


def secret_key(places: Places) -> str:
    """Return the instance's secret key, or say who has it."""
    try:
        return (places.data / "secret_key").read_text().strip()
    except FileNotFoundError:
        raise Trouble(f"{places.data} was made with a SECRET_KEY of its own: set that again.") from None


def keep_base_url(places: Places, base_url: str) -> None:
    """Remember where the instance is reached, for what runs without its web process."""
    write_private(places.run / "base_url", base_url)


def base_url(places: Places) -> str:
    """Return where the instance was reached last."""
    try:
        return (places.run / "base_url").read_text()
    except FileNotFoundError:
        return "http://127.0.0.1:8080"


def write_private(path: Path, text: str, *, replace: bool = True) -> None:
    """Write a file only its owner can read, whole or not at all; without `replace` an existing one stays."""
    fresh = path.with_name(f"{path.name}.{tokens.mark()}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    if replace:
        fresh.replace(path)
        return
    with contextlib.suppress(FileExistsError):
        os.link(fresh, path)
    fresh.unlink()


def can_reach(path: Path, account: Account | None, mode: int = os.X_OK) -> bool:
    """Say whether `account` can use a path, asked of the system by trying as that user."""
    if account is None:
        return os.access(path, mode)
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(OSError):
            os.setgroups([])
            os.setgid(account.gid)
            os.setuid(account.uid)
            status = 0 if os.access(path, mode) else 1
        os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def shared_folder() -> Path:
    """Return a folder of root's that everybody can walk."""
    for folder in SHARED:
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == 0 and not found.st_mode & 0o022:
                if not found.st_mode & 0o001:
                    continue
                return folder
    tried = " nor ".join(map(str, SHARED))
    raise Trouble(
        f"The servers of root need a folder outside private homes, but neither {tried} can be used."
        " Set DATABASE_URL and REDIS_URL, or run as an ordinary user."
    )


def forgotten() -> list[Path]:
    """Find what servers keep apart for data folders that are gone: nothing removes it with them."""
    found = []
    for note in (note for folder in SHARED for note in folder.glob("data-*/belongs-to")):
        with contextlib.suppress(OSError):
            if not Path(note.read_text().strip()).exists():
                found.append(note.parent)
    return found


def _state(data: Path) -> tuple[Path, Account | None]:
    pointer = data / POINTER
    if os.geteuid() != 0:
        if pointer.exists():
            raise Trouble(f"{data} was made by root. Run as root, or choose another folder with --data.")
        return data, None
    state = Path(pointer.read_text().strip()) if pointer.exists() else data
    account = _owner(state / "postgres") or _new_account(data)
    if pointer.exists():
        state.mkdir(parents=True, exist_ok=True)
        return state, account
    if can_reach(data, account) and _can_give(data, account):
        return data, account
    # A name of its own, not one made from the path: a folder that was wiped starts with nothing, as its owner expects.
    state = Path(tempfile.mkdtemp(prefix="data-", dir=shared_folder()))
    state.chmod(0o711)
    write_private(state / "belongs-to", f"{data}\n")
    write_private(pointer, f"{state}\n")
    return state, account


def _owner(folder: Path) -> Account | None:
    try:
        found = folder.stat()
    except OSError:
        return None
    return Account(found.st_uid, found.st_gid) if found.st_uid else None


def _new_account(data: Path) -> Account:
    uid = FIRST_UID + zlib.crc32(os.fsencode(data)) % UIDS
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return Account(uid, uid)
    return Account(65534, 65534)  # taken after all: `nobody`


def _give(folder: Path, account: Account | None) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    if account:
        os.chown(folder, account.uid, account.gid)


def _can_give(data: Path, account: Account) -> bool:
    """Say whether folders here can belong to another user; some network and shared file systems say no."""
    try:
        _give(data / "redis", account)
    except PermissionError:
        return False
    found = (data / "redis").stat()
    return found.st_uid == account.uid and stat.S_IMODE(found.st_mode) == 0o700


def _plain(path: Path) -> bool:
    """Say whether a path needs no quoting in any connection address."""
    return all(part.isascii() and (part.isalnum() or part in "/._-") for part in str(path))


def run_folder(data: Path) -> Path | None:
    """Return where an instance's processes leave what others want to know; nothing where there is no folder."""
    found = find(data)
    return found.run if found else None
