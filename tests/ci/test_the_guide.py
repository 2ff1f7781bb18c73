"""The guide for a CI, as a stranger follows it: in a folder and a venv of their own, from the installation on.

Not in the list of environments, since it installs everything once more: `./hiring test -e ci`.
"""

import os
from pathlib import Path

import pytest

from app.instance.settings import ROOT
from tests import nodes
from tests.docs import blocks

INSTALLING = 600  # seconds


def test_the_guide_works_in_a_fresh_venv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "SECONDS", INSTALLING)
    environ = {
        # As in a job of theirs: nothing of ours is on the way, and what is theirs is not taken for ours.
        **{name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")},
        "HIRING": str(ROOT),
        "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/shop",
    }
    if node := nodes.node():
        environ["PATH"] = nodes.path(tmp_path / "bin")
    reader = blocks.Reader(tmp_path, environ, node)
    try:
        reader.follow(ROOT / "docs" / "guides" / "ci.md")
    finally:
        reader.leave()
    assert not reader.left_out
