"""`hiring demo` plays the main journey through real processes."""

import subprocess
import sys
from pathlib import Path

from app.instance.settings import ROOT


def test_the_demo_ends_with_verified_signatures_and_the_score(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "app.cli", "demo", "--data", str(tmp_path / "none")]
    played = subprocess.run(
        command, cwd=ROOT, env=None, capture_output=True, text=True, timeout=180, check=False
    )
    assert played.returncode == 0, played.stdout + played.stderr
    for event in (
        "webhook.test",
        "invitation.created",
        "assessment.started",
        "assessment.completed",
        "candidate.passed",
    ):
        assert f"{event} arrived" in played.stdout
    assert "(100.00 %): passed. 5 signatures verified." in played.stdout
