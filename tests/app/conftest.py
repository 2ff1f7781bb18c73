"""Folders for instances."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.places import POINTER


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user can walk, unlike pytest's own."""
    made = Path(tempfile.mkdtemp(prefix="hiring-test-", dir="/tmp"))
    made.chmod(0o755)
    yield made
    for pointer in made.rglob(POINTER):
        shutil.rmtree(pointer.read_text().strip(), ignore_errors=True)
    shutil.rmtree(made, ignore_errors=True)
