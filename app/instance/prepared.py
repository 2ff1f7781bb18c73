"""A stamp inside the embedded database's own folder: this code has migrated it and made its demo keys.

With it a start needs neither Alembic nor SQLAlchemy, which take as long to load as everything else of `up`.
"""

import hashlib
import os
from pathlib import Path

from app.instance import places
from app.instance.places import Places
from app.instance.settings import ROOT


def holds(where: Places) -> bool:
    """Say whether the embedded database is as this code left it."""
    try:
        return _stamp(where).read_text() == _fingerprint()
    except OSError:
        return False


def note(where: Places) -> None:
    """Remember that the embedded database is up to date."""
    places.write_private(_stamp(where), _fingerprint())
    if where.account:  # everything in that folder is PostgreSQL's
        os.chown(_stamp(where), where.account.uid, where.account.gid)


def forget(where: Places) -> None:
    """Have the next start look for itself: somebody administers the database."""
    _stamp(where).unlink(missing_ok=True)


def _stamp(where: Places) -> Path:
    return where.state / "postgres" / "hiring-prepared"  # a copy or a backup of the data takes it along


def _fingerprint() -> str:
    """Identify everything that decides what a prepared database holds."""
    files = sorted(path for path in (ROOT / "store").rglob("*") if path.suffix in {".py", ".yaml"})
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
