"""What is made from something else is what is kept."""

from pathlib import Path

import pytest

from schemas import document
from tests.document.generate import COMMAND, ROOT, generated

FILES = dict(generated())


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_generated_file_is_fresh(path: Path) -> None:
    fresh = path.exists() and path.read_bytes() == FILES[path]
    assert fresh, f"{path.relative_to(ROOT)} is stale: run `{COMMAND}` and commit what it writes"


def test_nothing_else_is_published() -> None:
    assert set(document.PUBLISHED.iterdir()) <= FILES.keys()
