"""What a figure was measured on."""

import os
import platform
from pathlib import Path

import psycopg

_servers: dict[str, str] = {}


def note_server(address: str) -> None:
    """Note which PostgreSQL is measured with."""
    with psycopg.connect(address) as connection:
        _servers["PostgreSQL"] = connection.info.parameter_status("server_version") or ""


def ticks() -> tuple[int, int]:
    """Return the time in which the machine had nothing to do, and all of its time, in ticks of all cores."""
    spent = [int(one) for one in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return spent[3] + spent[4], sum(spent)


def described() -> str:
    """Describe this machine and what runs on it, in a few words."""
    parts = [
        f"{os.cpu_count()} cores of {_processor()}",
        _system(),
        f"{platform.system()} {platform.release().partition('-')[0]}",
        f"Python {platform.python_version()}",
        *(f"{name} {version}" for name, version in _servers.items()),
    ]
    return ", ".join(part for part in parts if part)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return ""
