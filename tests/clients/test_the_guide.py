"""The guide for a CI: its part in TypeScript, as it is written, with a client of a stock generator."""

import os
import sys
from pathlib import Path

import pytest

from app.instance.settings import ROOT
from tests import nodes
from tests.docs import blocks


def test_the_part_in_typescript_type_checks_and_runs(tmp_path: Path) -> None:
    node = nodes.node()
    if node is None:
        pytest.skip("There is no Node of at least 22.18 here, and none could be installed.")
    _, heading, part = (
        (ROOT / "docs" / "guides" / "ci.md").read_text().partition("## The same in TypeScript\n")
    )
    guide = tmp_path / "ci.md"
    guide.write_text(heading + part)
    command = tmp_path / "venv" / "bin" / "hiring"  # as it is installed at the beginning of the guide
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec env PYTHONPATH="{ROOT}" "{sys.executable}" -P -m app.cli "$@"\n')
    command.chmod(0o755)
    environ = os.environ | {"HIRING": str(ROOT), "PATH": nodes.path(tmp_path / "bin")}
    reader = blocks.Reader(tmp_path, environ, node)
    try:
        reader.follow(guide)
    finally:
        reader.leave()
